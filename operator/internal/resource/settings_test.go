package resource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

func withConfig(entries ...redisv1.ConfigEntry) *redisv1.RedisCluster {
	c := cluster()
	c.Spec.Config = entries
	return c
}

func entry(name string, values ...string) redisv1.ConfigEntry {
	return redisv1.ConfigEntry{Name: name, Values: values}
}

// TestRestartsAreForWhatNeedsThem compares the hash on pods before and after a
// change.
func TestRestartsAreForWhatNeedsThem(t *testing.T) {
	base := withConfig(entry("databases", "16"), entry("save", "900 1"))
	tests := map[string]struct {
		changed *redisv1.RedisCluster
		restart bool
	}{
		"a live setting changes":      {withConfig(entry("databases", "16"), entry("save", "60 1")), false},
		"a restart-only one changes":  {withConfig(entry("databases", "32"), entry("save", "900 1")), true},
		"a live setting comes":        {withConfig(entry("databases", "16"), entry("save", "900 1"), entry("hz", "20")), true},
		"a live setting goes":         {withConfig(entry("databases", "16")), true},
		"the order changes":           {withConfig(entry("save", "900 1"), entry("databases", "16")), false},
		"an owned setting is ignored": {withConfig(entry("databases", "16"), entry("save", "900 1"), entry("port", "1")), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := configHash(base) != configHash(tc.changed); got != tc.restart {
				t.Errorf("restart is %t, want %t", got, tc.restart)
			}
		})
	}
}

func TestLiveSettings(t *testing.T) {
	c := withConfig(entry("save", "900 1", "60 100"), entry("databases", "16"), entry("cluster-enabled", "no"))
	c.Spec.Memory = redisv1.Memory{Limit: new(resource.MustParse("64Mi")), EvictionPolicy: redisv1.EvictAllKeysLRU}
	c.Spec.NodeTimeoutMilliseconds = 7000
	want := []Setting{
		{"save", []string{"900 1", "60 100"}},
		{"maxmemory", []string{"67108864"}},
		{"maxmemory-policy", []string{"allkeys-lru"}},
		{"cluster-node-timeout", []string{"7000"}},
	}
	if diff := cmp.Diff(want, LiveSettings(c)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// TestOwnSettingsComeLast guards the order of redis.conf, whose last line of a
// name counts.
func TestOwnSettingsComeLast(t *testing.T) {
	c := withConfig(entry("dir", "/elsewhere"), entry("appendfsync", "always"))
	want := `appendonly yes
appendfsync everysec
save ""
repl-backlog-size 64mb
shutdown-timeout 10
appendfsync always
maxmemory 0
maxmemory-policy noeviction
cluster-node-timeout 5000
bind * -::*
protected-mode no
port 6379
dir /data
cluster-enabled yes
cluster-config-file /data/nodes.conf
cluster-allow-replica-migration no
`
	if diff := cmp.Diff(want, redisConfig(c)); diff != "" {
		t.Errorf("redis.conf (-want +got):\n%s", diff)
	}
}
