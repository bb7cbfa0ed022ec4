package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Setting is one setting of redis.conf: a line for each value.
type Setting struct {
	Name   string
	Values []string
}

// redisConfig is the configuration that every node shares. What differs from
// pod to pod stands on the command line. What the user may not set comes last,
// since the last line of a name counts.
//
// The node's identity and its data are on the same volume, so that both
// survive or both are lost: an identity that outlives its data comes back as
// an empty primary, and its replicas empty themselves to follow it. The
// append-only file is on even without a persistent volume, because a restart
// of the container alone keeps the volume.
func redisConfig(c *redisv1.RedisCluster) string {
	return strings.Join(slices.Concat(
		[]string{
			"appendonly yes",
			"appendfsync everysec",
			`save ""`,
			"repl-backlog-size 64mb",
			"shutdown-timeout 10",
		},
		lines(userSettings(c)),
		lines(fieldSettings(c)),
		[]string{
			"bind * -::*",
			"protected-mode no",
			"port 6379",
			"dir /data",
			"cluster-enabled yes",
			"cluster-config-file /data/nodes.conf",
			"cluster-allow-replica-migration no",
			"",
		},
	), "\n")
}

func lines(settings []Setting) []string {
	var all []string
	for _, setting := range settings {
		for _, value := range setting.Values {
			all = append(all, setting.Name+" "+value)
		}
	}
	return all
}

// fieldSettings are the settings that have fields of their own.
func fieldSettings(c *redisv1.RedisCluster) []Setting {
	limit := int64(0)
	if c.Spec.Memory.Limit != nil {
		limit = c.Spec.Memory.Limit.Value()
	}
	return []Setting{
		{"maxmemory", []string{strconv.FormatInt(limit, 10)}},
		{"maxmemory-policy", []string{c.Spec.Memory.Policy().RedisName()}},
		{"cluster-node-timeout", []string{strconv.Itoa(int(c.Spec.NodeTimeout()))}},
	}
}

// userSettings are those of spec.config, sorted by name: the order of a list
// that is keyed by name means nothing.
func userSettings(c *redisv1.RedisCluster) []Setting {
	var settings []Setting
	for _, entry := range c.Spec.Config {
		if !redisv1.OwnsSetting(entry.Name) {
			settings = append(settings, Setting{entry.Name, entry.Values})
		}
	}
	slices.SortStableFunc(settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return settings
}

// restartOnly are the settings that a running Redis 7.0 does not change: those
// that its config.c marks as immutable, and those that are no settings to
// CONFIG SET at all.
var restartOnly = []string{
	"always-show-logo", "aof_rewrite_cpulist", "aof-rewrite-cpulist", "appenddirname", "appendfilename",
	"bgsave_cpulist", "bgsave-cpulist", "bio_cpulist", "bio-cpulist", "crash-log-enabled", "databases",
	"disable-thp", "enable-debug-command", "enable-module-command", "enable-protected-configs", "io-threads",
	"io-threads-do-reads", "logfile", "pidfile", "rdbchecksum", "server_cpulist", "server-cpulist",
	"socket-mark-id", "syslog-enabled", "syslog-facility", "syslog-ident", "tcp-backlog", "unixsocketperm",
}

// LiveSettings are the settings that running nodes take up without a restart.
func LiveSettings(c *redisv1.RedisCluster) []Setting {
	return slices.Concat(slices.DeleteFunc(userSettings(c), needsRestart), fieldSettings(c))
}

func needsRestart(s Setting) bool { return slices.Contains(restartOnly, s.Name) }

// configHash changes when pods must be restarted to take up a configuration:
// with a setting that a running node does not change, and with the names of
// all others, because nothing but a restart gives a setting its default back.
func configHash(c *redisv1.RedisCluster) string {
	hash := sha256.New()
	for _, setting := range userSettings(c) {
		if needsRestart(setting) {
			fmt.Fprintf(hash, "%s %q\n", setting.Name, setting.Values)
		} else {
			fmt.Fprintln(hash, setting.Name)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
