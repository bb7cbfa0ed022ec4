package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// architectures are what the image is built for, on Linux.
var architectures = []string{"amd64", "arm64"}

// program is one that is in the image.
type program struct {
	// name is that of its file, at the root of the image.
	name string
	// pkg is its package, as the go command is told.
	pkg string
}

// programs are all that the image may hold. A test holds them to be all that
// operator/cmd has.
var programs = []program{
	{name: "backup", pkg: "./operator/cmd/backup"},
	{name: "manager", pkg: "./operator/cmd/manager"},
}

// shipped returns the programs that the repository has. The manager, without
// which there is no image, is always one.
func shipped(root string) []program {
	var found []program
	for _, p := range programs {
		// The pattern is well formed, which is all that Glob complains of.
		sources, _ := filepath.Glob(filepath.Join(root, p.pkg, "*.go"))
		if len(sources) > 0 || p.name == entrypoint {
			found = append(found, p)
		}
	}
	return found
}

// compile builds a program without C and without anything that depends on
// where and when it is built, and returns its content.
func compile(ctx context.Context, root string, s stamp, architecture string, p program) ([]byte, error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, fmt.Errorf("making a directory to build in: %w", err)
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, p.name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", "-s -w -buildid= -X main.version="+s.version, "-o", to, p.pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), settings(architecture)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("building %s for linux/%s: %w", p.name, architecture, ctx.Err())
		}
		return nil, fmt.Errorf("building %s for linux/%s: %w\n%s", p.name, architecture, err, strings.TrimSpace(string(said)))
	}
	content, err := os.ReadFile(to)
	if err != nil {
		return nil, fmt.Errorf("reading what was built: %w", err)
	}
	return content, nil
}

// settings overrule whatever in the environment would change the program.
func settings(architecture string) []string {
	return []string{
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + architecture, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off",
	}
}
