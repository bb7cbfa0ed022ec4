package local

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/trial"
)

// program writes a shell script that stands for a program.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartRefuses(t *testing.T) {
	there := program(t, "exit 0")
	both := Programs{Etcd: there, APIServer: there}
	tests := map[string]struct {
		options Options
		want    string
	}{
		"a level that is not local": {Options{Level: trial.LevelKind}, `a local cluster has level apiserver or controlplane, not "kind"`},
		"a program without a path":  {Options{Level: trial.LevelAPIServer, Programs: Programs{Etcd: there}}, "no path is given for kube-apiserver"},
		"a program that is not there": {
			Options{Level: trial.LevelAPIServer, Programs: Programs{Etcd: "/nonexistent/etcd", APIServer: there}}, "etcd: stat /nonexistent/etcd",
		},
		"a control plane without a scheduler": {Options{Level: trial.LevelControlPlane, Programs: both}, "no path is given for kube-scheduler"},
		"scripts for pods that nobody runs": {
			Options{Level: trial.LevelAPIServer, Programs: both, PodLife: []podlife.Script{{Name: "a"}}}, "pods follow scripts at level controlplane only",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), tc.options)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestAFailedStartCarriesTheLogAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := Start(t.Context(), Options{Level: trial.LevelAPIServer, Programs: Programs{
		Etcd: program(t, "echo listening; echo disk is on fire >&2; exit 3"), APIServer: program(t, "exit 0"),
	}})
	if err == nil || !strings.Contains(err.Error(), "etcd ended with exit code 3; its last log lines:\nlistening\ndisk is on fire") {
		t.Errorf("got error %v, want one with the program, how it ended and its log", err)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAPortInUseIsSaid(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	number := listener.Addr().(*net.TCPAddr).Port
	there := program(t, "exit 0")
	_, err = Start(t.Context(), Options{Level: trial.LevelAPIServer, Port: number, Programs: Programs{Etcd: there, APIServer: there}})
	if want := "port " + strconv.Itoa(number) + " on 127.0.0.1 is in use"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

func TestAHeldPortIsNotGivenToAnybodyElse(t *testing.T) {
	held, err := holdPort(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(held.number)); err == nil {
		t.Error("somebody else could listen on a held port")
	}
	if err := held.release(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(held.number))
	if err != nil {
		t.Fatalf("a released port cannot be used: %v", err)
	}
	_ = listener.Close()
}

func TestCopyTreeKeepsContentAndHoles(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	content := map[string][]byte{
		"a/data":   append([]byte("head"), append(make([]byte, 3*block), []byte("tail")...)...),
		"a/zeros":  make([]byte, 2*block+7),
		"b/empty":  {},
		"b/c/deep": []byte("x"),
	}
	for name, bytes := range content {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range content {
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs", name)
		}
	}
	if err := copyTree(filepath.Join(from, "missing"), to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for a directory that is not there", err)
	}
}

func TestTemplatesAreToldApartByWhatMadeThem(t *testing.T) {
	first, second := program(t, "exit 0"), program(t, "exit 0 # another")
	key := func(o Options) string {
		k, err := templateKey(o)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := Options{Level: trial.LevelAPIServer, Programs: Programs{Etcd: first, APIServer: first}}
	other := base
	other.Programs.APIServer = second
	level := base
	level.Level = trial.LevelControlPlane
	nodes := base
	nodes.Nodes = 7
	same := base
	same.Port = 1234
	if key(base) == key(other) || key(base) == key(level) || key(base) == key(nodes) || key(base) != key(same) {
		t.Error("templates must differ by programs, level and nodes, and by nothing else")
	}
}
