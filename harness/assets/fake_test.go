package assets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seatrial/seatrial/ci"
)

func newest(t *testing.T) ci.Release {
	t.Helper()
	matrix, err := ci.Load()
	if err != nil {
		t.Fatal(err)
	}
	return matrix.Newest()
}

// fakeProgram is a script that reports a version as the real program does.
func fakeProgram(p Program, version string) []byte {
	says := "Kubernetes " + version
	switch p {
	case Kubectl:
		says = "Client Version: " + version + "\nKustomize Version: v5.8.1"
	case Etcd:
		says = "etcd Version: " + strings.TrimPrefix(version, "v") + "\nGit SHA: Not provided\nGo Version: go1.26.8"
	case KWOK:
		says = "kwok version " + version + " go1.26.8 (linux/amd64)"
	default:
	}
	return fmt.Appendf(nil, "#!/bin/sh\ncat <<'END'\n%s\nEND\n", says)
}

func fakePrograms(r ci.Release) map[Program][]byte {
	programs := map[Program][]byte{Etcd: fakeProgram(Etcd, r.Etcd), KWOK: fakeProgram(KWOK, r.KWOK)}
	for _, p := range []Program{APIServer, ControllerManager, Scheduler, Kubectl} {
		programs[p] = fakeProgram(p, r.Kubernetes)
	}
	return programs
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// releases is a server of official release files. Its handlers can be replaced.
type releases struct {
	*httptest.Server
	mu       sync.Mutex
	handlers map[string]http.HandlerFunc
	requests map[string]int
}

// serveReleases serves fake programs of the newest release for linux-amd64.
func serveReleases(t *testing.T) *releases {
	t.Helper()
	release := newest(t)
	s := &releases{handlers: map[string]http.HandlerFunc{}, requests: map[string]int{}}
	for p, content := range fakePrograms(release) {
		switch p {
		case Etcd:
			archive := tarball(t, fmt.Sprintf("etcd-%s-linux-amd64/etcd", release.Etcd), content)
			s.serve(pathOf(p, release), archive)
			s.serve(sumPathOf(p, release), fmt.Appendf(nil, "%s  etcd-%s-darwin-amd64.zip\n%s  etcd-%s-linux-amd64.tar.gz\n",
				sum(nil), release.Etcd, sum(archive), release.Etcd))
		case KWOK:
			s.serve(pathOf(p, release), content)
			s.serve(sumPathOf(p, release), fmt.Appendf(nil, `{"tag_name": "x", "assets": [{"name": "kwokctl-linux-amd64", "digest": null},
				{"name": "kwok-linux-amd64", "digest": "sha256:%s", "size": 1}]}`, sum(content)))
		default:
			s.serve(pathOf(p, release), content)
			s.serve(sumPathOf(p, release), []byte(sum(content)))
		}
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.URL.Path]++
		handler := s.handlers[r.URL.Path]
		s.mu.Unlock()
		if handler == nil {
			http.NotFound(w, r)
			return
		}
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func pathOf(p Program, r ci.Release) string {
	switch p {
	case Etcd:
		return fmt.Sprintf("/etcd-io/etcd/releases/download/%[1]s/etcd-%[1]s-linux-amd64.tar.gz", r.Etcd)
	case KWOK:
		return fmt.Sprintf("/kubernetes-sigs/kwok/releases/download/%s/kwok-linux-amd64", r.KWOK)
	default:
		return fmt.Sprintf("/release/%s/bin/linux/amd64/%s", r.Kubernetes, p)
	}
}

func sumPathOf(p Program, r ci.Release) string {
	switch p {
	case Etcd:
		return fmt.Sprintf("/etcd-io/etcd/releases/download/%s/SHA256SUMS", r.Etcd)
	case KWOK:
		return "/repos/kubernetes-sigs/kwok/releases/tags/" + r.KWOK
	default:
		return pathOf(p, r) + ".sha256"
	}
}

func tarball(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	archive := tar.NewWriter(zip)
	for _, f := range []struct {
		name    string
		content []byte
	}{{"README.md", []byte("hello")}, {name, content}} {
		if err := archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *releases) serve(path string, content []byte) {
	s.handle(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
}

func (s *releases) handle(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[path] = h
}

// handler returns the present handler of a path.
func (s *releases) handler(path string) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers[path]
}

func (s *releases) asked(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[path]
}

func (s *releases) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, count := range s.requests {
		n += count
	}
	return n
}

// env is the environment that leads a store to this server.
func (s *releases) env(cache string) map[string]string {
	return map[string]string{EnvCache: cache, EnvKubernetesURL: s.URL, EnvGitHubURL: s.URL, EnvGitHubAPIURL: s.URL + "/"}
}

// events collects what a store tells.
type events struct {
	mu  sync.Mutex
	all []Event
}

func (e *events) add(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

// messages returns those of a stage.
func (e *events) messages(stage Stage) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var messages []string
	for _, event := range e.all {
		if event.Stage == stage {
			messages = append(messages, event.Message)
		}
	}
	return messages
}

// newStore returns a store that downloads from the server, on linux-amd64
// whatever this machine is, patient for no longer than a test.
func newStore(t *testing.T, s *releases, cache string, sources ...Source) (*Store, *events) {
	t.Helper()
	env := map[string]string{EnvCache: cache}
	if s != nil {
		env = s.env(cache)
	}
	options := OptionsFromEnv(func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	told := &events{}
	options.Sources, options.Progress = sources, told.add
	options.Go = filepath.Join(cache, "no-such-go")
	store, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	store.os, store.arch = "linux", "amd64"
	store.providers[SourceDownload].(*downloader).transfer.patience = patience{answer: 10 * time.Second, stall: 10 * time.Second, backoff: time.Millisecond}
	return store, told
}

// fakeGo is a go command that copies fake programs, and its store uses it.
func fakeGo(t *testing.T, store *Store, programs map[Program][]byte) {
	t.Helper()
	dir := t.TempDir()
	for p, content := range programs {
		writeFile(t, filepath.Join(dir, string(p)), content, 0o644)
	}
	const script = `#!/bin/sh
# list -deps -f FORMAT -trimpath -ldflags FLAGS PACKAGE...
# build -v -o OUTPUT -trimpath -ldflags FLAGS PACKAGE...
case $1 in
list)
	printf 'example.com/a\tbuild ID mismatch\nexample.com/b\tstale dependency\nexample.com/main\tnot installed but available in build cache\n'
	;;
build)
	echo "$@" >>"$PROGRAMS/builds"
	echo 'example.com/a' >&2
	echo 'example.com/b' >&2
	out=$4
	shift 7
	for package; do
		case $out in
		*/) cp "$PROGRAMS/${package##*/}" "$out" ;;
		*) cp "$PROGRAMS/${out##*/}" "$out" ;;
		esac
	done
	;;
esac
`
	path := filepath.Join(dir, "go")
	writeFile(t, path, []byte(strings.ReplaceAll(script, "$PROGRAMS", dir)), 0o755)
	store.providers[SourceBuild].(*builder).goCommand = path
}

// builds returns the invocations of `go build` of the store's fake go command.
func builds(t *testing.T, store *Store) []string {
	t.Helper()
	dir := filepath.Dir(store.providers[SourceBuild].(*builder).goCommand)
	content, err := os.ReadFile(filepath.Join(dir, "builds"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

func writeFile(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// list returns the names in a directory of the cache.
func list(t *testing.T, parts ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(append(parts, "*")...))
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

func mustJSON(t *testing.T, content []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(content, v); err != nil {
		t.Fatalf("%v in %q", err, content)
	}
}
