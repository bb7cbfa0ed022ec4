package resource

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var update = flag.Bool("update", false, "write the golden files")

func cluster() *redisv1.RedisCluster {
	return &redisv1.RedisCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "redis", Name: "demo", UID: "uid-of-demo"},
		Spec: redisv1.RedisClusterSpec{
			Topology: redisv1.Topology{Shards: 3, ReplicasPerShard: 1},
			Image:    redisv1.ParseImage("example.org/redis:7.0"),
		},
	}
}

// TestChildren holds each child as YAML.
func TestChildren(t *testing.T) {
	for _, child := range Children() {
		t.Run(string(child.Role), func(t *testing.T) {
			golden(t, string(child.Role)+".yaml", child.Desired(TargetOf(cluster(), nil, 0)))
		})
	}
}

func golden(t *testing.T, name string, configuration runtime.ApplyConfiguration) {
	t.Helper()
	got, err := yaml.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), go test -update writes it:\n%s", name, diff)
	}
}

func TestPinnedAppliesToOneObjectOnly(t *testing.T) {
	for _, child := range Children() {
		pinned, err := yaml.Marshal(child.Pinned(TargetOf(cluster(), nil, 0), "uid", "17"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"uid: uid\n", `resourceVersion: "17"`} {
			if !strings.Contains(string(pinned), want) {
				t.Errorf("%s: pinned configuration lacks %q:\n%s", child.Role, want, pinned)
			}
		}
	}
}

func TestNamesFitTheLongestRedisCluster(t *testing.T) {
	longest := strings.Repeat("a", redisv1.MaxNameLength)
	for _, child := range Children() {
		name := child.Name(longest)
		if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
			t.Errorf("%s %s: %v", child.Kind, name, problems)
		}
	}
	// The label controller-revision-hash of a pod: the StatefulSet's name and a
	// hash of ten characters.
	if problems := validation.IsValidLabelValue(longest + "-0123456789"); len(problems) > 0 {
		t.Errorf("the pods' revision label: %v", problems)
	}
}

func TestNeedsComeFirst(t *testing.T) {
	seen := map[Role]bool{}
	for _, child := range Children() {
		for _, need := range child.Needs {
			if !seen[need] {
				t.Errorf("%s needs %s, which comes later", child.Role, need)
			}
		}
		seen[child.Role] = true
	}
}

func TestOwnedRefusesAnotherKind(t *testing.T) {
	if _, err := configMap().Owned(&corev1.Service{}); err == nil {
		t.Error("a Service was taken for a ConfigMap")
	}
}

func TestBelongs(t *testing.T) {
	tests := map[string]struct {
		meta                 metav1.ObjectMeta
		belongs, predecessor bool
	}{
		"controlled by it":                     {meta: metav1.ObjectMeta{OwnerReferences: owned("RedisCluster", "demo", "uid-of-demo")}, belongs: true},
		"controlled by an earlier one":         {meta: metav1.ObjectMeta{OwnerReferences: owned("RedisCluster", "demo", "old")}, predecessor: true},
		"controlled by another RedisCluster":   {meta: metav1.ObjectMeta{OwnerReferences: owned("RedisCluster", "other", "other")}},
		"controlled by another kind":           {meta: metav1.ObjectMeta{OwnerReferences: owned("Deployment", "demo", "x")}},
		"a stranger":                           {meta: metav1.ObjectMeta{}},
		"a stranger with its label":            {meta: metav1.ObjectMeta{Labels: map[string]string{LabelClusterUID: "uid-of-demo"}}},
		"robbed of its owner":                  {meta: metav1.ObjectMeta{Labels: map[string]string{LabelClusterUID: "uid-of-demo"}, ManagedFields: wroteIt()}, belongs: true},
		"an orphan of an earlier RedisCluster": {meta: metav1.ObjectMeta{Labels: map[string]string{LabelClusterUID: "old"}, ManagedFields: wroteIt()}},
		"robbed of its owner and its label":    {meta: metav1.ObjectMeta{ManagedFields: wroteIt()}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var o client.Object = &corev1.ConfigMap{ObjectMeta: tc.meta}
			if got := Belongs(o, cluster()); got != tc.belongs {
				t.Errorf("Belongs is %t, want %t", got, tc.belongs)
			}
			if got := Predecessor(o, cluster()); got != tc.predecessor {
				t.Errorf("Predecessor is %t, want %t", got, tc.predecessor)
			}
		})
	}
}

func owned(kind, name, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: "cache.example.com/v1beta1", Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true),
	}}
}

func wroteIt() []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply}}
}
