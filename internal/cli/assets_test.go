package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/ci"
	"github.com/seatrial/seatrial/harness/assets"
)

// runAssets runs a verb of assets, with a cache of the test's own.
func runAssets(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newAssetsCommand(Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	if err != nil {
		fmt.Fprintln(&stderr, err)
	}
	return exitCode(err), stdout.String(), stderr.String()
}

// assetsEnv gives a test a cache of its own, an explicit directory that has
// fake programs of the newest release, and no other source.
func assetsEnv(t *testing.T) (cache, directory string, release ci.Release) {
	t.Helper()
	matrix, err := ci.Load()
	if err != nil {
		t.Fatal(err)
	}
	release = matrix.Newest()
	cache, directory = filepath.Join(t.TempDir(), "cache"), t.TempDir()
	for _, p := range assets.Programs() {
		script := fmt.Sprintf("#!/bin/sh\necho %s\n", release.Kubernetes)
		if err := os.WriteFile(filepath.Join(directory, string(p)), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(assets.EnvCache, cache)
	t.Setenv(assets.EnvDirectory, directory)
	for _, name := range []string{assets.EnvKubernetesURL, assets.EnvGitHubURL, assets.EnvGitHubAPIURL} {
		t.Setenv(name, "http://127.0.0.1:9") // the discard port refuses
	}
	return cache, directory, release
}

// serveKubectl replaces the explicit directory by a server of kubectl.
func serveKubectl(t *testing.T, release ci.Release) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("official files are known for Linux only")
	}
	script := fmt.Sprintf("#!/bin/sh\necho Client Version: %s\n", release.Kubernetes)
	path := fmt.Sprintf("/release/%s/bin/linux/%s/kubectl", release.Kubernetes, runtime.GOARCH)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case path:
			fmt.Fprint(w, script)
		case path + ".sha256":
			fmt.Fprintf(w, "%x", sha256.Sum256([]byte(script)))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	if err := os.Unsetenv(assets.EnvDirectory); err != nil { // t.Setenv has seen to its return
		t.Fatal(err)
	}
	t.Setenv(assets.EnvKubernetesURL, server.URL)
}

func TestAssetsGet(t *testing.T) {
	_, directory, release := assetsEnv(t)
	code, out, errs := runAssets(t, "get", "--programs", "etcd,kubectl", "-o", "json")
	if code != ExitOK || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got []map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	file := func(name string) map[string]any {
		return map[string]any{"program": name, "version": release.Kubernetes, "source": "dir", "path": filepath.Join(directory, name)}
	}
	want := []map[string]any{{"kubernetes": release.Kubernetes, "files": []any{file("kubectl"), file("etcd")}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}

	code, out, _ = runAssets(t, "get", "--kubernetes", release.Minor(), "--programs", "kubectl")
	if code != ExitOK || len(strings.Split(strings.TrimSpace(out), "\n")) != 2 || !strings.Contains(out, filepath.Join(directory, "kubectl")) {
		t.Errorf("exit %d: %q, want a table of one program", code, out)
	}
}

func TestAssetsPathIsForKubebuilderAssets(t *testing.T) {
	cache, directory, _ := assetsEnv(t)
	code, out, errs := runAssets(t, "path", "--kubernetes", "newest")
	if code != ExitOK || strings.Count(out, "\n") != 1 {
		t.Fatalf("exit %d: %q %s, want one line", code, out, errs)
	}
	dir := strings.TrimSpace(out)
	if !strings.HasPrefix(dir, cache) {
		t.Errorf("%s is not in the cache", dir)
	}
	for _, p := range assets.Programs() {
		if target, err := os.Readlink(filepath.Join(dir, string(p))); err != nil || target != filepath.Join(directory, string(p)) {
			t.Errorf("%s links to %q: %v", p, target, err)
		}
	}

	t.Setenv(assets.EnvDirectory, "")
	code, out, errs = runAssets(t, "path", "--source", "dir")
	if code != ExitUsage || out != "" || !strings.Contains(errs, "KUBEBUILDER_ASSETS is set but empty") {
		t.Errorf("with an empty directory: exit %d, %q, %q", code, out, errs)
	}
}

func TestAssetsBadInput(t *testing.T) {
	assetsEnv(t)
	t.Setenv(assets.EnvDirectory, "")
	t.Setenv("PATH", "")
	cases := map[string]struct {
		args []string
		want string
	}{
		"an unknown version":              {[]string{"get", "--kubernetes", "1.12"}, `unknown Kubernetes version "1.12": known are v1.`},
		"an unknown version of a path":    {[]string{"path", "--kubernetes", "1.12"}, `unknown Kubernetes version "1.12"`},
		"an unknown version of a list":    {[]string{"list", "--kubernetes", "x"}, `--kubernetes: unknown Kubernetes version "x"`},
		"an unknown program":              {[]string{"get", "--programs", "kubelet"}, `--programs: unknown program "kubelet": known are`},
		"an unknown source":               {[]string{"get", "--source", "web"}, `--source: unknown source "web": must be auto or one of dir`},
		"an unknown form":                 {[]string{"list", "-o", "yaml"}, `-o: unknown form "yaml": must be text or json`},
		"no network and no compiler":      {[]string{"get", "--programs", "etcd"}, "build: there is no go command; install Go"},
		"a cache that lacks the programs": {[]string{"path", "--source", "cache"}, "get it with: seatrial assets get"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runAssets(t, c.args...)
			if code != ExitUsage || !strings.Contains(errs, c.want) || out != "" {
				t.Errorf("exit %d, output %q, errors %q; want exit 2 and %q", code, out, errs, c.want)
			}
		})
	}
	t.Setenv(assets.EnvGitHubURL, "github.com")
	if code, _, errs := runAssets(t, "list"); code != ExitUsage || !strings.Contains(errs, "(set by SEATRIAL_GITHUB_URL)") {
		t.Errorf("with a base URL that is none: exit %d, %s", code, errs)
	}
}

func TestAssetsVerifyAndRepair(t *testing.T) {
	_, _, release := assetsEnv(t)
	serveKubectl(t, release)
	code, out, errs := runAssets(t, "get", "--programs", "kubectl", "-o", "json")
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var sets []struct{ Files []assets.File }
	if err := json.Unmarshal([]byte(out), &sets); err != nil {
		t.Fatal(err)
	}
	path := sets[0].Files[0].Path
	if code, out, _ = runAssets(t, "verify"); code != ExitOK || !strings.Contains(out, "present") {
		t.Errorf("exit %d, %s; want kubectl present", code, out)
	}

	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, out, errs = runAssets(t, "verify", "--kubernetes", "newest")
	if code != ExitUsage || !strings.Contains(errs, path+" has 10 bytes instead of") || !strings.Contains(errs, "verify --repair") || !strings.Contains(out, "damaged") {
		t.Errorf("exit %d, %s %s; want the damaged file and what repairs it", code, out, errs)
	}
	if code, _, errs = runAssets(t, "get", "--programs", "kubectl"); code != ExitUsage || !strings.Contains(errs, "--force") {
		t.Errorf("exit %d, %s; want the damaged file and what repairs it", code, errs)
	}
	if code, out, errs = runAssets(t, "verify", "--repair"); code != ExitOK || strings.Contains(out, "damaged") {
		t.Errorf("exit %d, %s %s; want it repaired", code, out, errs)
	}
	var items []assets.Item
	_, out, _ = runAssets(t, "list", "--kubernetes", "newest", "-o", "json")
	if err := json.Unmarshal([]byte(out), &items); err != nil {
		t.Fatal(err)
	}
	states := map[assets.Program]assets.State{}
	for _, i := range items {
		states[i.Program] = i.State
	}
	want := map[assets.Program]assets.State{assets.Kubectl: assets.StatePresent}
	for _, p := range assets.Programs() {
		if p != assets.Kubectl {
			want[p] = assets.StateAbsent
		}
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestAssetsPrune(t *testing.T) {
	cache, _, _ := assetsEnv(t)
	leftover := filepath.Join(cache, "programs", "etcd", "v3.0.0-linux-amd64-abc")
	if err := os.MkdirAll(leftover, 0o755); err != nil {
		t.Fatal(err)
	}
	code, out, _ := runAssets(t, "prune", "--dry-run")
	if _, err := os.Stat(leftover); code != ExitOK || err != nil || !strings.HasPrefix(out, "would remove "+leftover+" (not named by the matrix") {
		t.Errorf("exit %d, %q, %v; want that it would remove the leftover", code, out, err)
	}
	code, out, _ = runAssets(t, "prune")
	if _, err := os.Stat(leftover); code != ExitOK || err == nil || !strings.HasSuffix(out, "removed 1 directories, 0.0 MiB\n") {
		t.Errorf("exit %d, %q, %v; want that it removed the leftover", code, out, err)
	}
}

func TestAssetsProgressInLines(t *testing.T) {
	var out bytes.Buffer
	p := newAssetsProgress(&out)
	compile := func(done int64, elapsed time.Duration) {
		p.event(assets.Event{Stage: assets.StageCompile, Subject: "kubernetes v1.37.2", Done: done, Total: 1500, Elapsed: elapsed})
	}
	p.event(assets.Event{Stage: assets.StageNotice, Subject: "kubernetes v1.37.2", Message: "download: no route; building instead"})
	p.event(assets.Event{Stage: assets.StageModules, Subject: "kubernetes v1.37.2", Done: 3})
	compile(0, 5*time.Second)
	compile(10, 6*time.Second)
	compile(100, 15*time.Second)
	compile(110, 16*time.Second)
	p.event(assets.Event{Stage: assets.StageLink, Subject: "kubernetes v1.37.2", Elapsed: 192 * time.Second})
	p.event(assets.Event{Stage: assets.StageDownload, Subject: "etcd v3.7.3", Done: 1 << 20})
	p.event(assets.Event{Stage: assets.StageWait, Subject: "getting kwok v0.8.0", Message: "waiting for process 7 (getting kwok v0.8.0)", Elapsed: time.Second})
	p.close()
	p.close()
	want := `kubernetes v1.37.2: download: no route; building instead
kubernetes v1.37.2: resolving modules, 3 downloaded, 0s
kubernetes v1.37.2: compiled 0 of 1500 packages, 5s
kubernetes v1.37.2: compiled 100 of 1500 packages, 15s
kubernetes v1.37.2: linking, 3m12s
etcd v3.7.3: downloaded 1.0 MiB, 0s
getting kwok v0.8.0: waiting for process 7 (getting kwok v0.8.0), 1s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAssetsErrorKeepsACancelledContext(t *testing.T) {
	if code := exitCode(assetsError(fmt.Errorf("getting: %w", context.Canceled))); code != ExitInconclusive {
		t.Errorf("exit %d, want %d", code, ExitInconclusive)
	}
	build := &assets.UnavailableError{Attempts: []assets.Attempt{{Source: assets.SourceBuild, Err: &assets.BuildError{}}}}
	if code := exitCode(assetsError(build)); code != ExitFailed {
		t.Errorf("exit %d of a build that failed, want %d", code, ExitFailed)
	}
}
