package webhook

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// The API server sends what was asked for in any version, as v1
// (matchPolicy Equivalent), so that each rule stands here once.
//
// +kubebuilder:webhook:path=/validate-cache-example-com-v1-rediscluster,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=cache.example.com,resources=redisclusters,verbs=create;update,versions=v1,name=validate.rediscluster.cache.example.com,sideEffects=None,admissionReviewVersions=v1,serviceName=rediscluster-webhook,serviceNamespace=redis-system,timeoutSeconds=10

// Validator refuses RedisClusters that no version of the API allows. The
// schema of a version sees only what is written in that version: a line of
// config in v1alpha1 may become a setting that v1 forbids.
type Validator struct{}

var _ admission.Validator[*redisv1.RedisCluster] = Validator{}

// ValidateCreate implements admission.Validator.
func (Validator) ValidateCreate(ctx context.Context, c *redisv1.RedisCluster) (admission.Warnings, error) {
	return warnings(nil, c), refusal(ctx, c, Check(c))
}

// ValidateUpdate implements admission.Validator.
func (Validator) ValidateUpdate(ctx context.Context, old, next *redisv1.RedisCluster) (admission.Warnings, error) {
	return warnings(old, next), refusal(ctx, next, CheckUpdate(old, next))
}

// ValidateDelete implements admission.Validator. It is not registered for
// deletions.
func (Validator) ValidateDelete(context.Context, *redisv1.RedisCluster) (admission.Warnings, error) {
	return nil, nil
}

// CheckUpdate returns what stands against a change. What was wrong before and
// has not changed does not: a rule of a new release must not keep users from
// changing other fields (KEP-4008), nor finalizers from being removed.
func CheckUpdate(old, next *redisv1.RedisCluster) field.ErrorList {
	if !next.DeletionTimestamp.IsZero() {
		return nil
	}
	before := Check(old)
	problems := slices.DeleteFunc(Check(next), func(problem *field.Error) bool {
		return slices.ContainsFunc(before, func(known *field.Error) bool { return known.Error() == problem.Error() })
	})
	return append(problems, transition(old, next)...)
}

// refusal makes the answer to the API server. Who wrote in an older version is
// told that fields are named as v1 has them.
func refusal(ctx context.Context, c *redisv1.RedisCluster, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	request, err := admission.RequestFromContext(ctx)
	if err == nil && request.RequestKind != nil && request.RequestKind.Version != redisv1.GroupVersion.Version {
		for _, problem := range problems {
			problem.Detail += fmt.Sprintf(" (as %s names it)", redisv1.GroupVersion)
		}
	}
	return apierrors.NewInvalid(redisv1.GroupVersion.WithKind(redisv1.Kind).GroupKind(), c.Name, problems)
}

// warnings are about what is allowed and may surprise.
func warnings(old, next *redisv1.RedisCluster) admission.Warnings {
	var all admission.Warnings
	if !next.DeletionTimestamp.IsZero() || old != nil && old.Generation == next.Generation {
		return nil
	}
	if next.Spec.Topology.Primaries() < quorum && next.Spec.Topology.ReplicasPerShard > 0 {
		all = append(all, "spec.topology.shards: fewer than 3 shards cannot elect a new primary: after a primary is lost, its shard waits for it or for the operator")
	}
	if next.Spec.Policy() == redisv1.DeletionDelete && next.Spec.Storage.Retention.WhenDeleted == redisv1.RetentionRetain {
		all = append(all, "spec.deletionPolicy: volumes are kept although the policy is Delete, since spec.storage.retention.whenDeleted says so")
	}
	return all
}

// quorum is how many primaries it takes to elect one (cluster-spec: a majority
// of the primaries must vote, and one that is lost cannot).
const quorum = 3
