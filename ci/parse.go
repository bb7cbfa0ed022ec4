package ci

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/semver"

	"github.com/seatrial/seatrial/harness/strictyaml"
)

// file is the form of matrix.yaml.
type file struct {
	Kubernetes []kubernetes `yaml:"kubernetes"`
	Etcd       version      `yaml:"etcd"`
	KWOK       version      `yaml:"kwok"`
}

type kubernetes struct {
	Version version `yaml:"version"`
}

// version is a version and the line where it stands.
type version struct {
	value string
	line  int
}

// UnmarshalYAML takes a canonical semantic version with its "v".
func (v *version) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || semver.Canonical(node.Value) != node.Value {
		return fmt.Errorf("line %d: %q is not a full version such as v1.37.2", node.Line, node.Value)
	}
	*v = version{value: node.Value, line: node.Line}
	return nil
}

// Parse reads a matrix. Unknown and duplicate fields, versions that are not
// full semantic versions, and releases out of order are errors that name their
// line.
func Parse(content []byte) (Matrix, error) {
	var f file
	if err := strictyaml.Decode(content, &f); err != nil {
		return Matrix{}, err
	}
	return f.matrix()
}

func (f file) matrix() (Matrix, error) {
	switch {
	case len(f.Kubernetes) == 0:
		return Matrix{}, errors.New("kubernetes must name at least one version")
	case f.Etcd.value == "":
		return Matrix{}, errors.New("etcd must name a version")
	case f.KWOK.value == "":
		return Matrix{}, errors.New("kwok must name a version")
	}
	var m Matrix
	var last version
	for i, k := range f.Kubernetes {
		v := k.Version
		switch {
		case v.value == "":
			return Matrix{}, fmt.Errorf("kubernetes[%d] must have a version", i)
		case last.value != "" && semver.Compare(semver.MajorMinor(v.value), semver.MajorMinor(last.value)) <= 0:
			return Matrix{}, fmt.Errorf("line %d: %s must be of a newer minor version than %s above it", v.line, v.value, last.value)
		}
		last = v
		m.Releases = append(m.Releases, Release{Kubernetes: v.value, Etcd: f.Etcd.value, KWOK: f.KWOK.value})
	}
	return m, nil
}
