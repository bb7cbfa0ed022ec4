package assets

import (
	"fmt"
	"slices"
)

// Source is where a program comes from.
type Source string

// The sources.
const (
	// SourceDirectory is the explicit directory, KUBEBUILDER_ASSETS.
	SourceDirectory Source = "dir"
	// SourceCache is what an earlier download or build left.
	SourceCache Source = "cache"
	// SourceDownload is the official release files.
	SourceDownload Source = "download"
	// SourceBuild is the Go compiler and the pinned module.
	SourceBuild Source = "build"
)

// Auto is the name that stands for all sources in their order.
const Auto = "auto"

// Sources returns every source, in the order in which they are tried.
func Sources() []Source {
	return []Source{SourceDirectory, SourceCache, SourceDownload, SourceBuild}
}

// ParseSources returns the sources that name stands for: all of them for Auto
// and the empty name, else the one of that name. The error lists the names.
func ParseSources(name string) ([]Source, error) {
	if name == "" || name == Auto {
		return Sources(), nil
	}
	if s := Source(name); slices.Contains(Sources(), s) {
		return []Source{s}, nil
	}
	return nil, fmt.Errorf("unknown source %q: must be %s or one of %s", name, Auto, join(Sources(), ", "))
}
