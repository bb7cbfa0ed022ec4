package subject

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/seatrial/seatrial/harness/strictyaml"
	"github.com/seatrial/seatrial/harness/trial"
)

// decode reads the subject file at path. Unknown and duplicate fields are
// errors that name their line.
func decode(path string) (trial.Subject, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return trial.Subject{}, fmt.Errorf("reading the subject file: %w", err)
	}
	s, err := decodeStrict(content)
	if err != nil {
		return trial.Subject{}, fmt.Errorf("subject file %s: %w", path, err)
	}
	return s, nil
}

func decodeStrict(content []byte) (trial.Subject, error) {
	var s trial.Subject
	if err := strictyaml.Decode(content, &s); err != nil {
		return s, err
	}
	return s, validate(s)
}

// validate holds s against the rules that need no other file.
func validate(s trial.Subject) error {
	switch {
	case s.APIVersion != trial.SubjectAPIVersion:
		return fmt.Errorf("apiVersion must be %q, not %q", trial.SubjectAPIVersion, s.APIVersion)
	case s.Kind != trial.SubjectKind:
		return fmt.Errorf("kind must be %q, not %q", trial.SubjectKind, s.Kind)
	case len(validation.IsDNS1123Label(s.Metadata.Name)) > 0:
		return fmt.Errorf("metadata.name %q must be a DNS label: lower-case letters, digits and '-', at most 63", s.Metadata.Name)
	case len(s.Spec.CRDs) == 0:
		return errors.New("spec.crds must name at least one file or directory")
	case len(s.Spec.Command) == 0 || s.Spec.Command[0] == "":
		return errors.New("spec.command must name the operator's program")
	case s.Spec.Build != nil && len(s.Spec.Build.Command) == 0:
		return errors.New("spec.build.command must name a program")
	}
	return errors.Join(validateRefs(s.Spec), validateEnv(s.Spec.Env), validateChecks(s.Spec.Checks))
}

func validateRefs(spec trial.SubjectSpec) error {
	if sa := spec.ServiceAccount; sa != nil && (sa.Name == "" || sa.Namespace == "") {
		return errors.New("spec.serviceAccount must have a namespace and a name")
	}
	if w := spec.Webhooks; w != nil && (w.Port < 0 || w.Port > 65535) {
		return fmt.Errorf("spec.webhooks.port %d must be between 0 and 65535", w.Port)
	}
	if r := spec.Ready; r != nil && (r.Condition == "") == (r.CEL == "") {
		return errors.New("spec.ready must have either a condition or a cel expression")
	}
	return nil
}

func validateEnv(env []trial.EnvVar) error {
	for i, v := range env {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") {
			return fmt.Errorf("spec.env[%d].name %q is not the name of a variable", i, v.Name)
		}
	}
	return nil
}

func validateChecks(checks []trial.CheckOptions) error {
	seen := map[string]bool{}
	for i, c := range checks {
		switch {
		case c.ID == "":
			return fmt.Errorf("spec.checks[%d].id must name a check", i)
		case seen[c.ID]:
			return fmt.Errorf("spec.checks[%d]: options for %s are given twice", i, c.ID)
		case strings.TrimSpace(c.Reason) == "":
			return fmt.Errorf("spec.checks[%d] (%s): a reason must be given", i, c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}
