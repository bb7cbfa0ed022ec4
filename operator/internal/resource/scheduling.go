package resource

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// schedule says where pods may run.
func schedule(c *redisv1.RedisCluster, spec *corev1ac.PodSpecApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	wanted := c.Spec.Scheduling
	if affinity := apart(c); affinity != nil {
		spec.WithAffinity(affinity)
	}
	if wanted.PriorityClassName != "" {
		spec.WithPriorityClassName(wanted.PriorityClassName)
	}
	for _, constraint := range wanted.TopologySpreadConstraints {
		spec.WithTopologySpreadConstraints(spread(c, constraint))
	}
	for _, toleration := range wanted.Tolerations {
		spec.WithTolerations(tolerate(toleration))
	}
	return spec.WithNodeSelector(wanted.NodeSelector)
}

// apart keeps the pods of one RedisCluster in places of their own. What is
// only preferred takes less on a small cluster.
func apart(c *redisv1.RedisCluster) *corev1ac.AffinityApplyConfiguration {
	wanted := c.Spec.Scheduling.PodAntiAffinity
	term := corev1ac.PodAffinityTerm().WithTopologyKey(wanted.Key()).WithLabelSelector(selector(c))
	affinity := corev1ac.PodAntiAffinity()
	switch wanted.AntiAffinity() {
	case redisv1.AntiAffinityRequired:
		affinity.WithRequiredDuringSchedulingIgnoredDuringExecution(term)
	case redisv1.AntiAffinityPreferred:
		affinity.WithPreferredDuringSchedulingIgnoredDuringExecution(
			corev1ac.WeightedPodAffinityTerm().WithWeight(100).WithPodAffinityTerm(term))
	case redisv1.AntiAffinityNone:
		return nil
	default:
		// A mode of a later release, which the schema refuses in this one.
		return nil
	}
	return corev1ac.Affinity().WithPodAntiAffinity(affinity)
}

func tolerate(t corev1.Toleration) *corev1ac.TolerationApplyConfiguration {
	return &corev1ac.TolerationApplyConfiguration{
		Key:               given(t.Key),
		Operator:          given(t.Operator),
		Value:             given(t.Value),
		Effect:            given(t.Effect),
		TolerationSeconds: t.TolerationSeconds,
	}
}

// spread is a constraint that concerns the pods of this RedisCluster, unless
// it says otherwise.
func spread(
	c *redisv1.RedisCluster, t corev1.TopologySpreadConstraint,
) *corev1ac.TopologySpreadConstraintApplyConfiguration {
	pods := selector(c)
	if t.LabelSelector != nil {
		pods = labelSelector(t.LabelSelector)
	}
	return &corev1ac.TopologySpreadConstraintApplyConfiguration{
		MaxSkew:            &t.MaxSkew,
		TopologyKey:        &t.TopologyKey,
		WhenUnsatisfiable:  &t.WhenUnsatisfiable,
		LabelSelector:      pods,
		MinDomains:         t.MinDomains,
		NodeAffinityPolicy: t.NodeAffinityPolicy,
		NodeTaintsPolicy:   t.NodeTaintsPolicy,
		MatchLabelKeys:     t.MatchLabelKeys,
	}
}

func labelSelector(s *metav1.LabelSelector) *metav1ac.LabelSelectorApplyConfiguration {
	configuration := metav1ac.LabelSelector().WithMatchLabels(s.MatchLabels)
	for _, e := range s.MatchExpressions {
		configuration.WithMatchExpressions(metav1ac.LabelSelectorRequirement().
			WithKey(e.Key).
			WithOperator(e.Operator).
			WithValues(e.Values...))
	}
	return configuration
}

// given is nil for an empty value, which is not to be applied.
func given[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}
