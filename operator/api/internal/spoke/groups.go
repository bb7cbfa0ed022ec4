package spoke

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// HubSettings are the fields of v1 for what is in redis.conf.
type HubSettings struct {
	Memory redisv1.Memory        `json:"memory,omitzero"`
	Config []redisv1.ConfigEntry `json:"config,omitempty"`
}

// SettingsField reaches them.
func SettingsField() lens.Field[redisv1.RedisCluster, HubSettings] {
	return lens.Field[redisv1.RedisCluster, HubSettings]{
		Get: func(c *redisv1.RedisCluster) HubSettings { return HubSettings{c.Spec.Memory, c.Spec.Config} },
		Set: func(c *redisv1.RedisCluster, s HubSettings) { c.Spec.Memory, c.Spec.Config = s.Memory, s.Config },
	}
}

// Hub is what v1 says for the settings, given the limit that a field of the
// older version says; nil leaves it to the line maxmemory.
func (s Settings) Hub(limit *resource.Quantity) HubSettings {
	if limit == nil {
		limit = ParseMemory(s.MaxMemory)
	}
	return HubSettings{
		Memory: redisv1.Memory{Limit: limit, EvictionPolicy: redisv1.EvictionPolicyOf(s.Policy)},
		Config: s.Entries,
	}
}

// Behaviour is what v1 alone says of how the operator works.
type Behaviour struct {
	DeletionPolicy redisv1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	Rebalance      redisv1.Rebalance      `json:"rebalance,omitzero"`
	Paused         *bool                  `json:"paused,omitempty"`
}

// BehaviourField reaches it.
func BehaviourField() lens.Field[redisv1.RedisCluster, Behaviour] {
	return lens.Field[redisv1.RedisCluster, Behaviour]{
		Get: func(c *redisv1.RedisCluster) Behaviour {
			return Behaviour{c.Spec.DeletionPolicy, c.Spec.Rebalance, c.Spec.Paused}
		},
		Set: func(c *redisv1.RedisCluster, b Behaviour) {
			c.Spec.DeletionPolicy, c.Spec.Rebalance, c.Spec.Paused = b.DeletionPolicy, b.Rebalance, b.Paused
		},
	}
}

// Conditions are conditions and the message that older versions show beside
// them.
type Conditions struct {
	All     []metav1.Condition `json:"conditions,omitempty"`
	Message string             `json:"message,omitempty"`
}

// ConditionsGroup shows the message of the condition Ready a second time.
func ConditionsGroup[S any](field lens.Field[S, Conditions]) lens.Group[S, redisv1.RedisCluster] {
	return lens.NewGroup("conditions", field,
		lens.At(func(c *redisv1.RedisCluster) *[]metav1.Condition { return &c.Status.Conditions }),
		func(_ []metav1.Condition, v Conditions) []metav1.Condition { return v.All },
		func(all []metav1.Condition) Conditions { return Conditions{all, ReadyMessage(all)} })
}

// LastBackupGroup shows when the latest backup had ended, of whichever kind.
func LastBackupGroup[S any](field lens.Field[S, *metav1.Time]) lens.Group[S, redisv1.RedisCluster] {
	return lens.NewGroup("lastBackup", field,
		lens.At(func(c *redisv1.RedisCluster) *[]redisv1.BackupStatus { return &c.Status.Backups }),
		func(base []redisv1.BackupStatus, last *metav1.Time) []redisv1.BackupStatus {
			return WithLastBackup(slices.Clone(base), last)
		},
		LastBackup)
}

// NodesGroup turns shards into what an older version says of each pod.
func NodesGroup[S, T any](
	field lens.Field[S, T], lift func(T) []redisv1.ShardStatus, project func([]redisv1.ShardStatus) T,
) lens.Group[S, redisv1.RedisCluster] {
	return lens.NewGroup("nodes", field,
		lens.At(func(c *redisv1.RedisCluster) *[]redisv1.ShardStatus { return &c.Status.ShardStatuses }),
		func(_ []redisv1.ShardStatus, nodes T) []redisv1.ShardStatus { return lift(nodes) },
		project)
}
