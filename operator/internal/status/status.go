package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/plan"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// Input is what a status is worked out from.
type Input struct {
	plan.Observation
	// Plan is what was decided on the observation.
	Plan plan.Plan
	// Failure is why the plan was not carried out in full, or nil.
	Failure error
	// Now is the time that conditions which change take.
	Now metav1.Time
}

// Of returns the status. Past conditions serve to keep transition times, to
// name what is under way, and to tell a pod that was lost from one that has
// not been ready yet; what the operator does never depends on them. Conditions
// of other authors are kept.
func Of(in Input) redisv1.RedisClusterStatus {
	next := redisv1.RedisClusterStatus{
		ObservedGeneration: in.Cluster.Generation,
		Selector:           resource.Selector(in.Cluster),
		Conditions:         slices.Clone(in.Cluster.Status.Conditions),
	}
	if set := in.set(); set != nil {
		next.Replicas, next.ReadyReplicas = set.Status.Replicas, set.Status.ReadyReplicas
	}
	available, progressing, degraded := in.available(), in.progressing(), in.degraded()
	for _, c := range []metav1.Condition{
		ready(available, progressing, degraded), available, progressing, degraded,
	} {
		c.ObservedGeneration = in.Cluster.Generation
		c.LastTransitionTime = in.Now
		meta.SetStatusCondition(&next.Conditions, c)
	}
	next.Phase = Phase(next.Conditions)
	return next
}

// set is the StatefulSet, if there is one and it is ours.
func (in Input) set() *appsv1.StatefulSet {
	set, ok := in.Live[resource.RoleSet].(*appsv1.StatefulSet)
	if !ok || !resource.Belongs(set, in.Cluster) {
		return nil
	}
	return set
}

func (in Input) deleting() bool { return !in.Cluster.DeletionTimestamp.IsZero() }

// Phase is the one word for a set of conditions.
func Phase(conditions []metav1.Condition) string {
	progressing := meta.FindStatusCondition(conditions, redisv1.ConditionProgressing)
	switch {
	case progressing == nil:
		return redisv1.PhasePending
	case progressing.Reason == redisv1.ReasonDeleting:
		return redisv1.PhaseTerminating
	case meta.IsStatusConditionTrue(conditions, redisv1.ConditionDegraded):
		return redisv1.PhaseDegraded
	case meta.IsStatusConditionTrue(conditions, redisv1.ConditionReady):
		return redisv1.PhaseReady
	case progressing.Reason == redisv1.ReasonScaling:
		return redisv1.PhaseRebalancing
	case progressing.Reason == redisv1.ReasonUpdating:
		return redisv1.PhaseUpdating
	case progressing.Reason == redisv1.ReasonCreating:
		return redisv1.PhaseForming
	default:
		return redisv1.PhasePending
	}
}
