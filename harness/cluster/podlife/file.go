package podlife

import (
	"fmt"
	"os"
	"time"

	"github.com/seatrial/seatrial/harness/strictyaml"
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
	if err := strictyaml.Decode(content, &f); err != nil {
		return nil, err
	}
	if f.APIVersion != APIVersion || f.Kind != Kind {
		return nil, fmt.Errorf("apiVersion and kind must be %s and %s", APIVersion, Kind)
	}
	scripts := make([]Script, 0, len(f.Scripts))
	for _, s := range f.Scripts {
		scripts = append(scripts, Script(s))
	}
	return scripts, Validate(scripts)
}
