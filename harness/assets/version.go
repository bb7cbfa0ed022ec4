package assets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	// versionDeadline is how long a program may take to say its version: a
	// tenth of a second on an idle machine, much more on one that compiles.
	versionDeadline = 30 * time.Second
	// busyDeadline and busyInterval bound the wait for a file that a process
	// forked meanwhile still has open for writing.
	busyDeadline = 5 * time.Second
	busyInterval = 20 * time.Millisecond
)

var versionPattern = regexp.MustCompile(`\bv?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)`)

// askVersion returns the version that a program reports, with a "v".
func askVersion(ctx context.Context, p Program, path string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, versionDeadline)
	defer cancel()
	output, err := runVersion(limited, p, path)
	switch {
	case ctx.Err() != nil:
		return "", ended(ctx)
	case limited.Err() != nil:
		return "", fmt.Errorf("%s did not say its version within %s", path, versionDeadline)
	case err != nil:
		return "", fmt.Errorf("%s does not run here: %w%s", path, err, quoteFirst(output))
	}
	match := versionPattern.FindSubmatch(output)
	if match == nil {
		return "", fmt.Errorf("%s does not report a version%s", path, quoteFirst(output))
	}
	return "v" + string(match[1]), nil
}

// runVersion runs the program, again while its file is busy: another goroutine
// may have forked while this process had it open for writing.
func runVersion(ctx context.Context, p Program, path string) ([]byte, error) {
	busy := time.After(busyDeadline)
	for {
		cmd := exec.CommandContext(ctx, path, p.versionArgs()...)
		// kubectl reads the user's configuration otherwise.
		cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		err := runOwned(cmd)
		if !errors.Is(err, syscall.ETXTBSY) {
			return output.Bytes(), err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-busy:
			return nil, err
		case <-time.After(busyInterval):
		}
	}
}

func quoteFirst(output []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(" (it says %q)", line)
}
