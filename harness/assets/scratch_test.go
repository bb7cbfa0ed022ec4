package assets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contextUntilTold returns a context that ends at the store's first event of a
// stage, with the event's message as its cause.
func contextUntilTold(t *testing.T, store *Store, stage Stage) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	store.progress = func(e Event) {
		if e.Stage == stage {
			cancel(errors.New(e.Message))
		}
	}
	return ctx, func() { cancel(nil) }
}

func TestTemporaryDirectoriesOfTheDeadAreRemoved(t *testing.T) {
	cache := t.TempDir()
	store, _ := newStore(t, nil, cache)
	alive, remove, err := store.scratch(t.Context(), "alive")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(cache, "tmp", "dead", "work", "file"), nil, 0o644)
	writeFile(t, filepath.Join(cache, "tmp", "dead", ownerName), nil, 0o644)
	writeFile(t, filepath.Join(cache, "tmp", "died-before-it-was-locked", "file"), nil, 0o644)

	another, _ := newStore(t, nil, cache)
	second, removeSecond, err := another.scratch(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Base(alive), filepath.Base(second)}, list(t, cache, "tmp")); diff != "" {
		t.Errorf("temporary directories (-want +got):\n%s", diff)
	}
	remove()
	removeSecond()
	if left := list(t, cache, "tmp"); len(left) > 0 {
		t.Errorf("temporary directories are left: %v", left)
	}
}

func TestLockIsExclusiveAndReleased(t *testing.T) {
	cache := t.TempDir()
	store, _ := newStore(t, nil, cache)
	release, err := store.acquire(t.Context(), "a", "testing")
	if err != nil {
		t.Fatal(err)
	}
	another, _ := newStore(t, nil, cache)
	ctx, cancel := contextUntilTold(t, another, StageWait)
	defer cancel()
	_, err = another.acquire(ctx, "a", "waiting")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "(testing)") {
		t.Errorf("acquire() = %v, want that it waited until its context ended", err)
	}
	other, err := another.acquire(t.Context(), "b", "testing")
	if err != nil {
		t.Fatal(err)
	}
	other()
	release()
	release, err = another.acquire(t.Context(), "a", "testing")
	if err != nil {
		t.Fatalf("the lock was not released: %v", err)
	}
	release()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestPrune(t *testing.T) {
	server, cache := serveReleases(t), t.TempDir()
	store, _ := newStore(t, server, cache)
	set, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := store.Link(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	alive, remove, err := store.scratch(t.Context(), "alive")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	key := filepath.Base(filepath.Dir(set.Path(Etcd)))
	key = key[strings.LastIndex(key, "-")+1:]
	entry := func(p Program, name string) string {
		path := filepath.Join(cache, "programs", string(p), name)
		writeFile(t, filepath.Join(path, string(p)), []byte("12345"), 0o755)
		return path
	}
	old := entry(Etcd, "v3.5.0-rc.1-linux-amd64-"+key)
	stale := entry(Etcd, newest(t).Etcd+"-linux-amd64-000000000000")
	unknown := entry("kube-proxy", "v1.37.2-linux-amd64-"+key)
	odd := entry(Etcd, "odd")
	foreign := entry(Etcd, newest(t).Etcd+"-linux-riscv64-"+key)
	oldLinks, err := store.Link(t.Context(), Set{Release: set.Release, Files: []File{{Program: Etcd, Path: filepath.Join(old, "etcd")}}})
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(cache, "tmp", "dead")
	writeFile(t, filepath.Join(dead, "file"), []byte("1234567"), 0o644)

	want := map[string]Leftover{}
	for _, path := range []string{old, stale, unknown, odd} {
		want[path] = Leftover{Path: path, Why: "not named by the matrix", Size: 5}
	}
	want[oldLinks] = Leftover{Path: oldLinks, Why: "links to programs that are gone"}
	want[dead] = Leftover{Path: dead, Why: "temporary files of a process that is gone", Size: 7}
	kept := []string{dir, alive, foreign, set.Path(APIServer), set.Path(Etcd), set.Path(KWOK)}

	for _, dry := range []bool{true, false} {
		leftovers, err := store.Prune(t.Context(), dry)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Leftover{}
		for _, l := range leftovers {
			got[l.Path] = l
			if there := exists(l.Path); there != dry {
				t.Errorf("dry run %t: %s is there: %t", dry, l.Path, there)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("leftovers (-want +got):\n%s", diff)
		}
		for _, path := range kept {
			if !exists(path) {
				t.Errorf("%s was removed", path)
			}
		}
	}
	leftovers, err := store.Prune(t.Context(), false)
	if err != nil || len(leftovers) > 0 {
		t.Errorf("a second time, Prune() = %v, %v, want nothing", leftovers, err)
	}
}
