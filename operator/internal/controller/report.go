package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	v1ac "github.com/seatrial/seatrial/operator/api/v1/applyconfiguration/api/v1"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// report writes the status, unless what the operator owns of it says the same
// already. The write is for the RedisCluster that was looked at, in the version
// that was looked at: a status that was worked out from an old view must not
// replace a newer one.
func (r *Reconciler) report(
	ctx context.Context, cluster *redisv1.RedisCluster, next redisv1.RedisClusterStatus,
) error {
	owned, err := v1ac.ExtractRedisClusterStatus(cluster, resource.FieldManager)
	if err != nil {
		return fmt.Errorf("reading what was applied to the status: %w", err)
	}
	desired := statusConfiguration(cluster, next)
	if equality.Semantic.DeepEqual(owned.Status, desired.Status) {
		return nil
	}
	desired.WithUID(cluster.UID).WithResourceVersion(cluster.ResourceVersion)
	err = r.Client.Status().Apply(ctx, desired, client.FieldOwner(resource.FieldManager), client.ForceOwnership)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	r.warn(cluster, next)
	return nil
}

// warn records an Event where Degraded has turned True, or has a new reason.
func (r *Reconciler) warn(cluster *redisv1.RedisCluster, next redisv1.RedisClusterStatus) {
	before := meta.FindStatusCondition(cluster.Status.Conditions, redisv1.ConditionDegraded)
	after := meta.FindStatusCondition(next.Conditions, redisv1.ConditionDegraded)
	if after.Status != metav1.ConditionTrue || before != nil && before.Status == after.Status && before.Reason == after.Reason {
		return
	}
	r.Events.Eventf(cluster, nil, corev1.EventTypeWarning, after.Reason, "Reconcile", "%s", after.Message)
}

// statusConfiguration is the status in the form in which it is applied, with
// the operator's own conditions only.
func statusConfiguration(
	cluster *redisv1.RedisCluster, next redisv1.RedisClusterStatus,
) *v1ac.RedisClusterApplyConfiguration {
	configuration := v1ac.RedisClusterStatus().
		WithPhase(next.Phase).
		WithObservedGeneration(next.ObservedGeneration).
		WithReplicas(next.Replicas).
		WithReadyReplicas(next.ReadyReplicas).
		WithSelector(next.Selector)
	for _, c := range next.Conditions {
		if !ours(c.Type) {
			continue
		}
		configuration.WithConditions(metav1ac.Condition().
			WithType(c.Type).
			WithStatus(c.Status).
			WithObservedGeneration(c.ObservedGeneration).
			WithLastTransitionTime(c.LastTransitionTime.Rfc3339Copy()).
			WithReason(c.Reason).
			WithMessage(c.Message))
	}
	return v1ac.RedisCluster(cluster.Name, cluster.Namespace).WithStatus(configuration)
}

func ours(conditionType string) bool {
	switch conditionType {
	case redisv1.ConditionReady, redisv1.ConditionAvailable, redisv1.ConditionProgressing, redisv1.ConditionDegraded:
		return true
	default:
		return false
	}
}
