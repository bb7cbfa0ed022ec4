package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		args       []string
		metrics    string
		probes     string
		elect      bool
		namespaces []string
	}{
		"defaults":                 {nil, "0", ":8081", false, nil},
		"everything off":           {[]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"}, "0", "0", false, nil},
		"leader election":          {[]string{"--leader-elect"}, "0", ":8081", true, nil},
		"namespaces with commas":   {[]string{"--namespace=a,b"}, "0", ":8081", false, []string{"a", "b"}},
		"namespaces said twice":    {[]string{"--namespace", "a", "--namespace", "b, a"}, "0", ":8081", false, []string{"a", "b"}},
		"metrics and a log option": {[]string{"--metrics-bind-address=:8080", "--zap-devel"}, ":8080", ":8081", false, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := parse(tc.args, &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			if a.metricsAddress != tc.metrics || a.probeAddress != tc.probes || a.leaderElect != tc.elect {
				t.Errorf("got metrics %q, probes %q, leader election %t", a.metricsAddress, a.probeAddress, a.leaderElect)
			}
			if diff := cmp.Diff(tc.namespaces, []string(a.namespaces)); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		says string
	}{
		"an unknown flag":       {[]string{"--leader"}, "flag provided but not defined: -leader"},
		"a bad namespace":       {[]string{"--namespace=Redis"}, `"Redis" is not the name of a namespace`},
		"an empty namespace":    {[]string{"--namespace="}, `"" is not the name of a namespace`},
		"an argument":           {[]string{"start"}, "takes flags only"},
		"nobody to do the work": {[]string{"--concurrency=0"}, "-concurrency must be at least 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var output bytes.Buffer
			_, err := parse(tc.args, &output)
			if !errors.Is(err, errUsage) {
				t.Errorf("error is %v, want a usage error", err)
			}
			if !strings.Contains(output.String(), tc.says) {
				t.Errorf("said %q, want %q in it", output.String(), tc.says)
			}
		})
	}
}

func TestHelpIsNotAMistake(t *testing.T) {
	if _, err := parse([]string{"--help"}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v, want flag.ErrHelp", err)
	}
}
