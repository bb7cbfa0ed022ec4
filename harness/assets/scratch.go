package assets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ownerName is the lock in a temporary directory that its owner holds for as
// long as it lives.
const ownerName = "owner.lock"

// scratch makes a temporary directory in the file system of the cache, after
// removing those whose owners are dead. The caller calls remove.
func (s *Store) scratch(ctx context.Context, name string) (dir string, remove func(), err error) {
	release, err := s.acquire(ctx, "tmp", "making a temporary directory")
	if err != nil {
		return "", nil, err
	}
	defer release()
	// What cannot be removed does not hinder this process; prune reports it.
	_, _ = s.sweep(false)
	if err := os.MkdirAll(s.tmp(), 0o755); err != nil {
		return "", nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	dir, err = os.MkdirTemp(s.tmp(), name+"-")
	if err != nil {
		return "", nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	owner := flock.New(filepath.Join(dir, ownerName))
	if ok, err := owner.TryLock(); !ok {
		return "", nil, errors.Join(fmt.Errorf("locking the temporary directory %s: %w", dir, err), os.RemoveAll(dir))
	}
	return dir, func() {
		_ = os.RemoveAll(dir) // what is left, the next process removes
		_ = owner.Close()
	}, nil
}

func (s *Store) tmp() string { return filepath.Join(s.dir, "tmp") }

// sweep removes the temporary directories whose owners are dead, or only
// returns them in a dry run. The caller holds the lock "tmp", under which each
// new directory gets its owner's lock.
func (s *Store) sweep(dry bool) ([]string, error) {
	entries, err := os.ReadDir(s.tmp())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the temporary directories: %w", err)
	}
	var dead []string
	for _, e := range entries {
		dir := filepath.Join(s.tmp(), e.Name())
		owner := flock.New(filepath.Join(dir, ownerName))
		ok, err := owner.TryLock()
		if err == nil && !ok {
			continue // its owner lives
		}
		dead = append(dead, dir)
		if !dry {
			err = errors.Join(os.RemoveAll(dir), owner.Close())
		} else {
			err = owner.Close()
		}
		if err != nil {
			return dead, fmt.Errorf("removing a temporary directory: %w", err)
		}
	}
	return dead, nil
}
