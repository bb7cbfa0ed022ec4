package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// sources are the paths that decide what is in the image. Changes elsewhere do
// not make it another image.
var sources = []string{"go.mod", "go.sum", "operator", "ci/image"}

// stamp is what an image says of its origin.
type stamp struct {
	version  string
	revision string
	created  time.Time
	dirty    bool
}

// stampOf takes from the arguments and the environment what they say, and the
// rest from git.
func stampOf(ctx context.Context, a arguments, epoch string) (stamp, error) {
	s := stamp{version: a.version, revision: a.revision}
	if epoch == "" {
		said, err := git(ctx, a.root, "log", "-1", "--format=%ct")
		if err != nil {
			return s, err
		}
		epoch = said
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return s, fmt.Errorf("SOURCE_DATE_EPOCH is %q: it must be seconds since 1970", epoch)
	}
	s.created = time.Unix(seconds, 0).UTC()
	if s.version != "" && s.revision != "" {
		return s, nil
	}
	return s, s.ask(ctx, a.root)
}

// ask fills in from git what is empty.
func (s *stamp) ask(ctx context.Context, root string) error {
	changes, err := git(ctx, root, append([]string{"status", "--porcelain", "--"}, sources...)...)
	if err != nil {
		return err
	}
	revision, err := git(ctx, root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	version, err := git(ctx, root, "describe", "--tags", "--always", "--abbrev=12")
	if err != nil {
		return err
	}
	suffix := ""
	if s.dirty = changes != ""; s.dirty {
		suffix = "-dirty"
	}
	if s.revision == "" {
		s.revision = revision + suffix
	}
	if s.version == "" {
		s.version = version + suffix
	}
	return nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return "", fmt.Errorf("asking git for the commit (outside a clone give -version, -revision and SOURCE_DATE_EPOCH): %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
