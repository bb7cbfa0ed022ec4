package assets

import (
	"slices"

	"github.com/seatrial/seatrial/ci"
)

// File is a program that is there to run.
type File struct {
	Program Program `json:"program"`
	// Version is what the program reports, with a "v".
	Version string `json:"version"`
	// Source is where the program came from: SourceDirectory, or the download
	// or build that put it in the cache.
	Source Source `json:"source"`
	// Path is absolute.
	Path string `json:"path"`
	// SHA256 is in hex; it is empty for a file of an explicit directory.
	SHA256 string `json:"sha256,omitempty"`
}

// Set is the programs of one release.
type Set struct {
	Release ci.Release
	// Files are in the order of Programs.
	Files []File
}

// Path returns the absolute path of a program, and the empty string when the
// request did not name it.
func (s Set) Path(p Program) string {
	f, _ := s.File(p)
	return f.Path
}

// File returns a program's file, and false when the request did not name it.
func (s Set) File(p Program) (File, bool) {
	at := slices.IndexFunc(s.Files, func(f File) bool { return f.Program == p })
	if at < 0 {
		return File{}, false
	}
	return s.Files[at], true
}

// missing returns those of these programs that the set lacks.
func (s Set) missing(programs []Program) []Program {
	var lacking []Program
	for _, p := range programs {
		if _, ok := s.File(p); !ok {
			lacking = append(lacking, p)
		}
	}
	return lacking
}

func (s *Set) add(files ...File) {
	s.Files = append(s.Files, files...)
	order := Programs()
	slices.SortFunc(s.Files, func(a, b File) int {
		return slices.Index(order, a.Program) - slices.Index(order, b.Program)
	})
}
