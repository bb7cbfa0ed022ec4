package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
)

const config = "../../config"

func crd(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(config, "crd/bases/cache.example.com_redisclusters.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestCRDIsOfTheTypes(t *testing.T) {
	got := crd(t)
	want := apiextensionsv1.CustomResourceDefinitionNames{
		Kind: redisv1alpha1.Kind, ListKind: "RedisClusterList",
		Plural: "redisclusters", Singular: "rediscluster", ShortNames: []string{"rdc"},
	}
	if diff := cmp.Diff(want, got.Spec.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got.Spec.Group != redisv1alpha1.Group || got.Spec.Scope != apiextensionsv1.NamespaceScoped {
		t.Errorf("group %s, scope %s", got.Spec.Group, got.Spec.Scope)
	}
	if len(got.Spec.Versions) != 1 || got.Spec.Versions[0].Name != redisv1alpha1.GroupVersion.Version {
		t.Fatalf("versions are %v", got.Spec.Versions)
	}
}

func TestCRDServesWhatKubectlNeeds(t *testing.T) {
	version := crd(t).Spec.Versions[0]
	var columns []string
	for _, c := range version.AdditionalPrinterColumns {
		columns = append(columns, fmt.Sprintf("%s %s %d", c.Name, c.JSONPath, c.Priority))
	}
	want := []string{
		"Replicas .spec.replicas 0", "Ready .status.readyReplicas 0", "Phase .status.phase 0",
		"Image .spec.image 1", "Age .metadata.creationTimestamp 0",
	}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	scale := &apiextensionsv1.CustomResourceSubresourceScale{
		SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: new(".status.selector"),
	}
	if diff := cmp.Diff(scale, version.Subresources.Scale); diff != "" || version.Subresources.Status == nil {
		t.Errorf("status %v, scale (-want +got):\n%s", version.Subresources.Status, diff)
	}
}

func TestConstantsAreThoseOfTheCRD(t *testing.T) {
	schema := crd(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := schema.Properties["spec"]
	for name, want := range map[string]string{
		"replicas": fmt.Sprint(redisv1alpha1.DefaultReplicas),
		"image":    fmt.Sprintf("%q", redisv1alpha1.DefaultImage),
	} {
		property := spec.Properties[name]
		if property.Default == nil || string(property.Default.Raw) != want {
			t.Errorf("default of %s is %v, want %s", name, property.Default, want)
		}
	}
	if spec.Default == nil || string(spec.Default.Raw) != "{}" {
		t.Errorf("default of spec is %v: without one, an object without spec has no replicas to scale", spec.Default)
	}
	rule := fmt.Sprintf("self.metadata.name.size() <= %d", redisv1alpha1.MaxNameLength)
	if got := schema.XValidations[0].Rule; got != rule {
		t.Errorf("rule is %q, want %q", got, rule)
	}
}

// TestEverythingIsBounded guards the cost of CEL rules, and etcd.
func TestEverythingIsBounded(t *testing.T) {
	schema := crd(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, part := range []string{"spec", "status"} {
		bounded(t, part, schema.Properties[part])
	}
}

func bounded(t *testing.T, path string, s apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if lacks := unbounded(s); lacks != "" {
		t.Errorf("%s %s", path, lacks)
	}
	for name, property := range s.Properties {
		bounded(t, path+"."+name, property)
	}
	if s.Items != nil {
		bounded(t, path+"[]", *s.Items.Schema)
	}
}

func unbounded(s apiextensionsv1.JSONSchemaProps) string {
	closed := len(s.Enum) > 0 || s.Format == "date-time"
	switch {
	case s.Type == "string" && !closed && s.MaxLength == nil:
		return "has no maxLength"
	case s.Type == "array" && s.MaxItems == nil:
		return "has no maxItems"
	case s.Type == "integer" && s.Minimum == nil:
		return "has no minimum"
	case s.Type == "number":
		return "is a float"
	default:
		return ""
	}
}

func TestSamplesAreOfTheTypes(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(config, "samples/cache_*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sample := &redisv1alpha1.RedisCluster{}
			if err := yaml.UnmarshalStrict(content, sample); err != nil {
				t.Fatal(err)
			}
			if got := sample.GroupVersionKind(); got != redisv1alpha1.GroupVersion.WithKind(redisv1alpha1.Kind) {
				t.Errorf("the sample is a %s", got)
			}
		})
	}
}

func TestSchemeKnowsTheTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := redisv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{redisv1alpha1.Kind, "RedisClusterList"} {
		if !scheme.Recognizes(redisv1alpha1.GroupVersion.WithKind(kind)) {
			t.Errorf("the scheme does not know %s", kind)
		}
	}
}

// TestWhatGoDoesNotSetIsLeftToTheAPIServer keeps Go clients from sending
// replicas: 0, which is refused.
func TestWhatGoDoesNotSetIsLeftToTheAPIServer(t *testing.T) {
	encoded, err := json.Marshal(&redisv1alpha1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Name: "demo"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(encoded), `{"metadata":{"name":"demo"}}`; got != want {
		t.Errorf("encoded %s, want %s", got, want)
	}
}
