package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

var update = flag.Bool("update", false, "write the golden files")

func cluster() *redisv1.RedisCluster {
	return &redisv1.RedisCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "redis", Name: "demo", UID: "uid-of-demo", Generation: 1},
		Spec: redisv1.RedisClusterSpec{
			Topology: redisv1.Topology{Shards: 3},
			Image:    redisv1.ParseImage("redis:7.0"),
		},
	}
}

// applied returns the observation after everything was applied once, with the
// managedFields that an API server would keep.
func applied(t *testing.T, c *redisv1.RedisCluster) (Observation, client.Client) {
	t.Helper()
	server := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().Build()
	o := Observation{Cluster: c}
	for _, child := range resource.Children() {
		err := server.Apply(t.Context(), child.Desired(o.Target()), client.FieldOwner(resource.FieldManager))
		if err != nil {
			t.Fatalf("applying %s: %v", child.Kind, err)
		}
	}
	return observe(t, c, server), server
}

func observe(t *testing.T, c *redisv1.RedisCluster, server client.Client) Observation {
	t.Helper()
	o := Observation{Cluster: c, Live: map[resource.Role]client.Object{}}
	for _, child := range resource.Children() {
		live := child.New()
		key := client.ObjectKey{Namespace: c.Namespace, Name: child.Name(c.Name)}
		if err := server.Get(t.Context(), key, live); err != nil {
			t.Fatalf("reading %s: %v", child.Kind, err)
		}
		o.Live[child.Role] = live
	}
	return o
}

// TestPlans holds plans in words: each scenario begins with everything applied
// and changes something.
func TestPlans(t *testing.T) {
	tests := map[string]struct {
		golden string
		change func(*Observation)
	}{
		"nothing is there yet": {"create-all", func(o *Observation) {
			clear(o.Live)
		}},
		"nothing has changed": {"nothing", func(*Observation) {}},
		"more replicas are asked for": {"scale-out", func(o *Observation) {
			o.Cluster.Spec.Topology.ReplicasPerShard = 1
		}},
		"fewer replicas and another image are asked for": {"scale-in-and-update", func(o *Observation) {
			o.Cluster.Spec.Topology.Shards = 1
			o.Cluster.Spec.Image.Tag = "7.2"
		}},
		"fewer shards are asked for, but their nodes are still needed": {"nothing", func(o *Observation) {
			o.Cluster.Spec.Topology.Shards = 1
			o.Pods = 3
		}},
		"one child is gone": {"recreate", func(o *Observation) {
			delete(o.Live, resource.RoleClient)
		}},
		"a child lost its owner reference": {"reown", func(o *Observation) {
			o.Live[resource.RoleClient].SetOwnerReferences(nil)
		}},
		"a stranger has the ConfigMap's name": {"taken-config", func(o *Observation) {
			clear(o.Live)
			o.Live[resource.RoleConfig] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo-config"}}
		}},
		"another controller has the client Service's name": {"taken-service", func(o *Observation) {
			o.Live[resource.RoleClient] = &corev1.Service{ObjectMeta: metav1.ObjectMeta{
				Name:            "demo",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "x", Controller: new(true)}},
			}}
		}},
		"the children of an earlier RedisCluster are still there": {"predecessor", func(o *Observation) {
			for _, live := range o.Live {
				references := live.GetOwnerReferences()
				references[0].UID = "uid-of-an-earlier-demo"
				live.SetOwnerReferences(references)
			}
		}},
		"the headless Service is being deleted": {"child-goes", func(o *Observation) {
			o.Live[resource.RoleNodes].SetDeletionTimestamp(new(metav1.Now()))
			o.Cluster.Spec.Topology.ReplicasPerShard = 1
		}},
		"the RedisCluster is being deleted": {"nothing", func(o *Observation) {
			o.Cluster.DeletionTimestamp = new(metav1.Now())
			clear(o.Live)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := applied(t, cluster())
			tc.change(&o)
			before := o.Cluster.DeepCopy()
			p, err := Make(o)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tc.golden, p.String())
			if diff := cmp.Diff(before, o.Cluster); diff != "" {
				t.Errorf("planning changed the RedisCluster (-before +after):\n%s", diff)
			}
		})
	}
}

// TestPlanAfterAStranger changes objects through an API server, so that fields
// change hands.
func TestPlanAfterAStranger(t *testing.T) {
	tests := map[string]struct {
		golden string
		change func(*appsv1.StatefulSet)
	}{
		"scales the StatefulSet": {"drift-replicas", func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(1)) }},
		"adds what is not ours": {"nothing", func(s *appsv1.StatefulSet) {
			s.Annotations = map[string]string{"example.org/note": "mine"}
			s.Spec.MinReadySeconds = 5
		}},
		"changes a label of ours": {"drift-label", func(s *appsv1.StatefulSet) { s.Labels[resource.LabelInstance] = "other" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster()
			o, server := applied(t, c)
			set, ok := o.Live[resource.RoleSet].(*appsv1.StatefulSet)
			if !ok {
				t.Fatalf("the set is a %T", o.Live[resource.RoleSet])
			}
			tc.change(set)
			if err := server.Update(t.Context(), set, client.FieldOwner("stranger")); err != nil {
				t.Fatal(err)
			}
			p, err := Make(observe(t, c, server))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tc.golden, p.String())
		})
	}
}

func TestOnlyTakingPodsAwayShrinks(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas int32
		want     bool
	}{
		"fewer pods": {2, true},
		"more pods":  {4, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := applied(t, cluster())
			o.Cluster.Spec.Topology.Shards = tc.replicas
			p, err := Make(o)
			if err != nil {
				t.Fatal(err)
			}
			operation, found := p.For(resource.RoleSet)
			if !found || operation.Shrinks != tc.want {
				t.Errorf("operation on the set: found %t, shrinks %t, want %t", found, operation.Shrinks, tc.want)
			}
		})
	}
}

func TestPlanSaysWhichObjectItCannotCompare(t *testing.T) {
	o, _ := applied(t, cluster())
	fields := o.Live[resource.RoleConfig].GetManagedFields()
	fields[0].FieldsV1.SetRawString(`{"x":{}}`)
	_, err := Make(o)
	if err == nil {
		t.Fatal("managedFields that cannot be read must be an error")
	}
	if want := "comparing ConfigMap demo-config: "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %q, want it to begin with %q", err, want)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("plan (-want +got), go test -update writes it:\n%s", diff)
	}
}
