package assets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func TestBuildMakesTheProgramsOfAComponentAtOnce(t *testing.T) {
	release := newest(t)
	store, told := newStore(t, nil, t.TempDir(), SourceBuild)
	fakeGo(t, store, fakePrograms(release))
	set, err := store.Get(t.Context(), Request{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Files {
		if f.Source != SourceBuild || f.SHA256 != sum(fakePrograms(release)[f.Program]) {
			t.Errorf("%s is from %s with the checksum %s", f.Program, f.Source, f.SHA256)
		}
	}
	invocations := builds(t, store)
	if len(invocations) != 3 {
		t.Fatalf("go build was invoked %d times, want once a component:\n%s", len(invocations), strings.Join(invocations, "\n"))
	}
	minor := strings.TrimPrefix(release.Minor(), "1.")
	flags := "-trimpath -ldflags -s -w -X k8s.io/component-base/version.gitVersion=" + release.Kubernetes +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=" + minor +
		" -X k8s.io/client-go/pkg/version.gitVersion=" + release.Kubernetes
	packages := "k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kube-scheduler k8s.io/kubernetes/cmd/kubectl"
	if !strings.Contains(invocations[0], flags+" "+packages) {
		t.Errorf("Kubernetes was built by %s\nwant %s %s", invocations[0], flags, packages)
	}
	if want := "/etcd -trimpath -ldflags -s -w go.etcd.io/etcd/server/v3"; !strings.HasSuffix(invocations[1], want) {
		t.Errorf("etcd was built by %s, want %s", invocations[1], want)
	}
	if want := "/kwok -trimpath -ldflags -s -w -X sigs.k8s.io/kwok/pkg/consts.Version=" + release.KWOK + " sigs.k8s.io/kwok/cmd/kwok"; !strings.HasSuffix(invocations[2], want) {
		t.Errorf("kwok was built by %s, want %s", invocations[2], want)
	}

	var etcd []Event
	for _, e := range told.all {
		// Events of the clock may stand between those of the stages.
		if e.Elapsed = 0; e.Subject == "etcd "+release.Etcd && (len(etcd) == 0 || etcd[len(etcd)-1] != e) {
			etcd = append(etcd, e)
		}
	}
	want := []Event{
		{Stage: StageModules, Subject: "etcd " + release.Etcd},
		{Stage: StageCompile, Subject: "etcd " + release.Etcd, Total: 2},
		{Stage: StageLink, Subject: "etcd " + release.Etcd},
	}
	if diff := cmp.Diff(want, etcd); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

// realJob is a job for the go command of this machine: a program of its own in
// a module without requirements.
func realJob(t *testing.T, main string) job {
	t.Helper()
	dir := t.TempDir()
	// The package lib is new to the Go build cache, whoever runs the test, and so
	// is what it exports: else the program would be found there.
	lib := fmt.Sprintf("package lib\n\nconst Version = \"v1.2.3\"\n\nconst Stamp = %q\n", fmt.Sprint(dir, time.Now().UnixNano()))
	pin := txtar.Format(&txtar.Archive{Files: []txtar.File{
		{Name: "go.mod", Data: []byte("module example.com/pinned\n\ngo 1.26.0\n")},
		{Name: "lib.go", Data: []byte(lib)},
	}})
	r := recipe{
		component: "pinned", version: "v1.2.3", pin: pin, ldflags: "-s -w",
		packages: map[Program]string{Scheduler: "example.com/pinned/cmd/v2"},
	}
	j := job{recipe: r, programs: []Program{Scheduler}, dir: dir, os: runtime.GOOS, arch: runtime.GOARCH}
	writeFile(t, filepath.Join(dir, "module", "cmd", "v2", "main.go"), []byte(main), 0o644)
	return j
}

// realCompile is a build by the go command of this machine.
func realCompile(t *testing.T, main string) (*compile, *events) {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	store, told := newStore(t, nil, t.TempDir())
	store.progress = told.add
	j := realJob(t, main)
	c := &compile{job: j, goCommand: goCommand, module: filepath.Join(j.dir, "module"), meter: store.newMeter("pinned v1.2.3")}
	for _, f := range txtar.Parse(j.recipe.pin).Files {
		writeFile(t, filepath.Join(c.module, f.Name), f.Data, 0o644)
	}
	if err := os.Mkdir(c.work(), 0o755); err != nil {
		t.Fatal(err)
	}
	return c, told
}

const realMain = "package main\n\nimport lib \"example.com/pinned\"\n\nfunc main() { println(lib.Version) }\n"

func TestBuildByTheGoCommand(t *testing.T) {
	// What the user set for their own builds must not matter.
	t.Setenv("GOFLAGS", "-tags=nothing -mod=vendor")
	t.Setenv("GOWORK", "/no/such/go.work")
	c, told := realCompile(t, realMain)
	made, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 1 || made[0] != (fetched{program: Scheduler, origin: "example.com/pinned/cmd/v2@v1.2.3"}) {
		t.Errorf("made %+v", made)
	}
	version, err := askVersion(t.Context(), Scheduler, filepath.Join(c.job.dir, string(Scheduler)))
	if err != nil || version != "v1.2.3" {
		t.Errorf("the program says %s, %v", version, err)
	}
	counts := func() (compiled int64, linked bool) {
		for _, e := range told.all {
			compiled = max(compiled, e.Total)
			linked = linked || e.Stage == StageLink
		}
		return compiled, linked
	}
	// The runtime may be new to the Go build cache as well.
	if compiled, linked := counts(); compiled < 2 || !linked {
		t.Errorf("%d packages were to be compiled, want at least the new package and the program; linked: %t", compiled, linked)
	}

	told.all = nil
	if _, err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if compiled, linked := counts(); compiled != 0 || !linked {
		t.Errorf("with a warm cache, %d packages were to be compiled, want none; linked: %t", compiled, linked)
	}
}

func TestCompileErrorShowsItsLastLines(t *testing.T) {
	c, _ := realCompile(t, "package main\n\nfunc main() { println(undefinedName) }\n")
	_, err := c.run(t.Context())
	var build *BuildError
	if !errors.As(err, &build) || build.Command != "build" {
		t.Fatalf("run() = %v, want a BuildError", err)
	}
	want := []string{"# example.com/pinned/cmd/v2", "cmd/v2/main.go:3:23: undefined: undefinedName"}
	if diff := cmp.Diff(want, build.Output); diff != "" {
		t.Errorf("last lines (-want +got):\n%s", diff)
	}

	unavailable := &UnavailableError{Programs: []Program{Scheduler}, Version: "v1.2.3", Attempts: []Attempt{{SourceBuild, err}}}
	text := "no source has kube-scheduler v1.2.3: build: go build failed: exit status 1\n" + strings.Join(want, "\n")
	if diff := cmp.Diff(text, unavailable.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestModuleThatCannotBeHadIsABuildError(t *testing.T) {
	c, _ := realCompile(t, "package main\n\nimport _ \"example.com/absent\"\n\nfunc main() {}\n")
	_, err := c.run(t.Context())
	var build *BuildError
	if !errors.As(err, &build) || build.Command != "list" || !strings.Contains(err.Error(), "example.com/absent") {
		t.Errorf("run() = %v, want a BuildError that names the module", err)
	}
}

func TestLinesOfTheGoCommand(t *testing.T) {
	store, told := newStore(t, nil, t.TempDir())
	c := &compile{meter: store.newMeter("x"), stale: map[string]bool{"example.com/a": true, "example.com/b": true}}

	c.meter.enter(StageModules, 0)
	w := &lineWriter{line: c.downloading}
	for _, part := range []string{"go: downloading exam", "ple.com/a v1.0.0\ngo: downloading example.com/b v1.0.0\n", "go: no such thing"} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	w.flush()
	if diff := cmp.Diff([]string{"go: no such thing"}, w.last); diff != "" {
		t.Errorf("lines of the error (-want +got):\n%s", diff)
	}
	if c.meter.done != 2 {
		t.Errorf("%d modules were counted, want 2", c.meter.done)
	}

	c.meter.enter(StageCompile, 2)
	w = &lineWriter{line: c.compiled}
	for i := range outputLimit + 5 {
		fmt.Fprintf(w, "example.com/a\nerror %d\n", i)
	}
	// A package is printed again when it is compiled anew: it counts once.
	if c.meter.done != 1 {
		t.Errorf("%d packages were counted, want 1", c.meter.done)
	}
	if len(w.last) != outputLimit || w.last[outputLimit-1] != fmt.Sprintf("error %d", outputLimit+4) {
		t.Errorf("%d lines are kept, the last one is %q", len(w.last), w.last[len(w.last)-1])
	}
	fmt.Fprintln(w, "example.com/b")
	if last := told.all[len(told.all)-1]; last.Stage != StageLink {
		t.Errorf("after the last package comes %s, want linking", last.Stage)
	}
}

func TestBuildEndsWithItsContext(t *testing.T) {
	store, _ := newStore(t, nil, t.TempDir(), SourceBuild)
	fakeGo(t, store, nil)
	fake := store.providers[SourceBuild].(*builder).goCommand
	// The child of the go command would hold its output open for a minute.
	started := filepath.Join(filepath.Dir(fake), "started")
	writeFile(t, fake, fmt.Appendf(nil, "#!/bin/sh\nsleep 60 &\necho >%s\nwait\n", started), 0o755)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil && !exists(started) {
			<-time.After(5 * time.Millisecond)
		}
		cancel()
	}()
	began := time.Now()
	_, err := store.Get(ctx, Request{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Get() = %v, want that it was cancelled", err)
	}
	if took := time.Since(began); took > settleDeadline {
		t.Errorf("it took %s to end", took)
	}
	if left := list(t, store.Dir(), "tmp"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestProgressPassesWhileNothingIsCounted(t *testing.T) {
	store, told := newStore(t, nil, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	store.progress = func(e Event) {
		told.add(e)
		if len(told.all) == 3 {
			cancel()
		}
	}
	m := store.newMeter("x")
	stop := m.start(ctx)
	m.enter(StageCompile, 7)
	<-ctx.Done()
	stop()
	for i, e := range told.all {
		if e.Stage != StageCompile || e.Total != 7 || i > 0 && e.Elapsed <= told.all[i-1].Elapsed {
			t.Errorf("event %d is %+v, want the same stage, later", i, e)
		}
	}
	if n := len(told.all); n != 3 {
		t.Errorf("%d events, want none after the end", n)
	}
}
