package assets

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDownloadPutsEveryProgramIntoTheCache(t *testing.T) {
	server, cache := serveReleases(t), t.TempDir()
	store, _ := newStore(t, server, cache, SourceDownload)
	set, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	release := newest(t)
	var want []File
	for _, p := range Programs() {
		version := release.Kubernetes
		switch p {
		case Etcd:
			version = release.Etcd
		case KWOK:
			version = release.KWOK
		default:
		}
		want = append(want, File{Program: p, Version: version, Source: SourceDownload, SHA256: sum(fakePrograms(release)[p]), Path: set.Path(p)})
	}
	if diff := cmp.Diff(want, set.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, f := range set.Files {
		if content, err := os.ReadFile(f.Path); err != nil || sum(content) != f.SHA256 {
			t.Errorf("%s is not what was served: %v", f.Path, err)
		}
	}
	if left := list(t, cache, "tmp"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}

	before := server.total()
	again, _ := newStore(t, server, cache)
	if _, err := again.Get(t.Context(), Request{}); err != nil {
		t.Fatal(err)
	}
	if after := server.total(); after != before {
		t.Errorf("what is in the cache was asked for again: %d requests", after-before)
	}
}

func TestDownloadRefuses(t *testing.T) {
	release := newest(t)
	path, sums := pathOf(Scheduler, release), sumPathOf(Scheduler, release)
	good := fakePrograms(release)[Scheduler]
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	serve := func(content string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) }
	}
	truncated := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(good)))
		_, _ = w.Write(good[:10])
	}
	cases := map[string]struct {
		path     string
		handler  http.HandlerFunc
		requests int
		want     string
	}{
		"a file that has another checksum":        {path, serve("something else"), 1, sums + " says " + sum(good)},
		"a file that ends early, after 3 tries":   {path, truncated, 3, "unexpected EOF"},
		"a file that is not there, at once":       {path, status(404), 1, path + " is not published (404)"},
		"a checksum that is not there":            {sums, status(404), 1, sums + " is not published (404)"},
		"a file that may not be read, at once":    {path, status(403), 1, "answers 403 Forbidden"},
		"a server that fails, after 3 tries":      {path, status(500), 3, "answers 500 Internal Server Error"},
		"a server that is overrun, after 3 tries": {path, status(429), 3, "answers 429"},
		"a checksum that is none":                 {sums, serve("<html>sign in</html>"), 1, `has "<html>sign" instead of a SHA-256`},
		"a checksum that is empty":                {sums, serve(""), 1, sums + " is empty"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, cache := serveReleases(t), t.TempDir()
			server.handle(c.path, c.handler)
			store, _ := newStore(t, server, cache, SourceDownload)
			_, err := store.Get(t.Context(), Request{Programs: []Program{Scheduler, Kubectl}})
			var unavailable *UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("Get() = %v, want one line with %q", err, c.want)
			}
			if diff := cmp.Diff([]Program{Scheduler}, unavailable.Programs); diff != "" {
				t.Errorf("unavailable programs (-want +got):\n%s", diff)
			}
			if n := server.asked(c.path); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if got := list(t, cache, "programs"); !cmp.Equal(got, []string{"kubectl"}) {
				t.Errorf("the cache has %v, want kubectl alone", got)
			}
			if left := list(t, cache, "tmp"); len(left) > 0 {
				t.Errorf("temporary files are left: %v", left)
			}
		})
	}
}

func TestDownloadTriesAgain(t *testing.T) {
	release := newest(t)
	path := pathOf(Scheduler, release)
	failures := map[string]http.HandlerFunc{
		"when the server fails once": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"when a file ends early once": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "part")
		},
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			server := serveReleases(t)
			good := server.handler(path)
			server.handle(path, func(w http.ResponseWriter, r *http.Request) {
				server.handle(path, good)
				failure(w, r)
			})
			store, _ := newStore(t, server, t.TempDir(), SourceDownload)
			if _, err := store.Get(t.Context(), Request{Programs: []Program{Scheduler}}); err != nil {
				t.Error(err)
			}
		})
	}
}

// pieces serves content in pieces, with a pause before each.
func pieces(content []byte, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		for i := range content {
			if _, err := w.Write(content[i : i+1]); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
	}
}

func TestDownloadIsPatientWithSlowServersOnly(t *testing.T) {
	release := newest(t)
	path := pathOf(Scheduler, release)
	content := fakePrograms(release)[Scheduler]

	server := serveReleases(t)
	server.handle(path, pieces(content, 10*time.Millisecond))
	store, _ := newStore(t, server, t.TempDir(), SourceDownload)
	// In all, the file takes longer than a stall may.
	store.providers[SourceDownload].(*downloader).transfer.patience.stall = 10 * time.Millisecond * time.Duration(len(content)) / 2
	if _, err := store.Get(t.Context(), Request{Programs: []Program{Scheduler}}); err != nil {
		t.Errorf("a slow download must succeed: %v", err)
	}

	server.handle(path, pieces(content, time.Hour))
	store, _ = newStore(t, server, t.TempDir(), SourceDownload)
	store.providers[SourceDownload].(*downloader).transfer.patience.stall = 20 * time.Millisecond
	_, err := store.Get(t.Context(), Request{Programs: []Program{Scheduler}})
	if err == nil || !strings.Contains(err.Error(), "no data for 20ms") {
		t.Errorf("Get() = %v, want an error that says that no data came", err)
	}
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	release := newest(t)
	server, cache := serveReleases(t), t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("told to stop")
	server.handle(pathOf(Scheduler, release), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "part")
		_ = http.NewResponseController(w).Flush()
		cancel(stop)
		<-r.Context().Done()
	})
	store, _ := newStore(t, server, cache)
	_, err := store.Get(ctx, Request{Programs: []Program{Scheduler}})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, stop) {
		t.Errorf("Get() = %v, want that the context ended, and why", err)
	}
	if left := list(t, cache, "tmp"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	if _, err := os.Stat(filepath.Join(cache, "unreachable.json")); err == nil {
		t.Error("a host was called unreachable because the user gave up")
	}
}

func TestDownloadIsTriedOnLinuxOnly(t *testing.T) {
	server := serveReleases(t)
	store, _ := newStore(t, server, t.TempDir(), SourceDownload)
	store.os = "darwin"
	_, err := store.Get(t.Context(), Request{Programs: []Program{Scheduler}})
	if err == nil || !strings.Contains(err.Error(), "no official files of kubernetes are known for darwin") {
		t.Errorf("Get() = %v, want that there are no files for darwin", err)
	}
	if n := server.total(); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestMirrorMustBeURLs(t *testing.T) {
	for _, mirror := range []Mirror{{Kubernetes: "dl.k8s.io"}, {GitHub: "ftp://github.com"}, {GitHubAPI: "https://"}, {GitHub: "http://a b"}} {
		if _, err := New(Options{Dir: t.TempDir(), Mirror: mirror}); err == nil || !strings.Contains(err.Error(), "base URL") {
			t.Errorf("New(%+v) = %v, want an error that names the base URL", mirror, err)
		}
	}
}

func TestOfficialFiles(t *testing.T) {
	mirror, err := Mirror{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[Program][2]string{
		APIServer: {"https://dl.k8s.io/release/v1.37.2/bin/linux/arm64/kube-apiserver", "https://dl.k8s.io/release/v1.37.2/bin/linux/arm64/kube-apiserver.sha256"},
		Etcd:      {"https://github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-arm64.tar.gz", "https://github.com/etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS"},
		KWOK:      {"https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-linux-arm64", "https://api.github.com/repos/kubernetes-sigs/kwok/releases/tags/v0.8.0"},
	}
	versions := map[Program]recipe{
		APIServer: kubernetesRecipe("v1.37.2"),
		Etcd:      {component: componentEtcd, version: "v3.7.3"},
		KWOK:      {component: componentKWOK, version: "v0.8.0"},
	}
	for p, want := range cases {
		file, err := mirror.file(versions[p], p, "linux", "arm64")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, [2]string{file.url, file.checksum}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}
