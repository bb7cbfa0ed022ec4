package ci

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/semver"
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
	dec := yaml.NewDecoder(bytes.NewReader(content))
	dec.KnownFields(true)
	switch err := dec.Decode(&f); {
	case errors.Is(err, io.EOF):
		return Matrix{}, errors.New("is empty")
	case err != nil:
		return Matrix{}, plain(err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Matrix{}, errors.New("holds more than one document")
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

var unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)

// plain says a YAML error in one line and in the words of the file.
func plain(err error) error {
	message := strings.Join(strings.Fields(err.Error()), " ")
	message = strings.TrimPrefix(message, "yaml: ")
	message = strings.TrimPrefix(message, "unmarshal errors: ")
	return errors.New(unknownField.ReplaceAllString(message, `unknown field "$1"`))
}
