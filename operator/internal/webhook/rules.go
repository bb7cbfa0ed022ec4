package webhook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Check returns what is wrong with a RedisCluster on its own.
func Check(c *redisv1.RedisCluster) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		topology(spec.Child("topology"), c.Spec.Topology),
		image(spec.Child("image"), c.Spec.Image),
		memory(spec.Child("memory"), c.Spec.Memory),
		config(spec.Child("config"), c.Spec.Config),
		storage(spec.Child("storage"), c.Spec.Storage),
		auth(spec.Child("auth"), c.Spec.Auth),
		timing(spec, c.Spec),
		backups(spec, c.Spec),
	)
}

const (
	mostShards        = 30
	mostReplicas      = 5
	leastNodeTimeout  = 1000
	mostNodeTimeout   = 60000
	mostSettings      = 64
	mostValueLength   = 256
	leastMemoryLimit  = 1 << 20
	settingNameLength = 64
)

func between(path *field.Path, value, least, most int32) field.ErrorList {
	if value >= least && value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be from %d to %d", least, most))}
}

func topology(path *field.Path, t redisv1.Topology) field.ErrorList {
	return append(between(path.Child("shards"), t.Primaries(), 1, mostShards),
		between(path.Child("replicasPerShard"), t.ReplicasPerShard, 0, mostReplicas)...)
}

var (
	digest = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
	tag    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
)

func image(path *field.Path, i redisv1.Image) field.ErrorList {
	var problems field.ErrorList
	if i.Repository == "" && i.Tag == "" && i.Digest == "" {
		return nil
	}
	if i.Repository == "" || strings.ContainsAny(i.Repository, "@ \t\n") || redisv1.ParseImage(i.Repository).Tag != "" {
		problems = append(problems, field.Invalid(path.Child("repository"), i.Repository, "must name an image without tag and digest"))
	}
	if i.Tag != "" && !tag.MatchString(i.Tag) {
		problems = append(problems, field.Invalid(path.Child("tag"), i.Tag, "must be a tag, such as '7.0'"))
	}
	if i.Digest != "" && !digest.MatchString(i.Digest) {
		problems = append(problems, field.Invalid(path.Child("digest"), i.Digest, "must be 'sha256:' and 64 hexadecimal digits"))
	}
	return problems
}

func memory(path *field.Path, m redisv1.Memory) field.ErrorList {
	var problems field.ErrorList
	if m.Limit != nil && m.Limit.CmpInt64(leastMemoryLimit) < 0 {
		problems = append(problems, field.Invalid(path.Child("limit"), m.Limit.String(), "must be at least 1Mi"))
	}
	if m.EvictionPolicy != "" && !slices.Contains(redisv1.EvictionPolicies(), m.EvictionPolicy) {
		problems = append(problems, field.NotSupported(path.Child("evictionPolicy"), m.EvictionPolicy, redisv1.EvictionPolicies()))
	}
	return problems
}

var settingName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func config(path *field.Path, entries []redisv1.ConfigEntry) field.ErrorList {
	var problems field.ErrorList
	if len(entries) > mostSettings {
		problems = append(problems, field.TooMany(path, len(entries), mostSettings))
	}
	for _, entry := range entries {
		at := path.Key(entry.Name)
		switch {
		case len(entry.Name) > settingNameLength || !settingName.MatchString(entry.Name):
			problems = append(problems, field.Invalid(at.Child("name"), entry.Name, "must be the name of a setting of redis.conf, in lower case"))
		case redisv1.OwnsSetting(entry.Name):
			problems = append(problems, field.Invalid(at.Child("name"), entry.Name, "must be a setting that the operator does not set itself"))
		}
		for i, value := range entry.Values {
			if strings.ContainsAny(value, "\r\n") || len(value) > mostValueLength {
				problems = append(problems, field.Invalid(at.Child("values").Index(i), value, fmt.Sprintf("must be one line of at most %d characters", mostValueLength)))
			}
		}
	}
	return problems
}

func storage(path *field.Path, s redisv1.Storage) field.ErrorList {
	switch {
	case s.IsPersistent() && s.Persistent == nil:
		return field.ErrorList{field.Required(path.Child("persistent"), "must be set where `type` is 'Persistent'")}
	case !s.IsPersistent() && s.Persistent != nil:
		return field.ErrorList{field.Forbidden(path.Child("persistent"), "may not be set unless `type` is 'Persistent'")}
	case s.Persistent != nil && !s.Persistent.Size.IsZero() && s.Persistent.Size.Sign() <= 0:
		return field.ErrorList{field.Invalid(path.Child("persistent", "size"), s.Persistent.Size.String(), "must be more than 0")}
	default:
		return nil
	}
}

func auth(path *field.Path, a redisv1.Auth) field.ErrorList {
	switch {
	case a.Mode == redisv1.AuthPassword && (a.Password == nil || a.Password.SecretRef.Name == ""):
		return field.ErrorList{field.Required(path.Child("password"), "must be set where `mode` is 'Password'")}
	case a.Mode != redisv1.AuthPassword && a.Password != nil:
		return field.ErrorList{field.Forbidden(path.Child("password"), "may not be set unless `mode` is 'Password'")}
	default:
		return nil
	}
}

func timing(path *field.Path, s redisv1.RedisClusterSpec) field.ErrorList {
	problems := between(path.Child("nodeTimeoutMilliseconds"), s.NodeTimeout(), leastNodeTimeout, mostNodeTimeout)
	strategies := []redisv1.UpdateStrategyType{redisv1.UpdateRolling, redisv1.UpdateRecreate, redisv1.UpdateOnDelete}
	if !slices.Contains(strategies, s.UpdateStrategy.Strategy()) {
		problems = append(problems, field.NotSupported(path.Child("updateStrategy", "type"), s.UpdateStrategy.Type, strategies))
	}
	modes := []redisv1.AntiAffinityMode{redisv1.AntiAffinityRequired, redisv1.AntiAffinityPreferred, redisv1.AntiAffinityNone}
	if mode := s.Scheduling.PodAntiAffinity.AntiAffinity(); !slices.Contains(modes, mode) {
		problems = append(problems, field.NotSupported(path.Child("scheduling", "podAntiAffinity", "mode"), mode, modes))
	}
	return problems
}

func backups(spec *field.Path, s redisv1.RedisClusterSpec) field.ErrorList {
	path := spec.Child("backups")
	var problems field.ErrorList
	for _, backup := range s.Backups {
		at := path.Key(backup.Name)
		// A CronJob refuses a time zone within the schedule, and so would ours
		// later, with nobody there to tell.
		if strings.Contains(backup.Schedule, "TZ") {
			problems = append(problems, field.Invalid(at.Child("schedule"), backup.Schedule, "may not hold a time zone: use `timeZone`"))
		} else if _, err := cron.ParseStandard(backup.Schedule); err != nil {
			problems = append(problems, field.Invalid(at.Child("schedule"), backup.Schedule, err.Error()))
		}
		if _, err := time.LoadLocation(backup.TimeZone); err != nil || strings.EqualFold(backup.TimeZone, "local") {
			problems = append(problems, field.Invalid(at.Child("timeZone"), backup.TimeZone, "must be the name of a time zone, such as 'Europe/Berlin'"))
		}
		if backup.Destination.PVC.ClaimName == "" {
			problems = append(problems, field.Required(at.Child("destination", "pvc", "claimName"), "must name a PersistentVolumeClaim"))
		}
	}
	if s.Policy() == redisv1.DeletionBackupThenDelete && len(s.Backups) == 0 {
		problems = append(problems, field.Required(path, "must name a destination where `deletionPolicy` is 'BackupThenDelete'"))
	}
	return problems
}

// transition returns what may not change from old to next.
func transition(old, next *redisv1.RedisCluster) field.ErrorList {
	path := field.NewPath("spec", "storage")
	before, after := old.Spec.Storage, next.Spec.Storage
	if before.IsPersistent() != after.IsPersistent() {
		return field.ErrorList{field.Invalid(path.Child("type"), after.Type, "may not be changed: data would be lost")}
	}
	if before.Persistent == nil || after.Persistent == nil {
		return nil
	}
	var problems field.ErrorList
	if class(before) != class(after) {
		problems = append(problems, field.Invalid(path.Child("persistent", "className"), class(after), "may not be changed: a volume keeps its class"))
	}
	if was, is := size(before), size(after); is.Cmp(was) < 0 {
		problems = append(problems, field.Invalid(path.Child("persistent", "size"), is.String(), "may not shrink from "+was.String()))
	}
	return problems
}

func class(s redisv1.Storage) string {
	if s.Persistent.ClassName == nil {
		return ""
	}
	return *s.Persistent.ClassName
}

func size(s redisv1.Storage) resource.Quantity {
	if s.Persistent.Size.IsZero() {
		return resource.MustParse(redisv1.DefaultStorageSize)
	}
	return s.Persistent.Size
}
