//go:build envtest

package install

import (
	"fmt"
	"os"
	"testing"

	"github.com/seatrial/seatrial/harness/internal/servertest"
	"github.com/seatrial/seatrial/harness/manifest"
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
	installer, err := New(servertest.Start(t), "default")
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
