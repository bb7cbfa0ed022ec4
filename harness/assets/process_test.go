package assets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// settleDeadline is how long a test waits for another process.
const settleDeadline = 20 * time.Second

// helper is a process that gets the newest release from a server.
func helper(t *testing.T, server *releases, cache string) (cmd *exec.Cmd, output, errs *bytes.Buffer) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), path)
	cmd.Env = append(os.Environ(), helperVariable+"=1")
	for _, name := range slices.Sorted(maps.Keys(server.env(cache))) {
		cmd.Env = append(cmd.Env, name+"="+server.env(cache)[name])
	}
	output, errs = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, errs
	return cmd, output, errs
}

// onLinux skips a test whose processes download files that are published for
// Linux on one architecture.
func onLinux(t *testing.T) {
	t.Helper()
	store, err := New(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if store.platform() != "linux-amd64" {
		t.Skip("the fake releases are for linux-amd64, and other processes ask for those of this machine")
	}
}

func TestProcessesShareOneDownload(t *testing.T) {
	onLinux(t)
	server, cache := serveReleases(t), t.TempDir()
	var group sync.WaitGroup
	const processes = 5
	outputs := make([]string, processes)
	for i := range processes {
		cmd, output, errs := helper(t, server, cache)
		group.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("%v: %s", err, errs)
			}
			outputs[i] = output.String()
		})
	}
	group.Wait()
	release := newest(t)
	for _, p := range Programs() {
		for _, path := range []string{pathOf(p, release), sumPathOf(p, release)} {
			if n := server.asked(path); n != 1 {
				t.Errorf("%s was asked for %d times, want once", path, n)
			}
		}
	}
	var files []File
	mustJSON(t, []byte(outputs[0]), &files)
	if len(files) != len(Programs()) {
		t.Errorf("a process got %d programs, want %d", len(files), len(Programs()))
	}
	for _, output := range outputs[1:] {
		if diff := cmp.Diff(outputs[0], output); diff != "" {
			t.Errorf("two processes got different programs:\n%s", diff)
		}
	}
	if left := list(t, cache, "tmp"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// killDuring starts a process, kills it when ready is closed, and checks that
// it left a temporary directory, no half of a program and no lock.
func killDuring(t *testing.T, server *releases, cache string, ready <-chan struct{}, unblock func()) {
	t.Helper()
	cmd, _, errs := helper(t, server, cache)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ready:
	case <-time.After(settleDeadline):
		t.Errorf("the process did not get as far as it should: %s", errs)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	unblock()
	if left := list(t, cache, "tmp"); len(left) == 0 {
		t.Error("the process left nothing: it was not killed midway")
	}
	store, told := newStore(t, server, cache)
	items, err := store.Verify(t.Context(), store.Releases())
	if err != nil || hasDamaged(items) {
		t.Errorf("the cache is damaged: %v %v", items, err)
	}

	began := time.Now()
	if _, err := store.Get(t.Context(), Request{}); err != nil {
		t.Errorf("after the kill: %v", err)
	}
	if waits := told.messages(StageWait); len(waits) > 0 || time.Since(began) > settleDeadline {
		t.Errorf("the dead process is waited for: %v", waits)
	}
	if left := list(t, cache, "tmp"); len(left) > 0 {
		t.Errorf("what the dead process left is still there: %v", left)
	}
}

func TestKillDuringADownload(t *testing.T) {
	onLinux(t)
	server, cache, release := serveReleases(t), t.TempDir(), newest(t)
	path := pathOf(Scheduler, release)
	good := server.handler(path)
	ready := make(chan struct{})
	server.handle(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, "#!/bin/sh\n")
		_ = http.NewResponseController(w).Flush()
		close(ready)
		<-r.Context().Done()
	})
	killDuring(t, server, cache, ready, func() { server.handle(path, good) })
}

func TestKillDuringAnInstallation(t *testing.T) {
	onLinux(t)
	server, cache, release := serveReleases(t), t.TempDir(), newest(t)
	// While the file is there, the program does not say its version but hangs.
	blocks := filepath.Join(t.TempDir(), "blocks")
	writeFile(t, blocks, nil, 0o644)
	entered := filepath.Join(t.TempDir(), "entered")
	script := fmt.Sprintf("#!/bin/sh\nif [ -e %s ]; then echo >%s; exec sleep 60; fi\necho Kubernetes %s\n", blocks, entered, release.Kubernetes)
	server.serve(pathOf(ControllerManager, release), []byte(script))
	server.serve(sumPathOf(ControllerManager, release), []byte(sum([]byte(script))))
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		for deadline := time.Now().Add(settleDeadline); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
			if _, err := os.Stat(entered); err == nil {
				return
			}
		}
	}()
	killDuring(t, server, cache, ready, func() {
		if err := os.Remove(blocks); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitNamesTheHolderAndEndsWithItsContext(t *testing.T) {
	onLinux(t)
	server, cache, release := serveReleases(t), t.TempDir(), newest(t)
	path := pathOf(Scheduler, release)
	ready := make(chan struct{})
	server.handle(path, func(_ http.ResponseWriter, r *http.Request) {
		close(ready)
		<-r.Context().Done()
	})
	cmd, _, _ := helper(t, server, cache)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	<-ready
	store, _ := newStore(t, server, cache)
	ctx, cancel := contextUntilTold(t, store, StageWait)
	defer cancel()
	_, err := store.Get(ctx, Request{Programs: []Program{Scheduler}})
	if err == nil || ctx.Err() == nil {
		t.Fatalf("Get() = %v, want that the wait ended with its context", err)
	}
	want := fmt.Sprintf("waiting for process %d (getting kubernetes %s)", cmd.Process.Pid, release.Kubernetes)
	if cause := fmt.Sprint(context.Cause(ctx)); !strings.Contains(cause, want) {
		t.Errorf("the wait says %q, want %q", cause, want)
	}
}
