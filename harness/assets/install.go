package assets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// install puts a program that a provider made into the cache, after asking it
// for its version. The caller holds the component's lock.
func (s *Store) install(ctx context.Context, j job, source Source, f fetched) (File, error) {
	path := filepath.Join(j.dir, string(f.program))
	// Nobody needs to write to a program of the cache.
	if err := os.Chmod(path, 0o555); err != nil {
		return File{}, fmt.Errorf("installing %s: %w", f.program, err)
	}
	reported, err := askVersion(ctx, f.program, path)
	if err != nil {
		return File{}, err
	}
	if reported != j.recipe.version {
		return File{}, &VersionError{Program: f.program, Origin: f.origin, Reported: reported, Want: j.recipe.version}
	}
	m, err := s.describe(ctx, j, source, f, path)
	if err != nil {
		return File{}, fmt.Errorf("installing %s: %w", f.program, err)
	}
	entry := s.entry(j.recipe, f.program)
	if err := place(j.dir, path, entry, m); err != nil {
		return File{}, fmt.Errorf("installing %s: %w", f.program, err)
	}
	installed := filepath.Join(entry, string(f.program))
	if info, err := os.Stat(installed); err == nil {
		s.checksums.put(installed, info, m.SHA256)
	}
	return *m.file(installed), nil
}

func (s *Store) describe(ctx context.Context, j job, source Source, f fetched, path string) (*manifest, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	sum, err := hashFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return &manifest{
		Program: f.program, Version: j.recipe.version, OS: s.os, Arch: s.arch,
		SHA256: sum, Size: info.Size(), Source: source, Origin: f.origin, Installed: s.now().UTC(),
	}, nil
}

// place makes the entry whole in the temporary directory and renames it, so
// that no reader and no crash ever sees half of it.
func place(temp, program, entry string, m *manifest) error {
	stage := filepath.Join(temp, "entry-"+string(m.Program))
	if err := makeEntry(stage, program, m); err != nil {
		return err
	}
	parent := filepath.Dir(entry)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// A directory that is not empty cannot be renamed over.
	if err := os.Rename(entry, filepath.Join(temp, "replaced-"+string(m.Program))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(stage, entry); err != nil {
		return err
	}
	return syncPath(parent)
}

// makeEntry makes a directory of the program and its manifest that survives a
// power failure.
func makeEntry(dir, program string, m *manifest) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	moved, described := filepath.Join(dir, string(m.Program)), filepath.Join(dir, manifestName)
	if err := os.Rename(program, moved); err != nil {
		return err
	}
	if err := os.WriteFile(described, append(content, '\n'), 0o644); err != nil {
		return err
	}
	return errors.Join(syncPath(moved), syncPath(described), syncPath(dir))
}

// syncPath makes a file or directory survive a power failure.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
