package assets

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/ci"
)

func TestDamagedFileIsNamedWithWhatRepairsIt(t *testing.T) {
	edit := func(name string, change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, name)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, change(content), 0o755)
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(from, to string) func([]byte) []byte {
		return func(content []byte) []byte { return bytes.Replace(content, []byte(from), []byte(to), 1) }
	}
	cases := map[string]struct {
		damage  func(*testing.T, string)
		path    string
		problem string
	}{
		"a byte that changed":          {edit("etcd", replace("etcd Version", "etcd version")), "etcd", "has the SHA-256 "},
		"a file that is shorter":       {edit("etcd", func(b []byte) []byte { return b[1:] }), "etcd", " bytes instead of "},
		"a file that is gone":          {remove("etcd"), "etcd", "is missing"},
		"a manifest that is gone":      {remove(manifestName), manifestName, "is missing"},
		"a manifest that is cut off":   {edit(manifestName, func(b []byte) []byte { return b[:20] }), manifestName, "is not a manifest"},
		"a manifest of something else": {edit(manifestName, replace(`"etcd"`, `"kwok"`)), manifestName, "is of kwok"},
		"a manifest with more fields":  {edit(manifestName, replace(`"size"`, `"weight": 3, "size"`)), manifestName, `unknown field "weight"`},
		"a file that cannot be run": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Chmod(filepath.Join(dir, "etcd"), 0o444); err != nil {
				t.Fatal(err)
			}
		}, "etcd", "is not executable"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, cache := serveReleases(t), t.TempDir()
			store, _ := newStore(t, server, cache)
			request := Request{Programs: []Program{Etcd}}
			set, err := store.Get(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Dir(set.Path(Etcd))
			c.damage(t, dir)

			// The same store knows the file, another one does not.
			another, _ := newStore(t, server, cache)
			for _, s := range []*Store{store, another} {
				_, err = s.Get(t.Context(), request)
				var damaged *DamagedError
				if !errors.As(err, &damaged) {
					t.Fatalf("Get() = %v, want a DamagedError", err)
				}
				if damaged.Path != filepath.Join(dir, c.path) || !strings.Contains(damaged.Problem, c.problem) {
					t.Errorf("damaged is %s, which %s; want %s, which %s", damaged.Path, damaged.Problem, c.path, c.problem)
				}
				repair := "seatrial assets get --kubernetes " + newest(t).Kubernetes + " --programs etcd --force"
				if !strings.HasSuffix(err.Error(), "repair it with: "+repair) || strings.Contains(err.Error(), "\n") {
					t.Errorf("the error must end in the command that repairs, is %q", err)
				}
			}
			items, err := store.Verify(t.Context(), []ci.Release{newest(t)})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range items {
				if i.Program == Etcd && (i.State != StateDamaged || !strings.Contains(i.Problem, c.problem)) {
					t.Errorf("Verify() says that etcd is %s: %s", i.State, i.Problem)
				}
			}

			if _, err := store.Get(t.Context(), Request{Programs: []Program{Etcd}, Force: true}); err != nil {
				t.Fatalf("repairing: %v", err)
			}
			if _, err := another.Get(t.Context(), request); err != nil {
				t.Errorf("after the repair: %v", err)
			}
		})
	}
}

func TestFileIsReadOnceInAProcess(t *testing.T) {
	store, _ := newStore(t, serveReleases(t), t.TempDir())
	request := Request{Programs: []Program{Etcd}}
	set, err := store.Get(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	path := set.Path(Etcd)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A change that keeps the size and the time is found by reading alone.
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, bytes.Replace(content, []byte("etcd"), []byte("dtce"), 1), 0o555)
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get(t.Context(), request); err != nil {
		t.Errorf("the file was read again: %v", err)
	}
	var damaged *DamagedError
	if items, err := store.Verify(t.Context(), store.Releases()); err != nil || !hasDamaged(items) {
		t.Errorf("Verify() must read it again: %v %v", items, err)
	}
	if _, err := store.Get(t.Context(), request); !errors.As(err, &damaged) {
		t.Errorf("Get() = %v after Verify, want a DamagedError", err)
	}
}

func hasDamaged(items []Item) bool {
	for _, i := range items {
		if i.State == StateDamaged {
			return true
		}
	}
	return false
}

func TestChangedPinDoesNotFindWhatAnOlderOneLeft(t *testing.T) {
	server, cache := serveReleases(t), t.TempDir()
	store, _ := newStore(t, server, cache)
	request := Request{Programs: []Program{Etcd, KWOK}}
	before, err := store.Get(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	pins := fstest.MapFS{}
	err = fs.WalkDir(embeddedPins, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(embeddedPins, path)
		if strings.Contains(path, "etcd") {
			content = append(content, '\n')
		}
		pins[path] = &fstest.MapFile{Data: content}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	store.pins = pins
	after, err := store.Get(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if before.Path(Etcd) == after.Path(Etcd) {
		t.Error("etcd is still the one of the old pin")
	}
	if before.Path(KWOK) != after.Path(KWOK) {
		t.Error("kwok was got again although its pin is the same")
	}
	delete(pins, "pins/etcd.txtar")
	if _, err := store.Get(t.Context(), request); err == nil || !strings.Contains(err.Error(), "no module pins etcd") {
		t.Errorf("Get() = %v, want that there is no pin", err)
	}
}

func TestEveryReleaseHasItsPins(t *testing.T) {
	matrix, err := ci.Load()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{componentKubernetes: "k8s.io/kubernetes", componentEtcd: "go.etcd.io/etcd/server/v3", componentKWOK: "sigs.k8s.io/kwok"}
	for _, release := range matrix.Releases {
		all, err := recipes(embeddedPins, release)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if want := modules[r.component] + " " + r.version; !bytes.Contains(r.pin, []byte("\t"+want)) {
				t.Errorf("the pin %s does not require %s", r.pinName(), want)
			}
		}
	}
}

func TestListDoesNotRead(t *testing.T) {
	store, _ := newStore(t, serveReleases(t), t.TempDir())
	release := newest(t)
	if _, err := store.Get(t.Context(), Request{Programs: []Program{Kubectl}}); err != nil {
		t.Fatal(err)
	}
	items, err := store.List(store.Releases())
	if err != nil {
		t.Fatal(err)
	}
	if want := 4*len(store.Releases()) + 2; len(items) != want {
		t.Errorf("%d items, want %d", len(items), want)
	}
	for _, i := range items {
		want := StateAbsent
		if i.Program == Kubectl && i.Version == release.Kubernetes {
			want = StatePresent
			if i.Source != SourceDownload || i.Size == 0 || i.Installed == nil || !strings.HasSuffix(i.Origin, pathOf(Kubectl, release)) {
				t.Errorf("what is present is described as %+v", i)
			}
		}
		if i.State != want {
			t.Errorf("%s %s is %s, want %s", i.Program, i.Version, i.State, want)
		}
	}
}

func TestLinkMakesADirectoryOfAllPrograms(t *testing.T) {
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
	want := map[Program]Source{}
	for _, p := range Programs() {
		want[p] = SourceDirectory
	}
	envtest, _ := newStore(t, nil, t.TempDir(), SourceDirectory)
	envtest.directory = &dir
	got, err := envtest.Get(t.Context(), Request{})
	if err != nil {
		t.Fatalf("the directory is not one for %s: %v", EnvDirectory, err)
	}
	if diff := cmp.Diff(want, sourcesOf(got)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	store.directory = &dir
	fromLinks, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := store.Link(t.Context(), fromLinks); err != nil || again != dir {
		t.Errorf("Link() of the directory itself = %s, %v, want %s", again, err, dir)
	}
	if err := os.Remove(filepath.Join(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again, err := store.Link(t.Context(), set)
		if err != nil || again != dir {
			t.Fatalf("Link() = %s, %v, want %s again", again, err, dir)
		}
		if !linked(dir, set) {
			t.Error("a link that is gone was not restored")
		}
	}
	if left := list(t, cache, "tmp"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}
