package assets

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seatrial/seatrial/ci"
)

// Request asks for programs.
type Request struct {
	// Kubernetes names a release as ci.Matrix.Lookup takes it; empty means the
	// newest.
	Kubernetes string
	// Programs are those that are needed; empty means all.
	Programs []Program
	// Force gets them again and replaces what the cache has, also when it is
	// damaged.
	Force bool
}

// Get returns the programs, getting those that are not there. It waits for
// other processes that get the same ones.
//
// Errors: a *ci.UnknownVersionError; a *DamagedError for a damaged file of the
// cache; an *UnavailableError when no source has a program.
func (s *Store) Get(ctx context.Context, r Request) (Set, error) {
	release, err := s.matrix.Lookup(r.Kubernetes)
	if err != nil {
		return Set{}, err
	}
	want := r.Programs
	if len(want) == 0 {
		want = Programs()
	}
	recipes, err := recipes(s.pins, release)
	if err != nil {
		return Set{}, err
	}
	g := &getting{store: s, force: r.Force, set: Set{Release: release}}
	if s.uses(SourceDirectory) {
		if err := g.fromDirectory(ctx, want); err != nil {
			return Set{}, err
		}
	}
	if !g.force {
		if err := g.fromCache(ctx, recipes, want); err != nil {
			return Set{}, err
		}
	}
	for _, recipe := range recipes {
		programs := recipe.of(g.set.missing(want))
		if len(programs) == 0 {
			continue
		}
		if err := g.obtain(ctx, recipe, programs); err != nil {
			return Set{}, err
		}
	}
	return g.set, nil
}

// getting is one request under way.
type getting struct {
	store *Store
	force bool
	set   Set
	// attempts are the sources that were tried for all components.
	attempts []Attempt
}

// obtain adds programs of one component that the cache does not have.
func (g *getting) obtain(ctx context.Context, r recipe, programs []Program) error {
	s := g.store
	attempts := slices.Clone(g.attempts)
	if s.uses(SourceCache) && !g.force {
		attempts = append(attempts, Attempt{SourceCache, g.notCached()})
	}
	if s.uses(SourceDownload) || s.uses(SourceBuild) {
		tried, err := g.make(ctx, r, programs)
		if err != nil {
			return err
		}
		attempts = append(attempts, tried...)
	}
	if programs = g.set.missing(programs); len(programs) > 0 {
		return &UnavailableError{Programs: programs, Version: r.version, Attempts: attempts}
	}
	return nil
}

// notCached says that the cache does not have a program, and what gets it where
// no other source may be used.
func (g *getting) notCached() error {
	err := fmt.Errorf("not in %s", g.store.dir)
	if !g.store.uses(SourceDownload) && !g.store.uses(SourceBuild) {
		return fmt.Errorf("%w (get it with: seatrial assets get --kubernetes %s)", err, g.set.Release.Kubernetes)
	}
	return err
}

// make has the providers make programs under the component's lock. It returns
// the sources that failed.
func (g *getting) make(ctx context.Context, r recipe, programs []Program) ([]Attempt, error) {
	s := g.store
	release, err := s.acquire(ctx, s.lockName(r), "getting "+r.String())
	if err != nil {
		return nil, err
	}
	defer release()
	if !g.force {
		// Another process may have got them while this one waited.
		if err := g.fromCache(ctx, []recipe{r}, programs); err != nil {
			return nil, err
		}
	}
	var attempts []Attempt
	for _, source := range []Source{SourceDownload, SourceBuild} {
		programs = g.set.missing(programs)
		if !s.uses(source) || len(programs) == 0 {
			continue
		}
		files, err := s.fetch(ctx, source, r, programs)
		g.set.add(files...)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("getting %s: %w", r, ended(ctx))
		}
		if err != nil {
			attempts = append(attempts, Attempt{source, err})
			if source == SourceDownload && s.uses(SourceBuild) {
				s.noticef(r.String(), "%s: %s; building instead", source, firstLine(err))
			}
		}
	}
	return attempts, nil
}

// fetch has one provider make programs and puts those that it made into the
// cache.
func (s *Store) fetch(ctx context.Context, source Source, r recipe, programs []Program) ([]File, error) {
	dir, remove, err := s.scratch(ctx, r.component+"-"+r.version)
	if err != nil {
		return nil, err
	}
	defer remove()
	m := s.newMeter(r.String())
	stop := m.start(ctx)
	j := job{recipe: r, programs: programs, dir: dir, os: s.os, arch: s.arch}
	made, err := s.providers[source].fetch(ctx, j, m)
	stop()
	var files []File
	for _, f := range made {
		file, refused := s.install(ctx, j, source, f)
		if refused != nil {
			err = errors.Join(err, refused)
			continue
		}
		files = append(files, file)
	}
	return files, err
}

// fromCache adds what the cache has of these programs. Checksums are computed
// side by side.
func (g *getting) fromCache(ctx context.Context, recipes []recipe, programs []Program) error {
	programs = g.set.missing(programs)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	found := make(chan File, len(programs))
	for _, r := range recipes {
		for _, p := range r.of(programs) {
			group.Go(func() error {
				file, err := g.store.cached(ctx, r, p)
				if err == nil && file != nil && g.store.mayUse(file.Source) {
					found <- *file
				}
				return withRepair(err, g.set.Release, p)
			})
		}
	}
	err := group.Wait()
	close(found)
	for file := range found {
		g.set.add(file)
	}
	return err
}

// mayUse says whether a program in the cache that came from this source may be
// used.
func (s *Store) mayUse(from Source) bool { return s.uses(SourceCache) || s.uses(from) }

// withRepair adds the command that replaces p to the error that it is damaged.
func withRepair(err error, release ci.Release, p Program) error {
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		damaged.Repair = fmt.Sprintf("seatrial assets get --kubernetes %s --programs %s --force", release.Kubernetes, p)
	}
	return err
}
