package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	"github.com/seatrial/seatrial/operator/api/internal/spoke"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// maxReplicas is the most pods that this version can express.
const maxReplicas = 10

type topology struct{ Replicas, ShardReplicas int32 }

// topologyGroup turns the number of all pods into shards and replicas of each.
// A cluster of more than 10 pods shows the largest number that this version
// allows: at most 10, and a multiple of a shard's pods.
func topologyGroup() group {
	return lens.NewGroup("topology",
		lens.Field[RedisCluster, topology]{
			Get: func(c *RedisCluster) topology { return topology{c.Spec.Replicas, c.Spec.ShardReplicas} },
			Set: func(c *RedisCluster, t topology) { c.Spec.Replicas, c.Spec.ShardReplicas = t.Replicas, t.ShardReplicas },
		},
		lens.At(func(c *hub) *redisv1.Topology { return &c.Spec.Topology }),
		func(_ redisv1.Topology, t topology) redisv1.Topology {
			shards := int64(t.Replicas) / podsPerShard(t.ShardReplicas)
			if t.Replicas > 0 {
				shards = max(1, shards)
			}
			return redisv1.Topology{
				Shards:           int32(shards), //nolint:gosec // it is at most replicas
				ReplicasPerShard: t.ShardReplicas,
			}
		},
		func(t redisv1.Topology) topology {
			each := podsPerShard(t.ReplicasPerShard)
			replicas := int64(t.Shards) * each
			if replicas > maxReplicas {
				replicas = max(1, maxReplicas/each) * each
			}
			return topology{
				Replicas:      int32(min(replicas, maxInt32)), //nolint:gosec // it is negative only where shards is
				ShardReplicas: t.ReplicasPerShard,
			}
		})
}

const maxInt32 = 1<<31 - 1

// podsPerShard is at least 1, also for a number of replicas that validation
// would refuse.
func podsPerShard(replicas int32) int64 { return max(1, 1+int64(replicas)) }

func imageGroup() group {
	return lens.NewGroup("image",
		lens.At(func(c *RedisCluster) *string { return &c.Spec.Image }),
		lens.At(func(c *hub) *redisv1.Image { return &c.Spec.Image }),
		func(base redisv1.Image, reference string) redisv1.Image {
			image := redisv1.ParseImage(reference)
			image.PullPolicy, image.PullSecrets = base.PullPolicy, base.PullSecrets
			return image
		},
		redisv1.Image.String)
}

// authGroup keeps a key other than `password`, which this version implies.
func authGroup() group {
	return lens.NewGroup("auth",
		lens.At(func(c *RedisCluster) *string { return &c.Spec.PasswordSecret }),
		lens.At(func(c *hub) *redisv1.Auth { return &c.Spec.Auth }),
		func(_ redisv1.Auth, secret string) redisv1.Auth {
			if secret == "" {
				return redisv1.Auth{Mode: redisv1.AuthNone}
			}
			return redisv1.Auth{Mode: redisv1.AuthPassword, Password: &redisv1.PasswordAuth{
				SecretRef: redisv1.SecretKeyReference{Name: secret, Key: redisv1.DefaultPasswordKey},
			}}
		},
		func(auth redisv1.Auth) string {
			if auth.Password == nil {
				return ""
			}
			return auth.Password.SecretRef.Name
		})
}

func timeoutGroup() group {
	return lens.Same("timeout",
		lens.At(func(c *RedisCluster) *int32 { return &c.Spec.NodeTimeout }),
		lens.At(func(c *hub) *int32 { return &c.Spec.NodeTimeoutMilliseconds }))
}

// updateGroup translates the policies; one that is not known passes through.
func updateGroup() group {
	names := lens.Names{"rolling": "RollingUpdate", "recreate": "Recreate", "manual": "OnDelete"}
	return lens.NewGroup("update",
		lens.At(func(c *RedisCluster) *string { return &c.Spec.UpdatePolicy }),
		lens.At(func(c *hub) *redisv1.UpdateStrategy { return &c.Spec.UpdateStrategy }),
		func(base redisv1.UpdateStrategy, policy string) redisv1.UpdateStrategy {
			strategy := redisv1.UpdateStrategy{Type: redisv1.UpdateStrategyType(names.Up(policy))}
			if strategy.Type == redisv1.UpdateRolling {
				strategy.RollingUpdate = base.RollingUpdate
			}
			return strategy
		},
		func(s redisv1.UpdateStrategy) string { return names.Down(string(s.Type)) })
}

// affinityGroup shows Required as true, as it does Preferred.
func affinityGroup() group {
	return lens.NewGroup("affinity",
		lens.At(func(c *RedisCluster) **bool { return &c.Spec.AntiAffinity }),
		lens.At(func(c *hub) *redisv1.AntiAffinityMode { return &c.Spec.Scheduling.PodAntiAffinity.Mode }),
		func(_ redisv1.AntiAffinityMode, apart *bool) redisv1.AntiAffinityMode {
			switch {
			case apart == nil:
				return ""
			case *apart:
				return redisv1.AntiAffinityPreferred
			default:
				return redisv1.AntiAffinityNone
			}
		},
		func(mode redisv1.AntiAffinityMode) *bool {
			if mode == "" {
				return nil
			}
			return new(mode != redisv1.AntiAffinityNone)
		})
}

// placementGroup is what this version cannot say of where pods may run.
func placementGroup() group {
	return lens.Only[RedisCluster]("placement", lens.Field[hub, redisv1.Scheduling]{
		Get: func(c *hub) redisv1.Scheduling {
			scheduling := c.Spec.Scheduling
			scheduling.PodAntiAffinity.Mode = ""
			return scheduling
		},
		Set: func(c *hub, scheduling redisv1.Scheduling) {
			scheduling.PodAntiAffinity.Mode = c.Spec.Scheduling.PodAntiAffinity.Mode
			c.Spec.Scheduling = scheduling
		},
	})
}

func resourcesGroup() group {
	return lens.Only[RedisCluster]("resources",
		lens.At(func(c *hub) *corev1.ResourceRequirements { return &c.Spec.Resources }))
}

func behaviourGroup() group { return lens.Only[RedisCluster]("behaviour", spoke.BehaviourField()) }
