package resource

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Target is what children are built from: what the user asks for, and what of
// it cannot be had yet, or never on what is there.
type Target struct {
	// Cluster is the RedisCluster.
	Cluster *redisv1.RedisCluster
	// Pods is how many pods the StatefulSet must hold: more than spec asks
	// for, as long as nodes that are to go still have data or a vote.
	Pods int32
	// Claim is the live StatefulSet's template of volumes, which cannot be
	// changed. It is nil where there is none, and spec alone counts.
	Claim *corev1.PersistentVolumeClaim
}

// TargetOf is the target for a RedisCluster whose live StatefulSet is given,
// or nil, and which needs at least so many pods.
func TargetOf(cluster *redisv1.RedisCluster, live *appsv1.StatefulSet, pods int32) Target {
	target := Target{Cluster: cluster, Pods: max(pods, cluster.Spec.Topology.Pods())}
	if live != nil && len(live.Spec.VolumeClaimTemplates) > 0 {
		target.Claim = &live.Spec.VolumeClaimTemplates[0]
	}
	return target
}
