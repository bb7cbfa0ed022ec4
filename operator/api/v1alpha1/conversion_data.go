package v1alpha1

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	"github.com/seatrial/seatrial/operator/api/internal/spoke"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

type settings struct {
	MaxMemory string   `json:"maxMemory,omitempty"`
	Config    []string `json:"config,omitempty"`
}

// settingsGroup holds memory and configuration together, since a line of the
// one says what a field of the other does. Comments, order, case and repeated
// spaces are spelling. Where both the field and a line give maxmemory, the
// field counts.
func settingsGroup() group {
	return lens.NewGroup("settings",
		lens.Field[RedisCluster, settings]{
			Get: func(c *RedisCluster) settings { return settings{c.Spec.MaxMemory, c.Spec.Config} },
			Set: func(c *RedisCluster, s settings) { c.Spec.MaxMemory, c.Spec.Config = s.MaxMemory, s.Config },
		},
		spoke.SettingsField(),
		func(_ spoke.HubSettings, s settings) spoke.HubSettings {
			lines := make([]spoke.Line, 0, len(s.Config))
			for _, text := range s.Config {
				lines = append(lines, spoke.ParseLine(text))
			}
			return spoke.Sort(lines).Hub(spoke.ParseMemory(s.MaxMemory))
		},
		func(h spoke.HubSettings) settings {
			s := settings{MaxMemory: spoke.FormatMemory(h.Memory.Limit)}
			for _, line := range spoke.Lines(h.Config, h.Memory.EvictionPolicy) {
				s.Config = append(s.Config, line.String())
			}
			return s
		})
}

type storage struct {
	Persistence  *bool  `json:"persistence,omitempty"`
	StorageSize  string `json:"storageSize,omitempty"`
	StorageClass string `json:"storageClass,omitempty"`
}

// storageGroup keeps a size and a class that are not in force, and what
// happens to volumes afterwards, which this version cannot say.
func storageGroup() group {
	return lens.NewGroup("storage",
		lens.Field[RedisCluster, storage]{
			Get: func(c *RedisCluster) storage {
				return storage{c.Spec.Persistence, c.Spec.StorageSize, c.Spec.StorageClass}
			},
			Set: func(c *RedisCluster, s storage) {
				c.Spec.Persistence, c.Spec.StorageSize, c.Spec.StorageClass = s.Persistence, s.StorageSize, s.StorageClass
			},
		},
		lens.At(func(c *hub) *redisv1.Storage { return &c.Spec.Storage }),
		liftStorage, projectStorage)
}

func liftStorage(base redisv1.Storage, s storage) redisv1.Storage {
	lifted := redisv1.Storage{Type: redisv1.StorageEphemeral, Retention: base.Retention}
	if s.Persistence == nil || !*s.Persistence {
		return lifted
	}
	size, err := resource.ParseQuantity(cmp.Or(s.StorageSize, redisv1.DefaultStorageSize))
	if err != nil {
		size = resource.MustParse(redisv1.DefaultStorageSize)
	}
	lifted.Type = redisv1.StoragePersistent
	lifted.Persistent = &redisv1.PersistentStorage{Size: size}
	if s.StorageClass != "" {
		lifted.Persistent.ClassName = &s.StorageClass
	}
	return lifted
}

func projectStorage(h redisv1.Storage) storage {
	s := storage{Persistence: new(h.Type == redisv1.StoragePersistent)}
	if h.Type == "" {
		s.Persistence = nil
	}
	if h.Type != redisv1.StoragePersistent || h.Persistent == nil {
		return s
	}
	s.StorageSize = h.Persistent.Size.String()
	if h.Persistent.ClassName != nil {
		s.StorageClass = *h.Persistent.ClassName
	}
	return s
}

type backup struct {
	Schedule string `json:"schedule,omitempty"`
	Keep     int32  `json:"keep,omitempty"`
	Claim    string `json:"claim,omitempty"`
}

// backupGroup shows the backup that is called default.
func backupGroup() group {
	return lens.NewGroup("backup",
		lens.Field[RedisCluster, backup]{
			Get: func(c *RedisCluster) backup {
				return backup{c.Spec.BackupSchedule, c.Spec.BackupKeep, c.Spec.BackupClaim}
			},
			Set: func(c *RedisCluster, b backup) {
				c.Spec.BackupSchedule, c.Spec.BackupKeep, c.Spec.BackupClaim = b.Schedule, b.Keep, b.Claim
			},
		},
		lens.At(func(c *hub) *[]redisv1.Backup { return &c.Spec.Backups }),
		func(base []redisv1.Backup, b backup) []redisv1.Backup {
			if b.Schedule == "" && b.Claim == "" {
				return spoke.WithoutMainBackup(base)
			}
			return spoke.WithMainBackup(base, b.Schedule, b.Keep, b.Claim)
		},
		func(all []redisv1.Backup) backup {
			main, found := spoke.MainBackup(all)
			if !found {
				return backup{Keep: spoke.DefaultRetention}
			}
			return backup{main.Schedule, main.Retention, main.Destination.PVC.ClaimName}
		})
}
