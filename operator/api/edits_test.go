package api_test

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
)

// edit is a change of one thing in an older version.
type edit struct {
	edit func(spoke)
	// took reports whether v1 shows the change, and what it shows.
	took func(*redisv1.RedisCluster) (string, bool)
	// clear removes from v1 what the edit may change.
	clear func(*redisv1.RedisCluster)
}

func edits(version string) map[string]edit {
	if version == "v1alpha1" {
		return alphaEdits()
	}
	return betaEdits()
}

func alpha(change func(*redisv1alpha1.RedisCluster)) func(spoke) {
	return func(s spoke) {
		if c, ok := s.(*redisv1alpha1.RedisCluster); ok {
			change(c)
		}
	}
}

func beta(change func(*redisv1beta1.RedisCluster)) func(spoke) {
	return func(s spoke) {
		if c, ok := s.(*redisv1beta1.RedisCluster); ok {
			change(c)
		}
	}
}

func alphaEdits() map[string]edit {
	return map[string]edit{
		"topology": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.Replicas, c.Spec.ShardReplicas = 8, 1 }),
			func(h *redisv1.RedisCluster) (string, bool) {
				return "topology", h.Spec.Topology == redisv1.Topology{Shards: 4, ReplicasPerShard: 1}
			},
			func(h *redisv1.RedisCluster) { h.Spec.Topology = redisv1.Topology{} },
		},
		"image, but not how it is pulled": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.Image = "other:1" }),
			func(h *redisv1.RedisCluster) (string, bool) {
				return h.Spec.Image.String(), h.Spec.Image.Repository == "other" && h.Spec.Image.Tag == "1"
			},
			func(h *redisv1.RedisCluster) {
				h.Spec.Image.Repository, h.Spec.Image.Tag, h.Spec.Image.Digest = "", "", ""
			},
		},
		"settings": {
			alpha(func(c *redisv1alpha1.RedisCluster) {
				c.Spec.MaxMemory, c.Spec.Config = "300mb", []string{"timeout 9", "maxmemory-policy volatile-ttl"}
			}),
			func(h *redisv1.RedisCluster) (string, bool) {
				return "memory", h.Spec.Memory.EvictionPolicy == redisv1.EvictVolatileTTL && h.Spec.Memory.Limit.String() == "300Mi" &&
					len(h.Spec.Config) == 1 && h.Spec.Config[0].Name == "timeout"
			},
			func(h *redisv1.RedisCluster) { h.Spec.Memory, h.Spec.Config = redisv1.Memory{}, nil },
		},
		"storage, but not its retention": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.Persistence, c.Spec.StorageSize = new(true), "77Gi" }),
			func(h *redisv1.RedisCluster) (string, bool) {
				return string(h.Spec.Storage.Type), h.Spec.Storage.Persistent != nil && h.Spec.Storage.Persistent.Size.String() == "77Gi"
			},
			func(h *redisv1.RedisCluster) { h.Spec.Storage.Type, h.Spec.Storage.Persistent = "", nil },
		},
		"auth": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.PasswordSecret = "another" }),
			func(h *redisv1.RedisCluster) (string, bool) {
				return string(h.Spec.Auth.Mode), h.Spec.Auth.Password != nil && h.Spec.Auth.Password.SecretRef.Name == "another"
			},
			func(h *redisv1.RedisCluster) { h.Spec.Auth = redisv1.Auth{} },
		},
		"timeout": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.NodeTimeout = 7123 }),
			func(h *redisv1.RedisCluster) (string, bool) { return "timeout", h.Spec.NodeTimeoutMilliseconds == 7123 },
			func(h *redisv1.RedisCluster) { h.Spec.NodeTimeoutMilliseconds = 0 },
		},
		"affinity, but not its place": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.AntiAffinity = new(false) }),
			func(h *redisv1.RedisCluster) (string, bool) {
				mode := h.Spec.Scheduling.PodAntiAffinity.Mode
				return string(mode), mode == redisv1.AntiAffinityNone || mode != redisv1.AntiAffinityPreferred
			},
			func(h *redisv1.RedisCluster) { h.Spec.Scheduling.PodAntiAffinity.Mode = "" },
		},
		"the default backup, but no other": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Spec.BackupSchedule, c.Spec.BackupClaim = "", "" }),
			func(h *redisv1.RedisCluster) (string, bool) { return "backups", mainBackup(h) == nil },
			withoutMainBackup,
		},
		"status": {
			alpha(func(c *redisv1alpha1.RedisCluster) { c.Status.ReadyReplicas = 99 }),
			func(h *redisv1.RedisCluster) (string, bool) { return "ready", h.Status.ReadyReplicas == 99 },
			func(h *redisv1.RedisCluster) { h.Status.ReadyReplicas = 0 },
		},
	}
}

func betaEdits() map[string]edit {
	return map[string]edit{
		"topology": {
			beta(func(c *redisv1beta1.RedisCluster) { c.Spec.Shards = 29 }),
			func(h *redisv1.RedisCluster) (string, bool) { return "shards", h.Spec.Topology.Shards == 29 },
			func(h *redisv1.RedisCluster) { h.Spec.Topology.Shards = 0 },
		},
		"image, but not its pull secrets": {
			beta(func(c *redisv1beta1.RedisCluster) { c.Spec.Image = "other:1" }),
			func(h *redisv1.RedisCluster) (string, bool) { return h.Spec.Image.String(), h.Spec.Image.Tag == "1" },
			func(h *redisv1.RedisCluster) {
				h.Spec.Image.Repository, h.Spec.Image.Tag, h.Spec.Image.Digest = "", "", ""
			},
		},
		"settings": {
			beta(func(c *redisv1beta1.RedisCluster) {
				c.Spec.MaxMemory, c.Spec.Config = new(resource.MustParse("300Mi")), map[string]redisv1beta1.ConfigValue{"timeout": "9"}
			}),
			func(h *redisv1.RedisCluster) (string, bool) {
				return "memory", h.Spec.Memory.Limit.String() == "300Mi" && len(h.Spec.Config) == 1
			},
			func(h *redisv1.RedisCluster) { h.Spec.Memory, h.Spec.Config = redisv1.Memory{}, nil },
		},
		"placement, but not what this version lacks": {
			beta(func(c *redisv1beta1.RedisCluster) { c.Spec.NodeSelector = map[string]string{"disk": "fast"} }),
			func(h *redisv1.RedisCluster) (string, bool) {
				return "selector", h.Spec.Scheduling.NodeSelector["disk"] == "fast"
			},
			func(h *redisv1.RedisCluster) { h.Spec.Scheduling.NodeSelector = nil },
		},
		"a new default backup, but no other": {
			beta(func(c *redisv1beta1.RedisCluster) {
				c.Spec.Backup = &redisv1beta1.Backup{Schedule: "@weekly", Retention: 9, VolumeClaimName: "claim"}
			}),
			func(h *redisv1.RedisCluster) (string, bool) {
				main := mainBackup(h)
				return "backups", main != nil && main.Schedule == "@weekly"
			},
			withoutMainBackup,
		},
		"time of the last backup": {
			beta(func(c *redisv1beta1.RedisCluster) { c.Status.LastBackupTime = &metav1.Time{} }),
			func(*redisv1.RedisCluster) (string, bool) { return "", true },
			func(h *redisv1.RedisCluster) { h.Status.Backups = nil },
		},
	}
}

func mainBackup(h *redisv1.RedisCluster) *redisv1.Backup {
	for i, b := range h.Spec.Backups {
		if b.Name == "default" {
			return &h.Spec.Backups[i]
		}
	}
	return nil
}

func withoutMainBackup(h *redisv1.RedisCluster) {
	var others []redisv1.Backup
	for _, b := range h.Spec.Backups {
		if b.Name != "default" {
			others = append(others, b)
		}
	}
	h.Spec.Backups = others
}
