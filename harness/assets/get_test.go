package assets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/ci"
)

func TestUnknownVersion(t *testing.T) {
	store, _ := newStore(t, nil, t.TempDir())
	_, err := store.Get(t.Context(), Request{Kubernetes: "1.12"})
	var unknown *ci.UnknownVersionError
	if !errors.As(err, &unknown) || len(unknown.Known) == 0 {
		t.Errorf("Get() = %v, want an UnknownVersionError", err)
	}
}

func TestDownloadThatFailsFallsThroughToABuild(t *testing.T) {
	release := newest(t)
	server := serveReleases(t)
	server.handle(sumPathOf(Scheduler, release), nil)
	server.handle(sumPathOf(KWOK, release), nil)
	store, told := newStore(t, server, t.TempDir())
	fakeGo(t, store, fakePrograms(release))
	set, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[Program]Source{
		APIServer: SourceDownload, ControllerManager: SourceDownload, Kubectl: SourceDownload, Etcd: SourceDownload,
		Scheduler: SourceBuild, KWOK: SourceBuild,
	}
	if diff := cmp.Diff(want, sourcesOf(set)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	notices := told.messages(StageNotice)
	if len(notices) != 2 || !strings.HasSuffix(notices[0], sumPathOf(Scheduler, release)+" is not published (404); building instead") {
		t.Errorf("notices %q, want one line of why for each component", notices)
	}
}

func TestProgramThatReportsAnotherVersionIsRefused(t *testing.T) {
	release := newest(t)
	wrong := fakeProgram(APIServer, "v0.0.0-master+$Format:%H$")
	programs := fakePrograms(release)
	programs[APIServer] = wrong

	server, cache := serveReleases(t), t.TempDir()
	server.serve(pathOf(APIServer, release), wrong)
	server.serve(sumPathOf(APIServer, release), []byte(sum(wrong)))
	store, _ := newStore(t, server, cache)
	fakeGo(t, store, programs)
	_, err := store.Get(t.Context(), Request{Programs: []Program{APIServer}})
	var version *VersionError
	if !errors.As(err, &version) || version.Reported != "v0.0.0-master" || version.Want != release.Kubernetes {
		t.Fatalf("Get() = %v, want a VersionError", err)
	}
	for _, part := range []string{
		"download: kube-apiserver from " + server.URL + pathOf(APIServer, release) + " reports version v0.0.0-master, not " + release.Kubernetes,
		"build: kube-apiserver from k8s.io/kubernetes/cmd/kube-apiserver@" + release.Kubernetes + " reports version v0.0.0-master",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q lacks %q", err, part)
		}
	}
	if got := list(t, cache, "programs"); len(got) > 0 {
		t.Errorf("the cache has %v, want nothing", got)
	}

	set, err := store.Get(t.Context(), Request{Programs: []Program{APIServer, Kubectl}})
	if err == nil {
		t.Fatalf("Get() = %v, want an error", set)
	}
	if got := list(t, cache, "programs"); !cmp.Equal(got, []string{"kubectl"}) {
		t.Errorf("the cache has %v, want what was downloaded beside the refused program", got)
	}
	if n := len(builds(t, store)); n != 2 {
		t.Errorf("%d builds, want one for each request", n)
	}
}

func TestForcedSource(t *testing.T) {
	release := newest(t)
	server, cache := serveReleases(t), t.TempDir()
	request := Request{Programs: []Program{Etcd}}
	get := func(want Source, r Request, sources ...Source) *Store {
		t.Helper()
		store, _ := newStore(t, server, cache, sources...)
		fakeGo(t, store, fakePrograms(release))
		set, err := store.Get(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if f, _ := set.File(Etcd); f.Source != want {
			t.Errorf("with the sources %v, etcd is from %s, want %s", sources, f.Source, want)
		}
		return store
	}

	store, _ := newStore(t, server, cache, SourceCache)
	if _, err := store.Get(t.Context(), request); err == nil || !strings.Contains(err.Error(), "get it with: seatrial assets get --kubernetes "+release.Kubernetes) {
		t.Errorf("with an empty cache alone, Get() = %v, want what gets it", err)
	}
	get(SourceBuild, request, SourceBuild)
	if n := server.total(); n != 0 {
		t.Errorf("a forced build made %d requests", n)
	}
	get(SourceBuild, request, SourceCache)
	get(SourceBuild, request)
	if again := get(SourceBuild, request, SourceBuild); len(builds(t, again)) != 0 {
		t.Error("what was built was built again")
	}
	get(SourceDownload, request, SourceDownload)
	get(SourceDownload, request)
	n := server.total()
	get(SourceDownload, Request{Programs: []Program{Etcd}, Force: true})
	if server.total() == n {
		t.Error("Force did not download again")
	}
}

func TestNoSourceIsSaidInOneLine(t *testing.T) {
	store, _ := newStore(t, nil, t.TempDir())
	network := &noRoute{}
	store.providers[SourceDownload].(*downloader).transfer.client.Transport = network
	_, err := store.Get(t.Context(), Request{Programs: []Program{APIServer, Etcd}})
	want := "no source has kube-apiserver " + newest(t).Kubernetes + ": dir: KUBEBUILDER_ASSETS is not set; cache: not in " + store.Dir() +
		"; download: dl.k8s.io is unreachable: dial tcp: no route to host; " +
		"build: there is no go command; install Go 1.26 or newer from https://go.dev/dl and put it in PATH"
	if err == nil || err.Error() != want {
		t.Errorf("Get() = %v, want %s", err, want)
	}
}

func TestCacheThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "locks"), nil, 0o644)
	for cache, want := range map[string]string{dir: "making the cache", filepath.Join(dir, "locks", "cache"): "reading the cache"} {
		store, _ := newStore(t, serveReleases(t), cache)
		_, err := store.Get(t.Context(), Request{})
		if err == nil || !strings.Contains(err.Error(), want+" (choose another with SEATRIAL_CACHE): ") {
			t.Errorf("Get() = %v, want %q and how to choose another cache", err, want)
		}
	}
}

func TestWarmCacheIsNotWrittenTo(t *testing.T) {
	cache := t.TempDir()
	store, _ := newStore(t, serveReleases(t), cache)
	if _, err := store.Get(t.Context(), Request{}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"locks", "tmp"} {
		if err := os.RemoveAll(filepath.Join(cache, dir)); err != nil {
			t.Fatal(err)
		}
	}
	another, _ := newStore(t, nil, cache)
	if _, err := another.Get(t.Context(), Request{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"programs"}, list(t, cache)); diff != "" {
		t.Errorf("the cache was written to (-want +got):\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	if got, err := ParsePrograms([]string{"etcd", "kwok", "etcd"}); err != nil || !cmp.Equal(got, []Program{Etcd, KWOK}) {
		t.Errorf("ParsePrograms() = %v, %v", got, err)
	}
	if got, err := ParsePrograms(nil); err != nil || !cmp.Equal(got, Programs()) {
		t.Errorf("ParsePrograms(nil) = %v, %v", got, err)
	}
	if _, err := ParsePrograms([]string{"kubelet"}); err == nil || !strings.Contains(err.Error(), `unknown program "kubelet": known are kube-apiserver,`) {
		t.Errorf("ParsePrograms() = %v, want the known programs", err)
	}
	for name, want := range map[string][]Source{"": Sources(), Auto: Sources(), "build": {SourceBuild}} {
		if got, err := ParseSources(name); err != nil || !cmp.Equal(got, want) {
			t.Errorf("ParseSources(%q) = %v, %v", name, got, err)
		}
	}
	if _, err := ParseSources("internet"); err == nil || !strings.Contains(err.Error(), "must be auto or one of dir, cache, download, build") {
		t.Errorf("ParseSources() = %v, want the known sources", err)
	}
}
