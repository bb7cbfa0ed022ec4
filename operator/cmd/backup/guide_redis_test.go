//go:build redis

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestGuide runs every command of the guide, in order.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guide/restore.md")
	must(t, err)
	blocks := shellBlock.FindAllStringSubmatch(string(guide), -1)
	if len(blocks) != 4 {
		t.Fatalf("the guide has %d commands, want 4: to back up, verify, restore, and restore over what is there", len(blocks))
	}
	from, to := form(t, 3, true), form(t, 2, false)
	from.fill(t, 1000)
	program, err := os.Executable()
	must(t, err)
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", beMain, program)
	must(t, os.WriteFile(filepath.Join(bin, "backup"), []byte(script), 0o700))
	for _, block := range blocks {
		shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", block[1])
		shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BACKUPS="+filepath.Join(filepath.Dir(from.passwordFile), "backups"),
			"ADDRESS="+from.address(), "PASSWORD_FILE="+from.passwordFile, "TARGET="+to.address(), "TARGET_PASSWORD_FILE="+to.passwordFile)
		if output, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s%v:\n%s", block[1], err, output)
		}
		if strings.Contains(block[1], "restore") {
			for i := range 1000 {
				if got := to.client.Get(t.Context(), fmt.Sprintf("key:%d", i)).Val(); got != fmt.Sprintf("value %d", i) {
					t.Fatalf("after %skey:%d is %q", block[1], i, got)
				}
			}
		}
	}
}
