package v1beta1

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

func topologyGroup() group {
	return lens.Same("topology",
		lens.Field[RedisCluster, redisv1.Topology]{
			Get: func(c *RedisCluster) redisv1.Topology {
				return redisv1.Topology{Shards: c.Spec.Shards, ReplicasPerShard: c.Spec.ReplicasPerShard}
			},
			Set: func(c *RedisCluster, t redisv1.Topology) {
				c.Spec.Shards, c.Spec.ReplicasPerShard = t.Shards, t.ReplicasPerShard
			},
		},
		lens.At(func(c *hub) *redisv1.Topology { return &c.Spec.Topology }))
}

type image struct {
	Image      string            `json:"image,omitempty"`
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`
}

func imageGroup() group {
	return lens.NewGroup("image",
		lens.Field[RedisCluster, image]{
			Get: func(c *RedisCluster) image { return image{c.Spec.Image, c.Spec.ImagePullPolicy} },
			Set: func(c *RedisCluster, i image) { c.Spec.Image, c.Spec.ImagePullPolicy = i.Image, i.PullPolicy },
		},
		lens.At(func(c *hub) *redisv1.Image { return &c.Spec.Image }),
		func(base redisv1.Image, i image) redisv1.Image {
			lifted := redisv1.ParseImage(i.Image)
			lifted.PullPolicy, lifted.PullSecrets = redisv1.PullPolicy(i.PullPolicy), base.PullSecrets
			return lifted
		},
		func(i redisv1.Image) image { return image{i.String(), corev1.PullPolicy(i.PullPolicy)} })
}

func authGroup() group {
	return lens.NewGroup("auth",
		lens.At(func(c *RedisCluster) **Auth { return &c.Spec.Auth }),
		lens.At(func(c *hub) *redisv1.Auth { return &c.Spec.Auth }),
		func(_ redisv1.Auth, auth *Auth) redisv1.Auth {
			if auth == nil {
				return redisv1.Auth{Mode: redisv1.AuthNone}
			}
			return redisv1.Auth{Mode: redisv1.AuthPassword, Password: &redisv1.PasswordAuth{
				SecretRef: redisv1.SecretKeyReference(auth.SecretRef),
			}}
		},
		func(auth redisv1.Auth) *Auth {
			if auth.Password == nil {
				return nil
			}
			return &Auth{SecretRef: SecretKeyReference(auth.Password.SecretRef)}
		})
}

// timeoutGroup cuts what is less than a millisecond off. A duration that Go
// cannot read, which validation refuses, is none.
func timeoutGroup() group {
	return lens.NewGroup("timeout",
		lens.At(func(c *RedisCluster) *Duration { return &c.Spec.NodeTimeout }),
		lens.At(func(c *hub) *int32 { return &c.Spec.NodeTimeoutMilliseconds }),
		func(_ int32, text Duration) int32 {
			timeout, err := time.ParseDuration(string(text))
			if err != nil || timeout.Milliseconds() > maxInt32 || timeout < 0 {
				return 0
			}
			return int32(timeout.Milliseconds()) //nolint:gosec // the lines above limit it
		},
		func(milliseconds int32) Duration {
			if milliseconds == 0 {
				return ""
			}
			return Duration((time.Duration(milliseconds) * time.Millisecond).String())
		})
}

const maxInt32 = 1<<31 - 1

func updateGroup() group {
	return lens.NewGroup("update",
		lens.At(func(c *RedisCluster) *string { return &c.Spec.UpdateStrategy }),
		lens.At(func(c *hub) *redisv1.UpdateStrategy { return &c.Spec.UpdateStrategy }),
		func(base redisv1.UpdateStrategy, kind string) redisv1.UpdateStrategy {
			strategy := redisv1.UpdateStrategy{Type: redisv1.UpdateStrategyType(kind)}
			if strategy.Type == redisv1.UpdateRolling {
				strategy.RollingUpdate = base.RollingUpdate
			}
			return strategy
		},
		func(s redisv1.UpdateStrategy) string { return string(s.Type) })
}

func affinityGroup() group {
	return lens.NewGroup("affinity",
		lens.At(func(c *RedisCluster) *string { return &c.Spec.AntiAffinity }),
		lens.At(func(c *hub) *redisv1.AntiAffinityMode { return &c.Spec.Scheduling.PodAntiAffinity.Mode }),
		func(_ redisv1.AntiAffinityMode, mode string) redisv1.AntiAffinityMode {
			return redisv1.AntiAffinityMode(mode)
		},
		func(mode redisv1.AntiAffinityMode) string { return string(mode) })
}

type placement struct {
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
}

// placementGroup keeps what this version cannot say of where pods may run.
func placementGroup() group {
	return lens.NewGroup("placement",
		lens.Field[RedisCluster, placement]{
			Get: func(c *RedisCluster) placement { return placement{c.Spec.NodeSelector, c.Spec.Tolerations} },
			Set: func(c *RedisCluster, p placement) {
				c.Spec.NodeSelector, c.Spec.Tolerations = p.NodeSelector, p.Tolerations
			},
		},
		lens.Field[hub, redisv1.Scheduling]{
			Get: func(c *hub) redisv1.Scheduling {
				scheduling := c.Spec.Scheduling
				scheduling.PodAntiAffinity.Mode = ""
				return scheduling
			},
			Set: func(c *hub, scheduling redisv1.Scheduling) {
				scheduling.PodAntiAffinity.Mode = c.Spec.Scheduling.PodAntiAffinity.Mode
				c.Spec.Scheduling = scheduling
			},
		},
		func(base redisv1.Scheduling, p placement) redisv1.Scheduling {
			base.NodeSelector, base.Tolerations = p.NodeSelector, p.Tolerations
			return base
		},
		func(s redisv1.Scheduling) placement { return placement{s.NodeSelector, s.Tolerations} })
}

func resourcesGroup() group {
	return lens.Same("resources",
		lens.At(func(c *RedisCluster) *corev1.ResourceRequirements { return &c.Spec.Resources }),
		lens.At(func(c *hub) *corev1.ResourceRequirements { return &c.Spec.Resources }))
}
