package subject

import (
	"fmt"
	"path/filepath"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/trial"
)

// Resolved is a subject with the files that it names read and what it left
// unsaid worked out.
type Resolved struct {
	trial.Subject
	// File is the subject file, Dir the directory that its paths start from.
	File, Dir string

	CRDs      []manifest.Object
	Manifests []manifest.Object
	Samples   []manifest.Object
	// LeftOut are the workloads of the manifests that would run the operator
	// a second time, inside the cluster.
	LeftOut []manifest.Object

	// Primary are the resources that the CRDs define.
	Primary []history.PrimaryResource
	// Account is who the operator is to the API server.
	Account trial.ServiceAccountRef
	// Inferred says, a sentence each, what the file left unsaid and what was
	// made of it.
	Inferred []string
}

// Load reads the subject file at path and all that it names. Its errors are
// one line, name the file, and mean that the input is wrong.
func Load(path string) (*Resolved, error) {
	decoded, err := decode(path)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("reading the subject file: %w", err)
	}
	r := &Resolved{Subject: decoded, File: path, Dir: filepath.Dir(absolute)}
	if err := r.readFiles(); err != nil {
		return nil, fmt.Errorf("subject file %s: %w", path, err)
	}
	for _, step := range []func() error{r.resolvePrimary, r.resolveAccount, r.checkSamples, r.checkReady} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("subject file %s: %w", path, err)
		}
	}
	return r, nil
}

func (r *Resolved) readFiles() error {
	lists := []struct {
		field string
		paths []string
		into  *[]manifest.Object
	}{
		{"spec.crds", r.Spec.CRDs, &r.CRDs},
		{"spec.manifests", r.Spec.Manifests, &r.Manifests},
		{"spec.samples", r.Spec.Samples, &r.Samples},
	}
	for _, list := range lists {
		for i, path := range list.paths {
			objects, err := manifest.Read(r.Path(path))
			if err != nil {
				return fmt.Errorf("%s[%d]: %w", list.field, i, err)
			}
			*list.into = append(*list.into, objects...)
		}
	}
	return nil
}

// Path returns path as it is seen from the subject file's directory.
func (r *Resolved) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Dir, path)
}

// SampleNamespace is where samples go that name no namespace.
func (r *Resolved) SampleNamespace() string { return "trial" }

func (r *Resolved) inferf(format string, args ...any) {
	r.Inferred = append(r.Inferred, fmt.Sprintf(format, args...))
}
