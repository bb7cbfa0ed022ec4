package assets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Leftover is something in the cache that nothing needs.
type Leftover struct {
	// Path is the directory.
	Path string `json:"path"`
	// Why says what it is.
	Why string `json:"why"`
	// Size is what it occupies, in bytes.
	Size int64 `json:"size"`
}

// Prune removes programs that the matrix does not name, or names with another
// pin, directories of links to them, and what killed processes left. In a dry
// run it removes nothing. It returns what it removes.
func (s *Store) Prune(ctx context.Context, dry bool) ([]Leftover, error) {
	release, err := s.acquire(ctx, "tmp", "pruning")
	if err != nil {
		return nil, err
	}
	defer release()
	leftovers, err := s.unnamed()
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, l := range leftovers {
		gone[l.Path] = true
	}
	sets, err := s.danglingSets(gone)
	if err != nil {
		return nil, err
	}
	dead, err := s.sweep(true)
	if err != nil {
		return nil, err
	}
	leftovers = append(leftovers, sets...)
	for _, dir := range dead {
		leftovers = append(leftovers, Leftover{Path: dir, Why: "temporary files of a process that is gone"})
	}
	for i := range leftovers {
		leftovers[i].Size = diskUse(leftovers[i].Path)
	}
	if dry {
		return leftovers, nil
	}
	return leftovers, s.discard(leftovers)
}

// discard removes each by renaming it away first, so that nobody ever finds half
// of a program. The caller holds the lock "tmp", so that nobody sweeps meanwhile.
func (s *Store) discard(leftovers []Leftover) error {
	if err := os.MkdirAll(s.tmp(), 0o755); err != nil {
		return fmt.Errorf("pruning: %w", err)
	}
	trash, err := os.MkdirTemp(s.tmp(), "prune-")
	if err != nil {
		return fmt.Errorf("pruning: %w", err)
	}
	for i, l := range leftovers {
		if err := os.Rename(l.Path, filepath.Join(trash, fmt.Sprint(i))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("pruning: %w", err)
		}
	}
	if err := os.RemoveAll(trash); err != nil {
		return fmt.Errorf("pruning: %w", err)
	}
	return nil
}

// unnamed returns the programs that the matrix does not name. Those of other
// platforms are kept when it names them: machines may share the cache.
func (s *Store) unnamed() ([]Leftover, error) {
	named := map[[3]string]bool{}
	for _, release := range s.matrix.Releases {
		recipes, err := recipes(s.pins, release)
		if err != nil {
			return nil, err
		}
		for _, r := range recipes {
			for p := range r.packages {
				named[[3]string{string(p), r.version, r.key()}] = true
			}
		}
	}
	entries, err := filepath.Glob(filepath.Join(s.dir, "programs", "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("reading the cache: %w", err)
	}
	var leftovers []Leftover
	for _, dir := range entries {
		version, key := splitEntry(filepath.Base(dir))
		if !named[[3]string{filepath.Base(filepath.Dir(dir)), version, key}] {
			leftovers = append(leftovers, Leftover{Path: dir, Why: "not named by the matrix"})
		}
	}
	return leftovers, nil
}

// splitEntry returns the version and the key in VERSION-OS-ARCH-KEY. A version
// may have dashes of its own.
func splitEntry(name string) (version, key string) {
	parts := strings.Split(name, "-")
	if len(parts) < 4 {
		return "", ""
	}
	return strings.Join(parts[:len(parts)-3], "-"), parts[len(parts)-1]
}

// danglingSets returns the directories of links to programs that are not there,
// or are gone soon.
func (s *Store) danglingSets(gone map[string]bool) ([]Leftover, error) {
	links, err := filepath.Glob(filepath.Join(s.sets(), "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("reading the cache: %w", err)
	}
	var leftovers []Leftover
	seen := map[string]bool{}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err == nil && !gone[filepath.Dir(target)] {
			_, err = os.Stat(target)
			if err == nil {
				continue
			}
		}
		if dir := filepath.Dir(link); !seen[dir] {
			seen[dir] = true
			leftovers = append(leftovers, Leftover{Path: dir, Why: "links to programs that are gone"})
		}
	}
	return leftovers, nil
}

// diskUse is the size of all files in a directory. What cannot be read does not
// count.
func diskUse(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a size that is a little too small does no harm
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
