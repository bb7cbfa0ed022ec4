package podlife

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The header of a file of scripts.
const (
	APIVersion = "seatrial.dev/v1alpha1"
	Kind       = "PodLife"
)

// file is what a file of scripts holds.
type file struct {
	APIVersion string       `yaml:"apiVersion"`
	Kind       string       `yaml:"kind"`
	Scripts    []fileScript `yaml:"scripts"`
}

type fileScript struct {
	Name       string            `yaml:"name"`
	Namespace  string            `yaml:"namespace"`
	Pods       string            `yaml:"pods"`
	Labels     map[string]string `yaml:"labels"`
	Behaviour  Behaviour         `yaml:"behaviour"`
	StartDelay time.Duration     `yaml:"startDelay"`
	FailAfter  time.Duration     `yaml:"failAfter"`
}

// Load reads scripts from a file of kind PodLife. Unknown and duplicate fields
// are errors that name their line.
func Load(path string) ([]Script, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading pod life: %w", err)
	}
	scripts, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return scripts, nil
}

// Parse reads scripts from YAML, as Load does.
func Parse(content []byte) ([]Script, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(content))
	dec.KnownFields(true)
	switch err := dec.Decode(&f); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("is empty")
	case err != nil:
		return nil, plain(err)
	case f.APIVersion != APIVersion || f.Kind != Kind:
		return nil, fmt.Errorf("apiVersion and kind must be %s and %s", APIVersion, Kind)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one document")
	}
	scripts := make([]Script, 0, len(f.Scripts))
	for _, s := range f.Scripts {
		scripts = append(scripts, Script(s))
	}
	return scripts, Validate(scripts)
}

var unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)

// plain says a YAML error in one line and in the words of the file.
func plain(err error) error {
	message := strings.Join(strings.Fields(err.Error()), " ")
	message = strings.TrimPrefix(strings.TrimPrefix(message, "yaml: "), "unmarshal errors: ")
	return errors.New(unknownField.ReplaceAllString(message, `unknown field "$1"`))
}
