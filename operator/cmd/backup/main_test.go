package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMistakesOnTheCommandLine(t *testing.T) {
	tests := map[string]struct {
		args []string
		says string
	}{
		"nothing":                   {nil, "-address, -directory and -name are needed"},
		"an unknown verb":           {[]string{"list"}, `there is no "list"`},
		"an unknown flag":           {[]string{"--shards=1"}, "flag provided but not defined: -shards"},
		"nobody to do the work":     {[]string{"--address=a:1", "--directory=/d", "--name=n", "--parallelism=0"}, "must be at least 1"},
		"nothing kept":              {[]string{"--address=a:1", "--directory=/d", "--name=n", "--keep=0"}, "must be at least 1"},
		"an argument":               {[]string{"--name=n", "more"}, "takes flags only"},
		"verify without a backup":   {[]string{"verify"}, "takes the directory of one backup"},
		"restore from nothing":      {[]string{"restore", "--address=a:1"}, "-address and -from are needed"},
		"restore with an argument":  {[]string{"restore", "--from=d", "x"}, "takes flags only"},
		"a duration without a unit": {[]string{"--timeout=5"}, "invalid value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if err := run(t.Context(), tc.args, &stdout, &stderr); !errors.Is(err, errUsage) {
				t.Errorf("error is %v, want a usage error", err)
			}
			if !strings.Contains(stderr.String(), tc.says) || stdout.Len() > 0 {
				t.Errorf("said %q and %q, want %q in the first only", stderr.String(), stdout.String(), tc.says)
			}
		})
	}
}

func TestHelpIsNotAMistake(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"verify", "--help"}, {"restore", "--help"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%v: error is %v, want flag.ErrHelp", args, err)
		}
	}
}

func TestPasswordFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("with space \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := (&target{addresses: "a:1,b:2", passwordFile: file}).access()
	if err != nil || a.Password != "with space " || len(a.Addresses) != 2 {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := (&target{passwordFile: file + ".missing"}).access(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want a missing file", err)
	}
}
