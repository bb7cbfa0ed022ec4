package assets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seatrial/seatrial/ci"
)

// State is how a program stands in the cache.
type State string

// The states.
const (
	// StatePresent is a program that is there; whether its checksum was
	// verified depends on who was asked.
	StatePresent State = "present"
	// StateAbsent is a program that has not been got yet.
	StateAbsent State = "absent"
	// StateDamaged is a program that is not what was put there.
	StateDamaged State = "damaged"
)

// Item is one program of the matrix and how it stands in the cache.
type Item struct {
	Program Program `json:"program"`
	Version string  `json:"version"`
	// Kubernetes is the oldest release of those asked for that uses it.
	Kubernetes string `json:"kubernetes"`
	State      State  `json:"state"`
	// Problem says what is damaged.
	Problem string `json:"problem,omitempty"`
	// Source is the download or build that made it; empty unless present.
	Source Source `json:"source,omitempty"`
	Origin string `json:"origin,omitempty"`
	// Size is in bytes.
	Size      int64      `json:"size,omitempty"`
	Installed *time.Time `json:"installed,omitempty"`
	Path      string     `json:"path,omitempty"`
}

// List says how the programs of these releases stand, without reading them:
// of a file only its size is looked at.
func (s *Store) List(releases []ci.Release) ([]Item, error) {
	return s.items(releases, func(path string, m *manifest) error {
		info, err := os.Stat(path)
		if err != nil || info.Size() != m.Size {
			return &DamagedError{Path: path, Problem: "is missing or has another size"}
		}
		return nil
	})
}

// Verify says how the programs of these releases stand, reading all of each.
func (s *Store) Verify(ctx context.Context, releases []ci.Release) ([]Item, error) {
	s.checksums.forget()
	return s.items(releases, func(path string, m *manifest) error { return s.verify(ctx, path, m) })
}

// items makes the list; check is asked of what is there, side by side.
func (s *Store) items(releases []ci.Release, check func(string, *manifest) error) ([]Item, error) {
	var items []*Item
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	seen := map[string]bool{}
	for _, release := range releases {
		recipes, err := recipes(s.pins, release)
		if err != nil {
			return nil, err
		}
		for _, r := range recipes {
			if seen[r.String()] {
				continue
			}
			seen[r.String()] = true
			for _, p := range r.of(Programs()) {
				item := &Item{Program: p, Version: r.version, Kubernetes: release.Kubernetes}
				items = append(items, item)
				group.Go(func() error { return s.look(item, r, check) })
			}
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	list := make([]Item, 0, len(items))
	for _, item := range items {
		list = append(list, *item)
	}
	return list, nil
}

func (s *Store) look(item *Item, r recipe, check func(string, *manifest) error) error {
	dir := s.entry(r, item.Program)
	m, err := s.readManifest(dir, r, item.Program)
	if m == nil && err == nil {
		item.State = StateAbsent
		return nil
	}
	if err == nil {
		path := filepath.Join(dir, string(item.Program))
		item.Source, item.Origin, item.Size, item.Installed, item.Path = m.Source, m.Origin, m.Size, &m.Installed, path
		err = check(path, m)
	}
	item.State = StatePresent
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		item.State, item.Problem = StateDamaged, damaged.Path+" "+damaged.Problem
		return nil
	}
	return err
}
