package subject

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

const widgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status:
            type: object
            properties:
              observedGeneration: {type: integer}
              conditions: {type: array, items: {type: object}}
  - name: v1alpha1
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

const account = `apiVersion: v1
kind: ServiceAccount
metadata: {name: operator, namespace: widgets}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: widgets}
spec: {template: {spec: {serviceAccountName: operator}}}
`

const widget = `apiVersion: example.com/v1
kind: Widget
metadata: {name: sample}
`

// write lays out a subject's directory and returns the subject file.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "seatrial.yaml")
}

func layout(changes map[string]string) map[string]string {
	files := map[string]string{
		"seatrial.yaml":       strings.Replace(minimal, "crds: [crds]", "crds: [crds]\n  manifests: [rbac]\n  samples: [samples]", 1),
		"crds/widget.yaml":    widgetCRD,
		"rbac/account.yaml":   account,
		"samples/widget.yaml": widget,
	}
	for name, content := range changes {
		if content == "" {
			delete(files, name)
			continue
		}
		files[name] = content
	}
	return files
}

func TestLoadInfersWhatTheFileLeavesUnsaid(t *testing.T) {
	got, err := Load(write(t, layout(map[string]string{"rbac/deployment.yaml": deployment})))
	if err != nil {
		t.Fatal(err)
	}
	wantPrimary := []history.PrimaryResource{{
		Group: "example.com", Kind: "Widget", Resource: "widgets", Versions: []string{"v1"},
		Features: []trial.Feature{trial.FeatureStatus, trial.FeatureObservedGeneration, trial.FeatureConditions},
	}}
	if diff := cmp.Diff(wantPrimary, got.Primary); diff != "" {
		t.Error(diff)
	}
	if want := (trial.ServiceAccountRef{Namespace: "widgets", Name: "operator"}); got.Account != want {
		t.Errorf("account is %v, want %v", got.Account, want)
	}
	if len(got.LeftOut) != 1 || len(got.Manifests) != 1 {
		t.Errorf("left out %d objects and kept %d, want the Deployment left out and the account kept", len(got.LeftOut), len(got.Manifests))
	}
	for _, want := range []string{"serviceAccount is widgets/operator", "Deployment widgets/operator", "a sample counts as ready"} {
		if !strings.Contains(strings.Join(got.Inferred, "\n"), want) {
			t.Errorf("nothing in %q says %q", got.Inferred, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := map[string]struct {
		changes map[string]string
		want    string
	}{
		"a directory that does not exist": {
			map[string]string{"crds/widget.yaml": ""}, "spec.crds[0]: reading manifests: stat ",
		},
		"CRDs that are none": {
			map[string]string{"crds/widget.yaml": account}, "spec.crds holds no CustomResourceDefinition",
		},
		"a CRD that serves nothing": {
			map[string]string{"crds/widget.yaml": strings.Replace(widgetCRD, "served: true", "served: false", 1)}, "serves no version",
		},
		"a duplicate key in a manifest": {
			map[string]string{"samples/widget.yaml": widget + "kind: Widget\n"}, `samples/widget.yaml: document 1: yaml: unmarshal errors: line 4: key "kind" already set in map`,
		},
		"a document that is no object": {
			map[string]string{"samples/widget.yaml": "hello: world\n"}, "not a Kubernetes object",
		},
		"a sample of somebody else's kind": {
			map[string]string{"samples/widget.yaml": widget + "---\n" + strings.ReplaceAll(widget, "example.com", "other.io")},
			`Widget.other.io "sample" is not of the subject's kinds (Widget.example.com)`,
		},
		"samples without one of the subject's kinds": {
			map[string]string{"samples/widget.yaml": account}, "spec.samples holds no object of the subject's kinds (Widget.example.com)",
		},
		"a sample in a version that is not served": {
			map[string]string{"samples/widget.yaml": strings.Replace(widget, "v1", "v1alpha1", 1)}, "version v1alpha1 is not served",
		},
		"no ServiceAccount": {
			map[string]string{"rbac/account.yaml": strings.Replace(account, "ServiceAccount", "Namespace", 1)}, "spec.serviceAccount is not set and the manifests hold no ServiceAccount",
		},
		"two ServiceAccounts": {
			map[string]string{"rbac/other.yaml": strings.Replace(account, "operator", "other", 1)}, "the manifests hold 2 ServiceAccounts",
		},
		"a CEL expression that does not compile": {
			map[string]string{"seatrial.yaml": layout(nil)["seatrial.yaml"] + "  ready: {cel: 'self.status.'}\n"}, "spec.ready.cel: ERROR",
		},
		"a CEL expression that is no question": {
			map[string]string{"seatrial.yaml": layout(nil)["seatrial.yaml"] + "  ready: {cel: '1 + 1'}\n"}, "must yield a bool",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load(write(t, layout(tc.changes)))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q must be one line", err)
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	resource := func(generation int64, conditions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"generation": generation},
			"status":   map[string]any{"conditions": conditions, "observedGeneration": int64(1), "phase": "Running"},
		}}
	}
	cond := func(name, status string) map[string]any { return map[string]any{"type": name, "status": status} }
	tests := map[string]struct {
		spec        *trial.Ready
		resource    *unstructured.Unstructured
		want        bool
		wantMissing string
	}{
		"by convention, Ready decides over Available":        {nil, resource(1, cond("Available", "True"), cond("Ready", "False")), false, `condition Ready is "False"`},
		"by convention, Available decides where Ready lacks": {nil, resource(1, cond("Available", "True")), true, ""},
		"by convention, a resource without any is ready":     {nil, resource(1), true, ""},
		"a named condition must be there":                    {&trial.Ready{Condition: "Ready"}, resource(1), false, "condition Ready is absent"},
		"a condition computed for an older spec does not count": {
			&trial.Ready{Condition: "Ready"}, resource(2, cond("Ready", "True")), false, "True for generation 1, the resource is at 2",
		},
		"CEL decides over self":                      {&trial.Ready{CEL: `self.status.phase == "Running"`}, resource(1), true, ""},
		"CEL over a field that is absent is not yet": {&trial.Ready{CEL: `self.status.nope == 1`}, resource(1), false, "no such key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ready, err := (&Resolved{Subject: trial.Subject{Spec: trial.SubjectSpec{Ready: tc.spec}}}).Readiness()
			if err != nil {
				t.Fatal(err)
			}
			got, missing := ready(tc.resource)
			if got != tc.want || !strings.Contains(missing, tc.wantMissing) {
				t.Errorf("got %v, %q, want %v, %q", got, missing, tc.want, tc.wantMissing)
			}
		})
	}
}
