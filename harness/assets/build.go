package assets

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// linkOnly is how `go list` calls a program whose packages are all compiled.
const linkOnly = "not installed but available in build cache"

// outputLimit is how many lines of a failed command are kept.
const outputLimit = 20

// builder compiles programs from the module that pins them. A machine runs one
// build at a time: the go command uses all of its processors already.
type builder struct {
	goCommand string
	store     *Store
}

// fetch builds all programs of the job by one invocation.
func (b *builder) fetch(ctx context.Context, j job, m *meter) ([]fetched, error) {
	goCommand, err := exec.LookPath(cmp.Or(b.goCommand, "go"))
	if err != nil {
		return nil, errNoGo
	}
	release, err := b.store.acquire(ctx, "build", "building "+j.recipe.String())
	if err != nil {
		return nil, err
	}
	defer release()
	c := &compile{job: j, goCommand: goCommand, module: filepath.Join(j.dir, "module"), meter: m}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("preparing the build: %w", err)
	}
	return c.run(ctx)
}

// compile is one build.
type compile struct {
	job       job
	goCommand string
	// module is the directory of the pinned module.
	module string
	meter  *meter
	// stale are the packages that are still to be compiled.
	stale map[string]bool
}

// prepare writes the pinned module into the job's directory.
func (c *compile) prepare() error {
	for _, dir := range []string{c.module, c.work()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	for _, f := range txtar.Parse(c.job.recipe.pin).Files {
		if err := os.WriteFile(filepath.Join(c.module, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// work is where the go command keeps its temporary files, so that they go when
// the job's directory goes, also after a kill.
func (c *compile) work() string { return filepath.Join(c.job.dir, "work") }

func (c *compile) run(ctx context.Context) ([]fetched, error) {
	packages := make([]string, 0, len(c.job.programs))
	for _, p := range c.job.programs {
		packages = append(packages, c.job.recipe.packages[p])
	}
	if err := c.findStale(ctx, packages); err != nil {
		return nil, err
	}
	c.meter.enter(StageCompile, int64(len(c.stale)))
	output := c.job.dir + string(filepath.Separator)
	if len(packages) == 1 {
		// A package whose path ends in a version would name its file otherwise.
		output = filepath.Join(c.job.dir, string(c.job.programs[0]))
	}
	_, err := c.command(ctx, c.compiled, slices.Concat([]string{"build", "-v", "-o", output}, c.flags(), packages)...)
	if err != nil {
		return nil, err
	}
	made := make([]fetched, 0, len(c.job.programs))
	for _, p := range c.job.programs {
		origin := c.job.recipe.packages[p] + "@" + c.job.recipe.version
		made = append(made, fetched{program: p, origin: origin})
	}
	return made, nil
}

// findStale asks which packages the Go build cache lacks. Their number is the
// total of the progress, so that a warm cache does not look like a long build.
func (c *compile) findStale(ctx context.Context, packages []string) error {
	c.meter.enter(StageModules, 0)
	const format = "{{if .Stale}}{{.ImportPath}}\t{{.StaleReason}}{{end}}"
	list, err := c.command(ctx, c.downloading, slices.Concat([]string{"list", "-deps", "-f", format}, c.flags(), packages)...)
	if err != nil {
		return err
	}
	c.stale = map[string]bool{}
	for line := range strings.Lines(list) {
		path, why, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && why != linkOnly {
			c.stale[path] = true
		}
	}
	return nil
}

// flags are the same for listing and for building, as the state of the Go
// build cache depends on them.
func (c *compile) flags() []string {
	return []string{"-trimpath", "-ldflags", c.job.recipe.ldflags}
}

// downloading counts a line of `go list` that says that a module is fetched.
func (c *compile) downloading(line string) bool {
	fetches := isDownload(line)
	if fetches {
		c.meter.count(1)
	}
	return fetches
}

// compiled counts a line of `go build -v` that names a package it compiles.
func (c *compile) compiled(line string) bool {
	if !c.stale[line] {
		return isDownload(line)
	}
	delete(c.stale, line)
	c.meter.count(1)
	return true
}

func isDownload(line string) bool { return strings.HasPrefix(line, "go: downloading ") }

// command runs the go command in the pinned module and returns its output.
// Each line of its errors is offered to progress; the last of those that it
// does not take are part of the error.
func (c *compile) command(ctx context.Context, progress func(line string) bool, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.goCommand, args...)
	cmd.Dir = c.module
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOOS="+c.job.os, "GOARCH="+c.job.arch, "GOTMPDIR="+c.work(), "PWD="+c.module,
		// What the user set for their own builds must not change this one. An
		// empty GOFLAGS would mean the one that "go env -w" wrote.
		"GOFLAGS=-mod=readonly", "GOWORK=off")
	var output bytes.Buffer
	cmd.Stdout = &output
	lines := &lineWriter{line: progress}
	cmd.Stderr = lines
	err := runOwned(cmd)
	lines.flush()
	if ctx.Err() != nil {
		return "", ended(ctx)
	}
	if err != nil {
		return "", &BuildError{Command: args[0], Err: err, Output: lines.last}
	}
	return output.String(), nil
}

// lineWriter cuts what is written into lines and keeps the last of those that
// nobody takes.
type lineWriter struct {
	line func(string) bool
	part []byte
	last []string
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		line, rest, whole := bytes.Cut(w.part, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		w.part = rest
		w.take(string(line))
	}
}

func (w *lineWriter) flush() {
	if len(w.part) > 0 {
		w.take(string(w.part))
	}
}

func (w *lineWriter) take(line string) {
	if w.line(line) {
		return
	}
	if len(w.last) == outputLimit {
		w.last = slices.Delete(w.last, 0, 1)
	}
	w.last = append(w.last, line)
}
