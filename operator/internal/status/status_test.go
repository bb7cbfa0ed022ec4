package status

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/plan"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

var (
	earlier = metav1.NewTime(time.Date(2030, time.January, 1, 12, 0, 0, 0, time.UTC))
	now     = metav1.NewTime(earlier.Add(time.Hour))
)

// situation is an Input under construction.
type situation struct {
	in  Input
	set *appsv1.StatefulSet
}

// steady is a RedisCluster of three pods, all ready, of which nothing is to be
// done, before its first status.
func steady() *situation {
	c := &redisv1.RedisCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "redis", Name: "demo", UID: "uid", Generation: 2},
		Spec:       redisv1.RedisClusterSpec{Topology: redisv1.Topology{Shards: 3}},
	}
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Generation: 4, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "cache.example.com/v1", Kind: "RedisCluster", Name: "demo", UID: "uid", Controller: new(true),
		}}},
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 4, Replicas: 3, ReadyReplicas: 3, UpdatedReplicas: 3,
			CurrentRevision: "demo-1", UpdateRevision: "demo-1",
		},
	}
	return &situation{set: set, in: Input{
		Now: now,
		Observation: plan.Observation{
			Cluster: c,
			Live:    map[resource.Role]client.Object{resource.RoleSet: set},
		},
	}}
}

// after says what the last status said about progress.
func (s *situation) after(status metav1.ConditionStatus, reason string, generation int64) *situation {
	s.in.Cluster.Status.Conditions = []metav1.Condition{{
		Type: redisv1.ConditionProgressing, Status: status, Reason: reason,
		ObservedGeneration: generation, LastTransitionTime: earlier,
	}}
	return s
}

func (s *situation) pods(replicas, ready int32) *situation {
	s.set.Status.Replicas, s.set.Status.ReadyReplicas = replicas, ready
	return s
}

func (s *situation) with(mod func(*situation)) *situation {
	mod(s)
	return s
}

func (s *situation) planned(verb plan.Verb, role resource.Role, changes ...string) *situation {
	for _, child := range resource.Children() {
		if child.Role == role {
			s.in.Plan = append(s.in.Plan, plan.Operation{Verb: verb, Child: child, Name: child.Name("demo"), Changes: changes})
		}
	}
	return s
}

func TestConditions(t *testing.T) {
	const (
		yes = string(metav1.ConditionTrue)
		no  = string(metav1.ConditionFalse)
	)
	tests := map[string]struct {
		of                                      *situation
		ready, available, progressing, degraded string
		phase                                   string
	}{
		"all is well": {steady(), yes + " PodsReady", yes + " PodsReady", no + " RolledOut", no + " AsExpected", "Ready"},
		"nothing is there": {
			steady().with(func(s *situation) { clear(s.in.Live) }).planned(plan.Create, resource.RoleSet),
			no + " Creating", no + " PodsNotReady", yes + " Creating", no + " AsExpected", "Forming",
		},
		"the first pods get ready": {
			steady().after(metav1.ConditionTrue, redisv1.ReasonCreating, 2).pods(3, 2),
			no + " Creating", yes + " PodsReady", yes + " Creating", no + " AsExpected", "Forming",
		},
		"a pod was lost": {
			steady().after(metav1.ConditionFalse, redisv1.ReasonRolledOut, 2).pods(3, 2),
			no + " PodsNotReady", yes + " PodsReady", no + " RolledOut", yes + " PodsNotReady", "Degraded",
		},
		"all pods were lost": {
			steady().after(metav1.ConditionFalse, redisv1.ReasonRolledOut, 2).pods(0, 0),
			no + " PodsNotReady", no + " PodsNotReady", no + " RolledOut", yes + " PodsNotReady", "Degraded",
		},
		"pods are missing after a change whose status was never written": {
			steady().after(metav1.ConditionFalse, redisv1.ReasonRolledOut, 1).pods(2, 2),
			no + " Scaling", yes + " PodsReady", yes + " Scaling", no + " AsExpected", "Rebalancing",
		},
		"replicas are about to change": {
			steady().after(metav1.ConditionFalse, redisv1.ReasonRolledOut, 1).
				planned(plan.Update, resource.RoleSet, "spec.replicas: 2 -> 3"),
			no + " Scaling", yes + " PodsReady", yes + " Scaling", no + " AsExpected", "Rebalancing",
		},
		"the pods are about to change": {
			steady().after(metav1.ConditionFalse, redisv1.ReasonRolledOut, 1).
				planned(plan.Update, resource.RoleSet, `spec.template.spec.containers[0].image: "a" -> "b"`),
			no + " Updating", yes + " PodsReady", yes + " Updating", no + " AsExpected", "Updating",
		},
		"only a label is about to change": {
			steady().after(metav1.ConditionFalse, redisv1.ReasonRolledOut, 2).
				planned(plan.Update, resource.RoleSet, "metadata.labels.a: (none) -> 1"),
			yes + " PodsReady", yes + " PodsReady", no + " RolledOut", no + " AsExpected", "Ready",
		},
		"the StatefulSet controller has not seen the change yet": {
			steady().after(metav1.ConditionTrue, redisv1.ReasonScaling, 2).with(func(s *situation) { s.set.Generation = 5 }),
			no + " Scaling", yes + " PodsReady", yes + " Scaling", no + " AsExpected", "Rebalancing",
		},
		"pods of two revisions are there": {
			steady().after(metav1.ConditionTrue, redisv1.ReasonUpdating, 2).with(func(s *situation) { s.set.Status.UpdateRevision = "demo-2" }),
			no + " Updating", yes + " PodsReady", yes + " Updating", no + " AsExpected", "Updating",
		},
		"too many pods are still there": {
			steady().after(metav1.ConditionTrue, redisv1.ReasonScaling, 2).pods(5, 5),
			no + " Scaling", yes + " PodsReady", yes + " Scaling", no + " AsExpected", "Rebalancing",
		},
		"the StatefulSet's name is taken": {
			steady().with(func(s *situation) { s.set.OwnerReferences = nil }).planned(plan.Refuse, resource.RoleSet),
			no + " NameTaken", no + " PodsNotReady", no + " NameTaken", yes + " NameTaken", "Degraded",
		},
		"the client Service's name is taken": {
			steady().planned(plan.Refuse, resource.RoleClient),
			no + " NameTaken", no + " NameTaken", no + " RolledOut", yes + " NameTaken", "Degraded",
		},
		"the ConfigMap's name is taken": {
			steady().with(func(s *situation) { clear(s.in.Live) }).planned(plan.Refuse, resource.RoleConfig).planned(plan.Hold, resource.RoleSet),
			no + " NameTaken", no + " PodsNotReady", no + " NameTaken", yes + " NameTaken", "Degraded",
		},
		"an earlier child is still going": {
			steady().planned(plan.Await, resource.RoleNodes).planned(plan.Hold, resource.RoleSet),
			no + " WaitingForDeletion", yes + " PodsReady", yes + " WaitingForDeletion", no + " AsExpected", "Pending",
		},
		"a child was refused by the API server": {
			steady().with(func(s *situation) { s.in.Failure = errors.New("exceeded quota") }),
			no + " ApplyFailed", yes + " PodsReady", no + " RolledOut", yes + " ApplyFailed", "Degraded",
		},
		"it is being deleted": {
			steady().with(func(s *situation) { s.in.Cluster.DeletionTimestamp = &now }).pods(1, 1),
			no + " Deleting", yes + " PodsReady", yes + " Deleting", no + " AsExpected", "Terminating",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Of(tc.of.in)
			said := map[string]string{"phase": got.Phase}
			for _, c := range got.Conditions {
				said[c.Type] = string(c.Status) + " " + c.Reason
				if c.ObservedGeneration != 2 {
					t.Errorf("%s is about generation %d, want 2", c.Type, c.ObservedGeneration)
				}
			}
			want := map[string]string{
				"phase": tc.phase, "Ready": tc.ready, "Available": tc.available,
				"Progressing": tc.progressing, "Degraded": tc.degraded,
			}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if got.ObservedGeneration != 2 || got.Selector == "" {
				t.Errorf("observedGeneration is %d and selector %q", got.ObservedGeneration, got.Selector)
			}
		})
	}
}

func TestTransitionTimes(t *testing.T) {
	s := steady()
	s.in.Now = earlier
	s.in.Cluster.Status = Of(s.in)
	s.in.Now = now
	s.pods(3, 2)
	for _, c := range Of(s.in).Conditions {
		want := earlier
		if c.Type == redisv1.ConditionReady || c.Type == redisv1.ConditionDegraded {
			want = now
		}
		if !c.LastTransitionTime.Equal(&want) {
			t.Errorf("%s changed at %s, want %s", c.Type, c.LastTransitionTime, want)
		}
	}
}

func TestConditionsOfOthersAreKept(t *testing.T) {
	s := steady()
	foreign := metav1.Condition{Type: "Audited", Status: metav1.ConditionTrue, Reason: "Passed", LastTransitionTime: earlier}
	s.in.Cluster.Status.Conditions = []metav1.Condition{foreign}
	got := meta.FindStatusCondition(Of(s.in).Conditions, "Audited")
	if diff := cmp.Diff(&foreign, got); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if len(s.in.Cluster.Status.Conditions) != 1 {
		t.Error("the RedisCluster that was observed was changed")
	}
}

func TestMessagesNameTheObjectAndAreLimited(t *testing.T) {
	s := steady().planned(plan.Refuse, resource.RoleConfig)
	degraded := meta.FindStatusCondition(Of(s.in).Conditions, redisv1.ConditionDegraded)
	if !strings.Contains(degraded.Message, "ConfigMap demo-config") {
		t.Errorf("message %q does not name the ConfigMap", degraded.Message)
	}
	s = steady()
	s.in.Failure = errors.New(strings.Repeat("é", 4000))
	degraded = meta.FindStatusCondition(Of(s.in).Conditions, redisv1.ConditionDegraded)
	if got := len(degraded.Message); got > messageLength+len("…") {
		t.Errorf("the message has %d bytes", got)
	}
}

func TestPhaseWithoutConditionsIsPending(t *testing.T) {
	if got := Phase(nil); got != redisv1.PhasePending {
		t.Errorf("phase is %q, want Pending", got)
	}
}

func TestStrangersPodsAreNotCounted(t *testing.T) {
	s := steady()
	s.in.Live[resource.RoleSet] = &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{Replicas: 7, ReadyReplicas: 7}}
	if got := Of(s.in); got.Replicas != 0 || got.ReadyReplicas != 0 {
		t.Errorf("counted %d pods, %d ready, of a StatefulSet that is not ours", got.Replicas, got.ReadyReplicas)
	}
	s.in.Live[resource.RoleSet] = &corev1.Service{}
	if got := Of(s.in); got.Replicas != 0 {
		t.Error("counted pods of a Service")
	}
}
