package v1beta1

import (
	"slices"

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
		PhaseBootstrapping: redisv1.PhaseForming, PhaseRunning: redisv1.PhaseReady, PhaseScaling: redisv1.PhaseRebalancing,
	}
	return lens.NewGroup("phase",
		lens.At(func(c *RedisCluster) *string { return &c.Status.Phase }),
		lens.At(func(c *hub) *string { return &c.Status.Phase }),
		func(_, phase string) string { return names.Up(phase) },
		names.Down)
}

type counts struct {
	Shards             int32  `json:"shards"`
	ReadyShards        int32  `json:"readyShards"`
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
				return counts{s.Shards, s.ReadyShards, s.Replicas, s.ReadyReplicas, s.ObservedGeneration, s.Selector}
			},
			Set: func(c *RedisCluster, v counts) {
				s := &c.Status
				s.Shards, s.ReadyShards = v.Shards, v.ReadyShards
				s.Replicas, s.ReadyReplicas = v.Replicas, v.ReadyReplicas
				s.ObservedGeneration, s.Selector = v.ObservedGeneration, v.Selector
			},
		},
		lens.Field[hub, counts]{
			Get: func(c *hub) counts {
				s := c.Status
				return counts{s.Shards, s.ReadyShards, s.Replicas, s.ReadyReplicas, s.ObservedGeneration, s.Selector}
			},
			Set: func(c *hub, v counts) {
				s := &c.Status
				s.Shards, s.ReadyShards = v.Shards, v.ReadyShards
				s.Replicas, s.ReadyReplicas = v.Replicas, v.ReadyReplicas
				s.ObservedGeneration, s.Selector = v.ObservedGeneration, v.Selector
			},
		})
}

// nodesGroup turns shards into a flat list. Whether a replica is in sync is
// kept.
func nodesGroup() group {
	return spoke.NodesGroup(lens.At(func(c *RedisCluster) *[]Node { return &c.Status.Nodes }), liftNodes, projectNodes)
}

func liftNodes(nodes []Node) []redisv1.ShardStatus {
	shards := spoke.ShardsByPod{}
	for _, node := range nodes {
		if node.Role == RolePrimary {
			shards.AddPrimary(redisv1.ShardNode{PodName: node.Name, NodeID: node.NodeID}, node.Slots)
		}
	}
	for _, node := range nodes {
		if node.Role == RoleReplica {
			shards.AddReplica(redisv1.ShardNode{PodName: node.Name, NodeID: node.NodeID}, node.PrimaryName)
		}
	}
	return shards.Statuses()
}

func projectNodes(shards []redisv1.ShardStatus) []Node {
	var nodes []Node
	for _, shard := range shards {
		primary := shard.Primary
		nodes = append(nodes, Node{
			Name: primary.PodName, NodeID: primary.NodeID, Role: RolePrimary, Slots: redisv1.FormatSlots(shard.SlotRanges),
		})
		for _, replica := range shard.Replicas {
			nodes = append(nodes, Node{
				Name: replica.PodName, NodeID: replica.NodeID, Role: RoleReplica, PrimaryName: primary.PodName,
			})
		}
	}
	// The list is keyed by name: an API server refuses one with a name that is
	// empty or there twice.
	named := map[string]bool{"": true}
	return slices.DeleteFunc(nodes, func(n Node) bool {
		seen := named[n.Name]
		named[n.Name] = true
		return seen
	})
}

func lastBackupGroup() group {
	return spoke.LastBackupGroup(lens.At(func(c *RedisCluster) **metav1.Time { return &c.Status.LastBackupTime }))
}

type progress struct {
	UpdatedReplicas int32              `json:"updatedReplicas,omitempty"`
	CurrentRevision string             `json:"currentRevision,omitempty"`
	Migration       *redisv1.Migration `json:"migration,omitempty"`
}

// progressGroup is what v1 alone says of how far the operator is.
func progressGroup() group {
	return lens.Only[RedisCluster]("progress", lens.Field[hub, progress]{
		Get: func(c *hub) progress {
			return progress{c.Status.UpdatedReplicas, c.Status.CurrentRevision, c.Status.Migration}
		},
		Set: func(c *hub, p progress) {
			c.Status.UpdatedReplicas, c.Status.CurrentRevision, c.Status.Migration = p.UpdatedReplicas, p.CurrentRevision, p.Migration
		},
	})
}
