//go:build envtest

package install

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/trial"
)

// parse reads one object of YAML.
func parse(t *testing.T, text string) []manifest.Object {
	t.Helper()
	path := t.TempDir() + "/object.yaml"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestResourcesOfACRDCanBeAppliedOnceItIsInstalled makes many CRDs, each in a
// group of its own: discovery knows a new group a moment after the API server
// serves it.
func TestResourcesOfACRDCanBeAppliedOnceItIsInstalled(t *testing.T) {
	c, err := local.Start(t.Context(), local.Options{
		Level: trial.LevelAPIServer, Programs: local.ProgramsIn(os.Getenv("KUBEBUILDER_ASSETS")), TemplateDir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	installer, err := New(c.Config(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		group := fmt.Sprintf("g%d.example.com", i)
		crd := parse(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`)
		if err := installer.CRDs(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
		thing := parse(t, "{apiVersion: "+group+"/v1, kind: Thing, metadata: {name: x}}")
		if err := installer.All(t.Context(), thing); err != nil {
			t.Fatal(err)
		}
	}
}
