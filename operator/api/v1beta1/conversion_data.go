package v1beta1

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	"github.com/seatrial/seatrial/operator/api/internal/spoke"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

type settings struct {
	MaxMemory *resource.Quantity     `json:"maxMemory,omitempty"`
	Config    map[string]ConfigValue `json:"config,omitempty"`
}

// settingsGroup holds memory and configuration together, since an entry of the
// one says what a field of the other does. Where both the field and an entry
// give maxmemory, the field counts.
func settingsGroup() group {
	return lens.NewGroup("settings",
		lens.Field[RedisCluster, settings]{
			Get: func(c *RedisCluster) settings { return settings{c.Spec.MaxMemory, c.Spec.Config} },
			Set: func(c *RedisCluster, s settings) { c.Spec.MaxMemory, c.Spec.Config = s.MaxMemory, s.Config },
		},
		spoke.SettingsField(),
		func(_ spoke.HubSettings, s settings) spoke.HubSettings {
			lifted := spoke.Sort(lines(s.Config)).Hub(s.MaxMemory)
			return lifted
		},
		func(h spoke.HubSettings) settings {
			s := settings{MaxMemory: h.Memory.Limit}
			for _, line := range spoke.Lines(h.Config, h.Memory.EvictionPolicy) {
				if s.Config == nil {
					s.Config = map[string]ConfigValue{}
				}
				if before, repeated := s.Config[line.Name]; repeated {
					s.Config[line.Name] = before + "\n" + ConfigValue(line.Value)
					continue
				}
				s.Config[line.Name] = ConfigValue(line.Value)
			}
			return s
		})
}

func lines(config map[string]ConfigValue) []spoke.Line {
	var all []spoke.Line
	for _, name := range slices.Sorted(maps.Keys(config)) {
		for value := range strings.SplitSeq(string(config[name]), "\n") {
			all = append(all, spoke.Line{Name: strings.ToLower(strings.TrimSpace(name)), Value: value})
		}
	}
	return all
}

// storageGroup keeps what happens to volumes afterwards, which this version
// cannot say.
func storageGroup() group {
	return lens.NewGroup("storage",
		lens.At(func(c *RedisCluster) **Storage { return &c.Spec.Storage }),
		lens.At(func(c *hub) *redisv1.Storage { return &c.Spec.Storage }),
		func(base redisv1.Storage, s *Storage) redisv1.Storage {
			lifted := redisv1.Storage{Type: redisv1.StorageEphemeral, Retention: base.Retention}
			if s != nil {
				lifted.Type, lifted.Persistent = redisv1.StoragePersistent, new(redisv1.PersistentStorage(*s))
			}
			return lifted
		},
		func(h redisv1.Storage) *Storage {
			if h.Type != redisv1.StoragePersistent || h.Persistent == nil {
				return nil
			}
			return new(Storage(*h.Persistent))
		})
}

// backupGroup shows the backup that is called default.
func backupGroup() group {
	return lens.NewGroup("backup",
		lens.At(func(c *RedisCluster) **Backup { return &c.Spec.Backup }),
		lens.At(func(c *hub) *[]redisv1.Backup { return &c.Spec.Backups }),
		func(base []redisv1.Backup, b *Backup) []redisv1.Backup {
			if b == nil {
				return spoke.WithoutMainBackup(base)
			}
			return spoke.WithMainBackup(base, b.Schedule, b.Retention, b.VolumeClaimName)
		},
		func(all []redisv1.Backup) *Backup {
			main, found := spoke.MainBackup(all)
			if !found {
				return nil
			}
			return &Backup{main.Schedule, main.Retention, main.Destination.PVC.ClaimName}
		})
}

func behaviourGroup() group { return lens.Only[RedisCluster]("behaviour", spoke.BehaviourField()) }
