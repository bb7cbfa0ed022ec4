package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
)

const config = "../config"

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

// crdVersions returns the versions of the CRD by name.
func crdVersions(t *testing.T) map[string]apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	byName := map[string]apiextensionsv1.CustomResourceDefinitionVersion{}
	for _, v := range crd(t).Spec.Versions {
		byName[v.Name] = v
	}
	return byName
}

func TestCRDIsOfTheTypes(t *testing.T) {
	got := crd(t)
	want := apiextensionsv1.CustomResourceDefinitionNames{
		Kind: redisv1.Kind, ListKind: "RedisClusterList",
		Plural: "redisclusters", Singular: "rediscluster", ShortNames: []string{"rdc"},
	}
	if diff := cmp.Diff(want, got.Spec.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got.Spec.Group != redisv1.Group || got.Spec.Scope != apiextensionsv1.NamespaceScoped {
		t.Errorf("group %s, scope %s", got.Spec.Group, got.Spec.Scope)
	}
	var states []string
	for _, v := range got.Spec.Versions {
		states = append(states, fmt.Sprintf("%s served=%t storage=%t deprecated=%t", v.Name, v.Served, v.Storage, v.Deprecated))
	}
	if diff := cmp.Diff([]string{
		"v1 served=true storage=true deprecated=false",
		"v1alpha1 served=true storage=false deprecated=true",
		"v1beta1 served=true storage=false deprecated=false",
	}, states); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// TestAPIServersTakeTheCRD runs the checks that an API server makes, those of
// defaults and of the cost of CEL rules among them.
func TestAPIServersTakeTheCRD(t *testing.T) {
	internal := &apiextensions.CustomResourceDefinition{}
	external := crd(t)
	apiextensionsv1.SetDefaults_CustomResourceDefinition(external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(external, internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{redisv1.GroupVersion.Version}
	for _, problem := range validation.ValidateCustomResourceDefinition(t.Context(), internal) {
		t.Error(problem)
	}
}

func TestCRDServesWhatKubectlNeeds(t *testing.T) {
	want := map[string]struct {
		columns              []string
		specPath, statusPath string
	}{
		"v1alpha1": {[]string{
			"Replicas .spec.replicas 0", "Ready .status.readyReplicas 0", "Phase .status.phase 0",
			"Image .spec.image 1", "Age .metadata.creationTimestamp 0",
		}, ".spec.replicas", ".status.replicas"},
		"v1beta1": {[]string{
			"Shards .spec.shards 0", "Ready-Shards .status.readyShards 0", "Phase .status.phase 0",
			"Image .spec.image 1", "Age .metadata.creationTimestamp 0",
		}, ".spec.shards", ".status.shards"},
		"v1": {[]string{
			"Shards .spec.topology.shards 0", "Ready-Shards .status.readyShards 0", "Phase .status.phase 0",
			"Image .spec.image.repository 1", "Tag .spec.image.tag 1", "Age .metadata.creationTimestamp 0",
		}, ".spec.topology.shards", ".status.shards"},
	}
	for name, version := range crdVersions(t) {
		t.Run(name, func(t *testing.T) {
			var columns []string
			for _, c := range version.AdditionalPrinterColumns {
				columns = append(columns, fmt.Sprintf("%s %s %d", c.Name, c.JSONPath, c.Priority))
			}
			if diff := cmp.Diff(want[name].columns, columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			scale := &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath: want[name].specPath, StatusReplicasPath: want[name].statusPath,
				LabelSelectorPath: new(".status.selector"),
			}
			if diff := cmp.Diff(scale, version.Subresources.Scale); diff != "" || version.Subresources.Status == nil {
				t.Errorf("status %v, scale (-want +got):\n%s", version.Subresources.Status, diff)
			}
		})
	}
}

// TestDefaultsAreThoseOfTheCode holds the defaults of the schema against those
// that the operator takes where a field is absent.
func TestDefaultsAreThoseOfTheCode(t *testing.T) {
	spec := crdVersions(t)["v1"].Schema.OpenAPIV3Schema.Properties["spec"]
	var topology redisv1.Topology
	for path, want := range map[string]string{
		"topology.shards":                 fmt.Sprint(topology.Primaries()),
		"nodeTimeoutMilliseconds":         fmt.Sprint(redisv1.RedisClusterSpec{}.NodeTimeout()),
		"auth.mode":                       `"None"`,
		"storage.type":                    `"Ephemeral"`,
		"updateStrategy.type":             fmt.Sprintf("%q", redisv1.UpdateStrategy{}.Strategy()),
		"scheduling.podAntiAffinity.mode": fmt.Sprintf("%q", redisv1.PodAntiAffinity{}.AntiAffinity()),
		"storage.persistent.size":         fmt.Sprintf("%q", redisv1.DefaultStorageSize),
		"auth.password.secretRef.key":     fmt.Sprintf("%q", redisv1.DefaultPasswordKey),
	} {
		property := spec
		for step := range strings.SplitSeq(path, ".") {
			property = property.Properties[step]
		}
		if property.Default == nil || string(property.Default.Raw) != want {
			t.Errorf("default of %s is %v, want %s", path, property.Default, want)
		}
	}
	image := redisv1.Image{}
	if err := json.Unmarshal(spec.Properties["image"].Default.Raw, &image); err != nil {
		t.Fatal(err)
	}
	if got, want := image.Reference(), (redisv1.Image{}).Reference(); got != want {
		t.Errorf("the default image is %s, want %s", got, want)
	}
}

func TestEveryVersionLimitsTheName(t *testing.T) {
	rule := fmt.Sprintf("self.metadata.name.size() <= %d", redisv1.MaxNameLength)
	for name, version := range crdVersions(t) {
		schema := version.Schema.OpenAPIV3Schema
		if got := schema.XValidations[0].Rule; got != rule {
			t.Errorf("%s: rule is %q, want %q", name, got, rule)
		}
		spec := schema.Properties["spec"]
		if spec.Default == nil || string(spec.Default.Raw) != "{}" {
			t.Errorf("%s: default of spec is %v: without one, an object without spec has nothing to scale", name, spec.Default)
		}
	}
}

// borrowed are fields of Kubernetes' own types, whose inner limits are not ours
// to set.
var borrowed = []string{".resources", ".tolerations", ".topologySpreadConstraints"}

// TestEverythingIsBounded guards the cost of CEL rules, and etcd.
func TestEverythingIsBounded(t *testing.T) {
	for name, version := range crdVersions(t) {
		for _, part := range []string{"spec", "status"} {
			bounded(t, name+" "+part, version.Schema.OpenAPIV3Schema.Properties[part])
		}
	}
}

func bounded(t *testing.T, path string, s apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if lacks := unbounded(s); lacks != "" {
		t.Errorf("%s %s", path, lacks)
	}
	if slices.ContainsFunc(borrowed, func(field string) bool { return strings.HasSuffix(path, field) }) {
		return
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

// kinds returns an empty object of each version.
func kinds() map[string]client.Object {
	return map[string]client.Object{
		redisv1alpha1.GroupVersion.String(): &redisv1alpha1.RedisCluster{},
		redisv1beta1.GroupVersion.String():  &redisv1beta1.RedisCluster{},
		redisv1.GroupVersion.String():       &redisv1.RedisCluster{},
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
			kind := metav1.TypeMeta{}
			if err := yaml.Unmarshal(content, &kind); err != nil {
				t.Fatal(err)
			}
			sample, known := kinds()[kind.APIVersion]
			if !known || kind.Kind != redisv1.Kind {
				t.Fatalf("the sample is a %s %s", kind.APIVersion, kind.Kind)
			}
			if err := yaml.UnmarshalStrict(content, sample); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestSchemesKnowTheTypes(t *testing.T) {
	for version, add := range map[string]func(*runtime.Scheme) error{
		"v1alpha1": redisv1alpha1.AddToScheme, "v1beta1": redisv1beta1.AddToScheme, "v1": redisv1.AddToScheme,
	} {
		scheme := runtime.NewScheme()
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{redisv1.Kind, "RedisClusterList"} {
			if gvk := redisv1.GroupVersion.WithKind(kind); !scheme.Recognizes(gvk.GroupKind().WithVersion(version)) {
				t.Errorf("the scheme does not know %s %s", version, kind)
			}
		}
	}
}

// TestWhatGoDoesNotSetIsLeftToTheAPIServer keeps Go clients from sending
// zeros, such as replicas: 0, which is refused.
func TestWhatGoDoesNotSetIsLeftToTheAPIServer(t *testing.T) {
	for version, object := range kinds() {
		object.SetName("demo")
		encoded, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(encoded), `{"metadata":{"name":"demo"}}`; got != want {
			t.Errorf("%s: encoded %s, want %s", version, got, want)
		}
	}
}
