package resource

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
)

// statefulSet runs the Redis pods. It needs the headless Service, after which
// pods are named, and the ConfigMap, which they mount: were one of the two not
// ours, pods would start with a stranger's settings.
func statefulSet() Child {
	return recipe[*appsv1.StatefulSet, *appsv1ac.StatefulSetApplyConfiguration]{
		role:    RoleSet,
		version: appsv1.SchemeGroupVersion,
		kind:    "StatefulSet",
		name:    sameName,
		needs:   []Role{RoleNodes, RoleConfig},
		empty: func() *appsv1.StatefulSet {
			return &appsv1.StatefulSet{}
		},
		desired: func(t Target) *appsv1ac.StatefulSetApplyConfiguration {
			c := t.Cluster
			return appsv1ac.StatefulSet(c.Name, c.Namespace).
				WithLabels(childLabels(c)).
				WithOwnerReferences(owner(c)).
				WithSpec(appsv1ac.StatefulSetSpec().
					WithReplicas(t.Pods).
					WithServiceName(NodesServiceName(c.Name)).
					WithSelector(selector(c)).
					// Pods start all at once: a node gets ready only among
					// others, so waiting for each in turn may wait for ever.
					WithPodManagementPolicy(appsv1.ParallelPodManagement).
					WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().
						WithType(appsv1.RollingUpdateStatefulSetStrategyType)).
					WithPersistentVolumeClaimRetentionPolicy(claimPolicy(c)).
					WithVolumeClaimTemplates(claims(t)...).
					WithTemplate(podTemplate(c)))
		},
		extract: appsv1ac.ExtractStatefulSet,
	}.child()
}
