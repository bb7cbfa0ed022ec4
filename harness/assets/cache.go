package assets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// unreadable says that the cache as such cannot be read.
func (s *Store) unreadable(err error) error {
	return fmt.Errorf("reading the cache (choose another with %s): %w", EnvCache, err)
}

const manifestName = "manifest.json"

// manifest stands beside each program of the cache.
type manifest struct {
	Program Program `json:"program"`
	Version string  `json:"version"`
	OS      string  `json:"os"`
	Arch    string  `json:"arch"`
	// SHA256 is in hex.
	SHA256 string `json:"sha256"`
	// Size is in bytes.
	Size   int64  `json:"size"`
	Source Source `json:"source"`
	// Origin is the URL or module that the program is from.
	Origin    string    `json:"origin"`
	Installed time.Time `json:"installed"`
}

// platform is how the directories of this machine's programs are named.
func (s *Store) platform() string { return s.os + "-" + s.arch }

// entry is the directory of one program in the cache. A directory is there
// whole or not at all.
func (s *Store) entry(r recipe, p Program) string {
	return filepath.Join(s.dir, "programs", string(p), r.version+"-"+s.platform()+"-"+r.key())
}

// cached returns a program of the cache after verifying it, and nil when the
// cache does not have it. A file that is not what was put there is a
// *DamagedError, yet without the command that repairs it.
func (s *Store) cached(ctx context.Context, r recipe, p Program) (*File, error) {
	dir := s.entry(r, p)
	m, err := s.readManifest(dir, r, p)
	if m == nil || err != nil {
		return nil, err
	}
	path := filepath.Join(dir, string(p))
	if err := s.verify(ctx, path, m); err != nil {
		return nil, err
	}
	return m.file(path), nil
}

func (m *manifest) file(path string) *File {
	return &File{Program: m.Program, Version: m.Version, Source: m.Source, Path: path, SHA256: m.SHA256}
}

// readManifest returns the manifest of an entry, and nil when there is no entry.
// One that is missing or not the entry's is a *DamagedError.
func (s *Store) readManifest(dir string, r recipe, p Program) (*manifest, error) {
	path := filepath.Join(dir, manifestName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, &DamagedError{Path: path, Problem: "is missing"}
	}
	if err != nil {
		return nil, s.unreadable(err)
	}
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return nil, &DamagedError{Path: path, Problem: "is not a manifest: " + err.Error()}
	}
	if m.Program != p || m.Version != r.version || m.OS != s.os || m.Arch != s.arch {
		return nil, &DamagedError{Path: path, Problem: fmt.Sprintf("is of %s %s for %s-%s", m.Program, m.Version, m.OS, m.Arch)}
	}
	return &m, nil
}

// verify holds a file against its manifest.
func (s *Store) verify(ctx context.Context, path string, m *manifest) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DamagedError{Path: path, Problem: "is missing"}
	case err != nil:
		return s.unreadable(err)
	case info.Size() != m.Size:
		return &DamagedError{Path: path, Problem: fmt.Sprintf("has %d bytes instead of %d", info.Size(), m.Size)}
	case info.Mode()&0o111 == 0:
		return &DamagedError{Path: path, Problem: "is not executable"}
	}
	if known, ok := s.checksums.get(path, info); ok && known == m.SHA256 {
		return nil
	}
	sum, err := hashFile(ctx, path)
	if err != nil {
		return s.unreadable(err)
	}
	if sum != m.SHA256 {
		return &DamagedError{Path: path, Problem: fmt.Sprintf("has the SHA-256 %s instead of %s", sum, m.SHA256)}
	}
	s.checksums.put(path, info, sum)
	return nil
}
