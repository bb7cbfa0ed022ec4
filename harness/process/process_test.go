package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ownerVariable makes the test binary play the owner of a group, whom a test
// then kills.
const ownerVariable = "SEATRIAL_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerVariable); dir != "" {
		playOwner(dir)
		return
	}
	os.Exit(m.Run())
}

// playOwner starts a program that ignores every signal it can, prints its PID
// and never ends.
func playOwner(dir string) {
	g, err := NewGroup(dir)
	if err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	p, err := g.Start(Spec{Command: []string{"/bin/sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done"}, Env: os.Environ()})
	if err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	fmt.Fprintln(os.Stdout, p.PID())
	select {}
}

func group(t *testing.T, dirs ...string) *Group {
	t.Helper()
	g, err := NewGroup(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func start(t *testing.T, g *Group, spec Spec) *Process {
	t.Helper()
	p, err := g.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func script(text string) Spec {
	return Spec{Command: []string{"/bin/sh", "-c", text}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// eventually waits for a condition, at most ten seconds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("%s did not happen within 10s", what)
		case <-tick.C:
		}
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestProcessReportsHowItEnded(t *testing.T) {
	tests := map[string]struct {
		script string
		want   Exit
	}{
		"success":      {"exit 0", Exit{}},
		"an exit code": {"exit 7", Exit{Code: 7}},
		"a signal":     {"kill -9 $$", Exit{Code: -1, Signal: "killed"}},
	}
	g := group(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, g, script(tc.script))
			<-p.Done()
			if diff := cmp.Diff(tc.want, p.Exit()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLogGoesToFileHookAndTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	var hooked []string
	spec := script("echo one; echo two >&2; printf three")
	spec.LogFile = file
	spec.OnLine = func(line string) { hooked = append(hooked, line) }
	spec.OnEnd = func() { hooked = append(hooked, "the end") }
	p := start(t, group(t), spec)
	<-p.Done()
	if diff := cmp.Diff([]string{"one", "two", "three", "the end"}, hooked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"two", "three"}, p.Tail(2)); diff != "" {
		t.Error(diff)
	}
	content, err := os.ReadFile(file)
	if err != nil || string(content) != "one\ntwo\nthree" {
		t.Errorf("the file has %q, %v", content, err)
	}
}

func TestTailKeepsTheLastLinesAndCutsLongOnes(t *testing.T) {
	p := start(t, group(t), script("i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done; head -c 100000 /dev/zero | tr '\\0' x; echo; echo end"))
	<-p.Done()
	tail := p.Tail(1000)
	if len(tail) != linesKept || tail[len(tail)-1] != "end" || tail[len(tail)-3] != "499" {
		t.Errorf("kept %d lines, the last are %.20q", len(tail), tail[max(0, len(tail)-3):])
	}
	if got := len(tail[len(tail)-2]); got != lineBytes {
		t.Errorf("a long line was kept to %d bytes, want %d", got, lineBytes)
	}
}

func TestEnvironmentIsOnlyWhatWasGiven(t *testing.T) {
	t.Setenv("SEATRIAL_TEST_LEAK", "leak")
	g := group(t)
	p := start(t, g, Spec{Command: []string{"/usr/bin/env"}, Env: []string{"A=b"}})
	<-p.Done()
	if diff := cmp.Diff([]string{"A=b", g.mark()}, p.Tail(10)); diff != "" {
		t.Error(diff)
	}
}

func TestStartSaysWhatCannotBeStarted(t *testing.T) {
	_, err := group(t).Start(Spec{Command: []string{"/nonexistent/program"}})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/nonexistent/program") {
		t.Errorf("got %v", err)
	}
}

func TestADaemonThatAProgramMadeEndsWithTheGroup(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("what left the group can be found only where there is a /proc")
	}
	g := group(t)
	p := start(t, g, script("setsid sh -c 'echo $$; exec sleep 600' & wait"))
	eventually(t, "the daemon's start", func() bool { return len(p.Tail(1)) > 0 })
	daemon, err := strconv.Atoi(p.Tail(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemon's end", func() bool { return !alive(daemon) })
}

func TestStop(t *testing.T) {
	tests := map[string]struct {
		script string
		grace  time.Duration
		want   Exit
	}{
		"a program that ends on SIGTERM ends by itself": {"trap 'exit 3' TERM; echo up; while :; do sleep 0.05; done", time.Minute, Exit{Code: 3}},
		"one that ignores it is killed after the grace": {"trap '' TERM; echo up; while :; do sleep 0.05; done", 50 * time.Millisecond, Exit{Code: -1, Signal: "killed"}},
		"without grace it is killed at once":            {"trap '' TERM; echo up; while :; do sleep 0.05; done", 0, Exit{Code: -1, Signal: "killed"}},
	}
	g := group(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			up := make(chan struct{}, 1)
			spec := script(tc.script)
			spec.OnLine = func(string) { up <- struct{}{} }
			p := start(t, g, spec)
			<-up
			if err := p.Stop(t.Context(), tc.grace); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, p.Exit()); diff != "" {
				t.Error(diff)
			}
			if err := p.Stop(t.Context(), tc.grace); err != nil {
				t.Errorf("stopping again: %v", err)
			}
		})
	}
}

func TestStopKillsWhenItsContextEnds(t *testing.T) {
	up := make(chan struct{}, 1)
	spec := script("trap '' TERM; echo up; while :; do sleep 0.05; done")
	spec.OnLine = func(string) { up <- struct{}{} }
	p := start(t, group(t), spec)
	<-up
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx, time.Hour); err != nil || p.Exit().Signal != "killed" {
		t.Errorf("got %v, %v", p.Exit(), err)
	}
}

func TestCloseKillsWhatAProgramForkedAndRemovesDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g := group(t, dir)
	pids := make(chan int, 1)
	spec := script("sleep 1000 & echo $!; exit 0")
	spec.OnLine = func(line string) {
		pid, _ := strconv.Atoi(line)
		pids <- pid
	}
	p := start(t, g, spec)
	forked := <-pids
	<-p.Done()
	if !alive(forked) {
		t.Fatal("the forked program is not there to be killed")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the forked program", func() bool { return !alive(forked) })
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestNothingOutlivesAnOwnerThatIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), ownerVariable+"="+dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the owner said %q", line)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	eventually(t, "the end of the program", func() bool { return !alive(pid) })
	eventually(t, "the removal of the directory", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
}
