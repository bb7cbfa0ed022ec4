// Package ci reads the matrix: the one file that names the versions of
// Kubernetes, etcd and KWOK that Seatrial runs.
package ci

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

//go:embed matrix.yaml
var embedded []byte

// The names that Lookup takes besides versions.
const (
	// Newest is the newest release of the matrix.
	Newest = "newest"
	// Oldest is the oldest release of the matrix.
	Oldest = "oldest"
)

// Matrix is what Seatrial runs. It is made by Load or Parse and never empty.
type Matrix struct {
	// Releases are the Kubernetes releases, oldest first, one a minor version.
	Releases []Release
}

// Release is one Kubernetes release and the programs that run beside it. All
// versions are canonical semantic versions, such as "v1.37.2".
type Release struct {
	Kubernetes string
	Etcd       string
	KWOK       string
}

// Minor returns the minor version of Kubernetes without the "v", such as "1.37".
func (r Release) Minor() string {
	return strings.TrimPrefix(semver.MajorMinor(r.Kubernetes), "v")
}

// Load returns the matrix of this build of Seatrial.
func Load() (Matrix, error) {
	m, err := Parse(embedded)
	if err != nil {
		return Matrix{}, fmt.Errorf("ci/matrix.yaml: %w", err)
	}
	return m, nil
}

// Newest returns the newest release.
func (m Matrix) Newest() Release { return m.Releases[len(m.Releases)-1] }

// Oldest returns the oldest release.
func (m Matrix) Oldest() Release { return m.Releases[0] }

// Lookup returns the release that name means: a minor version ("1.37",
// "v1.37"), a full one ("v1.37.2", "1.37.2"), Newest or Oldest; the empty name
// means Newest. The error for any other name is an *UnknownVersionError.
func (m Matrix) Lookup(name string) (Release, error) {
	switch name {
	case "", Newest:
		return m.Newest(), nil
	case Oldest:
		return m.Oldest(), nil
	}
	want := strings.TrimPrefix(name, "v")
	at := slices.IndexFunc(m.Releases, func(r Release) bool {
		return want == r.Minor() || "v"+want == r.Kubernetes
	})
	if at < 0 {
		return Release{}, &UnknownVersionError{Version: name, Known: m.versions()}
	}
	return m.Releases[at], nil
}

func (m Matrix) versions() []string {
	known := make([]string, 0, len(m.Releases))
	for _, r := range m.Releases {
		known = append(known, r.Kubernetes)
	}
	return known
}

// UnknownVersionError says that the matrix has no such Kubernetes version.
type UnknownVersionError struct {
	// Version is what was asked for.
	Version string
	// Known are the versions of the matrix, oldest first.
	Known []string
}

// Error implements error.
func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("unknown Kubernetes version %q: known are %s (or a minor version such as %q, %q, %q)",
		e.Version, strings.Join(e.Known, ", "),
		strings.TrimPrefix(semver.MajorMinor(e.Known[len(e.Known)-1]), "v"), Newest, Oldest)
}
