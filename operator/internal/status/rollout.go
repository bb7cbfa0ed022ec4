package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/plan"
)

// Paths in the StatefulSet whose change concerns pods.
const (
	pathReplicas = "spec.replicas:"
	pathSpec     = "spec."
)

func touchesPods(operation plan.Operation) bool {
	return slices.ContainsFunc(operation.Changes, func(change string) bool {
		return strings.HasPrefix(change, pathSpec)
	})
}

func scales(operation plan.Operation) bool {
	return slices.ContainsFunc(operation.Changes, func(change string) bool {
		return strings.HasPrefix(change, pathReplicas)
	})
}

// rolling reports whether the StatefulSet controller has yet to see the latest
// change, or is replacing pods for it.
func (in Input) rolling() bool {
	set := in.set()
	return set != nil &&
		(set.Status.ObservedGeneration < set.Generation || set.Status.CurrentRevision != set.Status.UpdateRevision)
}

// short reports whether the pods are not as many, or not as ready, as spec
// asks for.
func (in Input) short() bool {
	set := in.set()
	return in.miscounted() || set == nil || set.Status.ReadyReplicas < in.Target().Pods
}

func (in Input) miscounted() bool {
	set := in.set()
	return set == nil || set.Status.Replicas != in.Target().Pods
}

// rolledOut reports whether this generation had all it asked for before.
func (in Input) rolledOut() bool {
	before := in.before()
	return before != nil && before.Reason == redisv1.ReasonRolledOut &&
		before.ObservedGeneration == in.Cluster.Generation
}

// underWay names what is going on. The first rollout is called Creating until
// it is done, and any other keeps its name until then.
func (in Input) underWay(scaling bool) string {
	before := in.before()
	switch {
	case before == nil || before.Reason == redisv1.ReasonCreating || before.Reason == redisv1.ReasonWaitingForDeletion:
		return redisv1.ReasonCreating
	case scaling:
		return redisv1.ReasonScaling
	case before.Reason == redisv1.ReasonScaling && before.ObservedGeneration == in.Cluster.Generation:
		return redisv1.ReasonScaling
	default:
		return redisv1.ReasonUpdating
	}
}

func (in Input) before() *metav1.Condition {
	return meta.FindStatusCondition(in.Cluster.Status.Conditions, redisv1.ConditionProgressing)
}

func (in Input) count() string {
	ready := int32(0)
	if set := in.set(); set != nil {
		ready = set.Status.ReadyReplicas
	}
	return fmt.Sprintf("%d of %d Redis pods are ready", ready, in.Target().Pods)
}
