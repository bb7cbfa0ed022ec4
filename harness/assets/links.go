package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Link returns a directory that has all programs of a set under their names, to
// be used as KUBEBUILDER_ASSETS. It is in the cache, has links to the programs,
// and is the same for the same set.
func (s *Store) Link(ctx context.Context, set Set) (string, error) {
	set = s.resolved(set)
	h := sha256.New()
	for _, f := range set.Files {
		fmt.Fprintln(h, f.Program, f.Path)
	}
	name := set.Release.Kubernetes + "-" + s.platform() + "-" + hex.EncodeToString(h.Sum(nil))[:12]
	dir := filepath.Join(s.sets(), name)
	if linked(dir, set) {
		return dir, nil
	}
	release, err := s.acquire(ctx, "sets", "linking "+set.Release.Kubernetes)
	if err != nil {
		return "", err
	}
	defer release()
	if linked(dir, set) {
		return dir, nil
	}
	temp, remove, err := s.scratch(ctx, "set")
	if err != nil {
		return "", err
	}
	defer remove()
	if err := placeLinks(temp, dir, set); err != nil {
		return "", fmt.Errorf("linking the programs of %s: %w", set.Release.Kubernetes, err)
	}
	return dir, nil
}

// resolved replaces links that an earlier call made, and that came back as the
// explicit directory, by what they link to: else links would pile up.
func (s *Store) resolved(set Set) Set {
	set.Files = slices.Clone(set.Files)
	for i, f := range set.Files {
		if filepath.Dir(filepath.Dir(f.Path)) != s.sets() {
			continue
		}
		if target, err := os.Readlink(f.Path); err == nil {
			set.Files[i].Path = target
		}
	}
	return set
}

func (s *Store) sets() string { return filepath.Join(s.dir, "sets") }

// linked says whether a directory has the links of a set.
func linked(dir string, set Set) bool {
	for _, f := range set.Files {
		if target, err := os.Readlink(filepath.Join(dir, string(f.Program))); err != nil || target != f.Path {
			return false
		}
	}
	return true
}

func placeLinks(temp, dir string, set Set) error {
	stage := filepath.Join(temp, "links")
	if err := os.Mkdir(stage, 0o755); err != nil {
		return err
	}
	for _, f := range set.Files {
		if err := os.Symlink(f.Path, filepath.Join(stage, string(f.Program))); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(temp, "replaced")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(stage, dir)
}
