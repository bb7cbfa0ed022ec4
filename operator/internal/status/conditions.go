package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/plan"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func (in Input) available() metav1.Condition {
	const kind = redisv1.ConditionAvailable
	if operation, found := in.Plan.For(resource.RoleClient); found && operation.Verb == plan.Refuse {
		return condition(kind, metav1.ConditionFalse, redisv1.ReasonNameTaken, names(operation))
	}
	set := in.set()
	if set == nil || set.Status.ReadyReplicas == 0 {
		return condition(kind, metav1.ConditionFalse, redisv1.ReasonPodsNotReady, "no Redis pod is ready")
	}
	return condition(kind, metav1.ConditionTrue, redisv1.ReasonPodsReady, "at least one Redis pod is ready")
}

func (in Input) progressing() metav1.Condition {
	const kind = redisv1.ConditionProgressing
	if in.deleting() {
		return condition(kind, metav1.ConditionTrue, redisv1.ReasonDeleting, "the RedisCluster is being deleted")
	}
	if awaited := in.Plan.With(plan.Await); len(awaited) > 0 {
		return condition(kind, metav1.ConditionTrue, redisv1.ReasonWaitingForDeletion, names(awaited...))
	}
	if operation, planned := in.Plan.For(resource.RoleSet); planned && !operation.Writes() {
		return condition(kind, metav1.ConditionFalse, redisv1.ReasonNameTaken, names(operation))
	}
	if change := in.change(); change != "" {
		return condition(kind, metav1.ConditionTrue, change, in.count())
	}
	return condition(kind, metav1.ConditionFalse, redisv1.ReasonRolledOut, "nothing is left to do")
}

// change names the change of the pods that is under way; it is empty where
// none is.
func (in Input) change() string {
	operation, planned := in.Plan.For(resource.RoleSet)
	switch {
	case planned && operation.Verb == plan.Create:
		return redisv1.ReasonCreating
	case planned && touchesPods(operation):
		return in.underWay(scales(operation))
	case in.rolling():
		return in.underWay(false)
	case in.short() && !in.rolledOut():
		return in.underWay(in.miscounted())
	default:
		return ""
	}
}

func (in Input) degraded() metav1.Condition {
	const kind = redisv1.ConditionDegraded
	refused := in.Plan.With(plan.Refuse)
	switch {
	case len(refused) > 0:
		return condition(kind, metav1.ConditionTrue, redisv1.ReasonNameTaken,
			names(refused...)+"; delete or rename what has the name")
	case in.Failure != nil:
		return condition(kind, metav1.ConditionTrue, redisv1.ReasonApplyFailed, limited(in.Failure.Error()))
	case !in.deleting() && len(in.Plan) == 0 && in.short() && in.rolledOut() && !in.rolling():
		return condition(kind, metav1.ConditionTrue, redisv1.ReasonPodsNotReady, in.count())
	default:
		return condition(kind, metav1.ConditionFalse, redisv1.ReasonAsExpected, "nothing is wrong")
	}
}

// ready sums the others up, and gives the reason of the first that stands in
// the way.
func ready(available, progressing, degraded metav1.Condition) metav1.Condition {
	const kind = redisv1.ConditionReady
	switch {
	case degraded.Status == metav1.ConditionTrue:
		return condition(kind, metav1.ConditionFalse, degraded.Reason, degraded.Message)
	case progressing.Status == metav1.ConditionTrue:
		return condition(kind, metav1.ConditionFalse, progressing.Reason, progressing.Message)
	case available.Status != metav1.ConditionTrue:
		return condition(kind, metav1.ConditionFalse, available.Reason, available.Message)
	default:
		return condition(kind, metav1.ConditionTrue, redisv1.ReasonPodsReady, "every Redis pod is ready and follows spec")
	}
}

// messageLength is the most that a condition's message may have, in bytes.
const messageLength = 1024

func limited(message string) string {
	if len(message) <= messageLength {
		return message
	}
	return strings.ToValidUTF8(message[:messageLength], "") + "…"
}

func names(operations ...plan.Operation) string {
	lines := make([]string, 0, len(operations))
	for _, operation := range operations {
		lines = append(lines, fmt.Sprintf("%s %s: %s", operation.Child.Kind, operation.Name, operation.Why))
	}
	return limited(strings.Join(lines, "; "))
}
