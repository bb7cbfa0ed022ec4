package resource

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
)

// disruptionBudget lets one pod go at a time. One budget for all pods: where
// budgets overlap, every eviction fails. Pods that are not ready may always be
// evicted, or a broken one would hold up the drain of its node.
func disruptionBudget() Child {
	return recipe[*policyv1.PodDisruptionBudget, *policyv1ac.PodDisruptionBudgetApplyConfiguration]{
		role:    RoleDisruption,
		version: policyv1.SchemeGroupVersion,
		kind:    "PodDisruptionBudget",
		name:    sameName,
		empty: func() *policyv1.PodDisruptionBudget {
			return &policyv1.PodDisruptionBudget{}
		},
		desired: func(t Target) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
			c := t.Cluster
			return policyv1ac.PodDisruptionBudget(c.Name, c.Namespace).
				WithLabels(childLabels(c)).
				WithOwnerReferences(owner(c)).
				WithSpec(policyv1ac.PodDisruptionBudgetSpec().
					WithMaxUnavailable(intstr.FromInt32(1)).
					WithSelector(selector(c)).
					WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow))
		},
		extract: policyv1ac.ExtractPodDisruptionBudget,
	}.child()
}
