package assets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// explicitDirectory makes a directory with these programs.
func explicitDirectory(t *testing.T, programs map[Program][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for p, content := range programs {
		writeFile(t, filepath.Join(dir, string(p)), content, 0o755)
	}
	return dir
}

func sourcesOf(set Set) map[Program]Source {
	sources := map[Program]Source{}
	for _, f := range set.Files {
		sources[f.Program] = f.Source
	}
	return sources
}

func TestExplicitDirectoryComesFirst(t *testing.T) {
	release := newest(t)
	programs := fakePrograms(release)
	// The owner of the directory chooses etcd and KWOK.
	programs[Etcd] = fakeProgram(Etcd, "v3.6.1")
	dir := explicitDirectory(t, programs)
	server := serveReleases(t)
	store, told := newStore(t, server, t.TempDir())
	store.directory = &dir
	set, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Files {
		if f.Source != SourceDirectory || f.Path != filepath.Join(dir, string(f.Program)) {
			t.Errorf("%s is from %s: %s", f.Program, f.Source, f.Path)
		}
	}
	if f, _ := set.File(Etcd); f.Version != "v3.6.1" {
		t.Errorf("etcd has the version %s, want the one it reports", f.Version)
	}
	if n := server.total(); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
	if notices := told.messages(StageNotice); len(notices) != 0 {
		t.Errorf("notices %q, want none", notices)
	}
	// A program is asked for its version once in a process, and again when it
	// is replaced.
	writeFile(t, filepath.Join(dir, "kubectl.new"), fakeProgram(Kubectl, "v1.0.0"), 0o755)
	if err := os.Rename(filepath.Join(dir, "kubectl.new"), filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	if set, err := store.Get(t.Context(), Request{Programs: []Program{Kubectl}}); err != nil || set.Files[0].Source != SourceDownload {
		t.Errorf("a replaced program is used: %v, %v", set, err)
	}
}

func TestWhatTheExplicitDirectoryLacksComesFromTheNextSources(t *testing.T) {
	release := newest(t)
	all := fakePrograms(release)
	dir := explicitDirectory(t, map[Program][]byte{APIServer: all[APIServer], Etcd: all[Etcd], Kubectl: all[Kubectl]})
	store, told := newStore(t, serveReleases(t), t.TempDir())
	store.directory = &dir
	set, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[Program]Source{
		APIServer: SourceDirectory, Etcd: SourceDirectory, Kubectl: SourceDirectory,
		ControllerManager: SourceDownload, Scheduler: SourceDownload, KWOK: SourceDownload,
	}
	if diff := cmp.Diff(want, sourcesOf(set)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	notice := "dir: " + dir + " has no kube-controller-manager, kube-scheduler, kwok; using the next sources for kube-controller-manager, kube-scheduler, kwok"
	if diff := cmp.Diff([]string{notice}, told.messages(StageNotice)); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestExplicitDirectoryThatCannotBeUsed(t *testing.T) {
	release := newest(t)
	broken := func(content string, mode os.FileMode) func(*testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			dir := explicitDirectory(t, nil)
			writeFile(t, filepath.Join(dir, string(APIServer)), []byte(content), mode)
			return dir
		}
	}
	at := func(dir string) func(*testing.T) string { return func(*testing.T) string { return dir } }
	cases := map[string]struct {
		dir  func(*testing.T) string
		want string
	}{
		"set but empty":                     {at(""), "KUBEBUILDER_ASSETS is set but empty"},
		"a directory that is not there":     {at("/no/such/directory"), "KUBEBUILDER_ASSETS=/no/such/directory is not a directory"},
		"an empty directory":                {(*testing.T).TempDir, "has no kube-apiserver"},
		"a program of another release":      {broken(string(fakeProgram(APIServer, "v1.2.3")), 0o755), "reports version v1.2.3, not " + release.Kubernetes},
		"a file that is not executable":     {broken("#!/bin/sh\n", 0o644), "kube-apiserver is not an executable file"},
		"a program that does not run":       {broken("#!/bin/sh\necho broken pipe dream\nexit 3\n", 0o755), `does not run here: exit status 3 (it says "broken pipe dream")`},
		"a program that says no version":    {broken("#!/bin/sh\necho hello\n", 0o755), `does not report a version (it says "hello")`},
		"a program of another architecture": {broken("\x7fELF\x00", 0o755), "does not run here"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := c.dir(t)
			store, told := newStore(t, serveReleases(t), t.TempDir())
			store.directory = &dir
			request := Request{Programs: []Program{APIServer}}
			set, err := store.Get(t.Context(), request)
			if err != nil {
				t.Fatalf("the next sources must be used: %v", err)
			}
			if f, _ := set.File(APIServer); f.Source != SourceDownload {
				t.Errorf("kube-apiserver is from %s, want a download", f.Source)
			}
			if notices := told.messages(StageNotice); len(notices) != 1 || !strings.Contains(notices[0], c.want) {
				t.Errorf("notices %q, want one with %q", notices, c.want)
			}

			store.sources = []Source{SourceDirectory}
			_, err = store.Get(t.Context(), request)
			var unavailable *UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("with the source forced, Get() = %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestForcedDirectoryThatIsNotSet(t *testing.T) {
	store, _ := newStore(t, nil, t.TempDir(), SourceDirectory)
	if _, err := store.Get(t.Context(), Request{}); err == nil || !strings.Contains(err.Error(), "dir: KUBEBUILDER_ASSETS is not set") {
		t.Errorf("Get() = %v, want that the variable is not set", err)
	}
}

func TestOptionsFromEnv(t *testing.T) {
	env := map[string]string{EnvCache: "/c", EnvDirectory: "", EnvKubernetesURL: "http://k", EnvGitHubURL: "http://g", EnvGitHubAPIURL: "http://a"}
	lookup := func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
	want := Options{Dir: "/c", Directory: new(""), Mirror: Mirror{Kubernetes: "http://k", GitHub: "http://g", GitHubAPI: "http://a"}}
	if diff := cmp.Diff(want, OptionsFromEnv(lookup)); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	clear(env)
	if diff := cmp.Diff(Options{}, OptionsFromEnv(lookup)); diff != "" {
		t.Errorf("options of an empty environment (-want +got):\n%s", diff)
	}
}
