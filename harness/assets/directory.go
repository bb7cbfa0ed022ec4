package assets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fromDirectory adds the programs of the explicit directory. What it lacks is
// left to the other sources, and said.
func (g *getting) fromDirectory(ctx context.Context, programs []Program) error {
	s := g.store
	files, err := s.directoryFiles(ctx, g.set, programs)
	if ctx.Err() != nil {
		return fmt.Errorf("reading %s: %w", EnvDirectory, ended(ctx))
	}
	g.set.add(files...)
	if err == nil {
		return nil
	}
	g.attempts = append(g.attempts, Attempt{SourceDirectory, err})
	if s.directory != nil && len(s.sources) > 1 {
		s.noticef(EnvDirectory, "%s: %s; using the next sources for %s", SourceDirectory, firstLine(err), join(g.set.missing(programs), ", "))
	}
	return nil
}

// directoryFiles returns those of the programs that the explicit directory has,
// and why it does not have the others.
func (s *Store) directoryFiles(ctx context.Context, set Set, programs []Program) ([]File, error) {
	if s.directory == nil {
		return nil, fmt.Errorf("%s is not set", EnvDirectory)
	}
	if *s.directory == "" {
		return nil, fmt.Errorf("%s is set but empty (unset it, or name the directory that has the programs)", EnvDirectory)
	}
	dir, err := filepath.Abs(*s.directory)
	if err != nil {
		return nil, fmt.Errorf("finding %s: %w", EnvDirectory, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s=%s is not a directory", EnvDirectory, dir)
	}
	var files []File
	var absent []Program
	var wrong error
	for _, p := range programs {
		file, err := s.directoryFile(ctx, dir, p, set)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			absent = append(absent, p)
		case err != nil:
			wrong = errors.Join(wrong, err)
		default:
			files = append(files, file)
		}
	}
	if wrong == nil && len(absent) > 0 {
		wrong = fmt.Errorf("%s has no %s", dir, join(absent, ", "))
	}
	return files, wrong
}

// directoryFile looks at one program of the explicit directory. Those of
// Kubernetes must be of the release that was asked for; etcd and KWOK work
// with any, so their owner's choice is taken.
func (s *Store) directoryFile(ctx context.Context, dir string, p Program, set Set) (File, error) {
	path := filepath.Join(dir, string(p))
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return File{}, fmt.Errorf("%s is not an executable file", path)
	}
	reported, ok := s.versions.get(path, info)
	if !ok {
		if reported, err = askVersion(ctx, p, path); err != nil {
			return File{}, err
		}
		s.versions.put(path, info, reported)
	}
	want := set.Release.Kubernetes
	if kubernetesRecipe(want).makes(p) && reported != want {
		return File{}, &VersionError{Program: p, Origin: dir, Reported: reported, Want: want}
	}
	return File{Program: p, Version: reported, Source: SourceDirectory, Path: path}, nil
}
