package controller

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

func TestWhomAnObjectConcerns(t *testing.T) {
	tests := map[string]struct {
		object string
		want   []string
	}{
		"the name of a RedisCluster":                        {"demo", []string{"demo"}},
		"a name that is made from one":                      {"demo-config", []string{"demo"}},
		"a name that is one and is made from another":       {"demo-nodes", []string{"demo-nodes", "demo"}},
		"a name that is made from one that is not there":    {"other-nodes", nil},
		"a suffix alone, which no RedisCluster can lead to": {"-nodes", nil},
		"the name of a RedisCluster in another namespace":   {"elsewhere", nil},
	}
	scheme := runtime.NewScheme()
	if err := redisv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	known := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&redisv1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "redis", Name: "demo"}},
		&redisv1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "redis", Name: "demo-nodes"}},
		&redisv1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "elsewhere"}},
	).Build()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []ctrl.Request
			for _, name := range tc.want {
				want = append(want, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "redis", Name: name}})
			}
			o := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "redis", Name: tc.object}}
			if diff := cmp.Diff(want, concerned(t.Context(), known, o)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryChildIsWatched fails when a child gets a name that its watch would
// not lead back from.
func TestEveryChildIsWatched(t *testing.T) {
	watched := map[string]bool{}
	for _, o := range kinds() {
		watched[typeName(o)] = true
	}
	for _, child := range resource.Children() {
		if !watched[typeName(child.New())] {
			t.Errorf("%s is not watched", child.Kind)
		}
		var back bool
		for _, name := range claimants(child.Name("demo")) {
			back = back || name == "demo"
		}
		if !back {
			t.Errorf("%s %s does not lead back to demo", child.Kind, child.Name("demo"))
		}
	}
}

func TestSlimForgetsStrangersOnly(t *testing.T) {
	data := map[string]string{"key": "value"}
	tests := map[string]struct {
		meta metav1.ObjectMeta
		want map[string]string
	}{
		"a stranger":                      {metav1.ObjectMeta{Name: "x"}, nil},
		"owned by another kind":           {metav1.ObjectMeta{Name: "x", OwnerReferences: controlledBy("Deployment")}, nil},
		"owned by a RedisCluster":         {metav1.ObjectMeta{Name: "x", OwnerReferences: controlledBy("RedisCluster")}, data},
		"made by us, robbed of its owner": {metav1.ObjectMeta{Name: "x", Labels: map[string]string{resource.LabelClusterUID: "u"}}, data},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			slim, err := Slim(&corev1.ConfigMap{ObjectMeta: tc.meta, Data: data})
			if err != nil {
				t.Fatal(err)
			}
			got, ok := slim.(*corev1.ConfigMap)
			if !ok {
				t.Fatalf("got a %T", slim)
			}
			if diff := cmp.Diff(tc.want, got.Data); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.meta.OwnerReferences, got.OwnerReferences); diff != "" || got.Name != "x" {
				t.Errorf("identity was lost: %s, %s", got.Name, diff)
			}
		})
	}
}

func TestSlimKnowsEveryWatchedKind(t *testing.T) {
	for _, o := range kinds() {
		o.SetAnnotations(map[string]string{"note": "long"})
		slim, err := Slim(o)
		if err != nil {
			t.Fatal(err)
		}
		kept, ok := slim.(client.Object)
		if !ok || typeName(kept) != typeName(o) || kept.GetAnnotations() != nil {
			t.Errorf("%T became %T with annotations", o, slim)
		}
	}
}

func controlledBy(kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "x", UID: "u", Controller: new(true)}}
}

func typeName(o client.Object) string { return reflect.TypeOf(o).String() }
