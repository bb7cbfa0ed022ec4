package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	"github.com/seatrial/seatrial/operator/api/internal/spoke"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// conditionsGroup shows the message of the condition Ready a second time.
func conditionsGroup() group {
	return spoke.ConditionsGroup(
		lens.Field[RedisCluster, spoke.Conditions]{
			Get: func(c *RedisCluster) spoke.Conditions {
				return spoke.Conditions{All: c.Status.Conditions, Message: c.Status.Message}
			},
			Set: func(c *RedisCluster, v spoke.Conditions) { c.Status.Conditions, c.Status.Message = v.All, v.Message },
		})
}

func phaseGroup() group {
	names := lens.Names{
		PhaseCreating: redisv1.PhaseForming, PhaseRunning: redisv1.PhaseReady,
		PhaseScaling: redisv1.PhaseRebalancing, PhaseDeleting: redisv1.PhaseTerminating,
	}
	return lens.NewGroup("phase",
		lens.At(func(c *RedisCluster) *string { return &c.Status.Phase }),
		lens.At(func(c *hub) *string { return &c.Status.Phase }),
		func(_, phase string) string { return names.Up(phase) },
		names.Down)
}

type counts struct {
	Replicas           int32  `json:"replicas"`
	ReadyReplicas      int32  `json:"readyReplicas"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	Selector           string `json:"selector,omitempty"`
}

func countsGroup() group {
	return lens.Same("counts",
		lens.Field[RedisCluster, counts]{
			Get: func(c *RedisCluster) counts {
				s := c.Status
				return counts{s.Replicas, s.ReadyReplicas, s.ObservedGeneration, s.Selector}
			},
			Set: func(c *RedisCluster, v counts) {
				s := &c.Status
				s.Replicas, s.ReadyReplicas, s.ObservedGeneration, s.Selector = v.Replicas, v.ReadyReplicas, v.ObservedGeneration, v.Selector
			},
		},
		lens.Field[hub, counts]{
			Get: func(c *hub) counts {
				s := c.Status
				return counts{s.Replicas, s.ReadyReplicas, s.ObservedGeneration, s.Selector}
			},
			Set: func(c *hub, v counts) {
				s := &c.Status
				s.Replicas, s.ReadyReplicas, s.ObservedGeneration, s.Selector = v.Replicas, v.ReadyReplicas, v.ObservedGeneration, v.Selector
			},
		})
}

// Beginnings of what status.nodes says of a pod.
const (
	rolePrimary = "master:"
	roleReplica = "slave:"
)

// nodesGroup turns shards into one line a pod. The IDs of nodes, and whether a
// replica is in sync, are kept.
func nodesGroup() group {
	return spoke.NodesGroup(lens.At(func(c *RedisCluster) *map[string]NodeRole { return &c.Status.Nodes }), liftNodes, projectNodes)
}

func liftNodes(nodes map[string]NodeRole) []redisv1.ShardStatus {
	shards := spoke.ShardsByPod{}
	for pod, role := range nodes {
		if slots, primary := strings.CutPrefix(string(role), rolePrimary); primary {
			shards.AddPrimary(redisv1.ShardNode{PodName: pod}, slots)
		}
	}
	for pod, role := range nodes {
		if follows, replica := strings.CutPrefix(string(role), roleReplica); replica {
			shards.AddReplica(redisv1.ShardNode{PodName: pod}, follows)
		}
	}
	return shards.Statuses()
}

func projectNodes(shards []redisv1.ShardStatus) map[string]NodeRole {
	nodes := map[string]NodeRole{}
	for _, shard := range shards {
		nodes[shard.Primary.PodName] = NodeRole(rolePrimary + redisv1.FormatSlots(shard.SlotRanges))
		for _, replica := range shard.Replicas {
			nodes[replica.PodName] = NodeRole(roleReplica + shard.Primary.PodName)
		}
	}
	delete(nodes, "")
	if len(nodes) == 0 {
		return nil
	}
	return nodes
}

func lastBackupGroup() group {
	return spoke.LastBackupGroup(lens.At(func(c *RedisCluster) **metav1.Time { return &c.Status.LastBackup }))
}

type progress struct {
	Shards          int32              `json:"shards"`
	ReadyShards     int32              `json:"readyShards"`
	UpdatedReplicas int32              `json:"updatedReplicas,omitempty"`
	CurrentRevision string             `json:"currentRevision,omitempty"`
	Migration       *redisv1.Migration `json:"migration,omitempty"`
}

// progressGroup is what v1 alone says of how far the operator is.
func progressGroup() group {
	return lens.Only[RedisCluster]("progress", lens.Field[hub, progress]{
		Get: func(c *hub) progress {
			s := c.Status
			return progress{s.Shards, s.ReadyShards, s.UpdatedReplicas, s.CurrentRevision, s.Migration}
		},
		Set: func(c *hub, p progress) {
			s := &c.Status
			s.Shards, s.ReadyShards, s.UpdatedReplicas, s.CurrentRevision, s.Migration = p.Shards, p.ReadyShards, p.UpdatedReplicas, p.CurrentRevision, p.Migration
		},
	})
}
