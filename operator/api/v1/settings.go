package v1

import (
	"slices"
	"strings"
)

// ownSettings are settings of redis.conf that the operator sets itself, that
// have a field of their own, or that would take a node out of its hands. The
// rule on ConfigEntry lists the same ones.
var ownSettings = []string{
	"aclfile", "bind", "daemonize", "dir", "include", "loadmodule", "masterauth", "masteruser", "maxmemory",
	"maxmemory-policy", "port", "protected-mode", "rename-command", "replicaof", "requirepass", "slaveof",
	"supervised", "tls-port", "unixsocket", "user",
}

// OwnsSetting reports whether a setting of that name may not stand in
// spec.config.
func OwnsSetting(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "cluster-") || slices.Contains(ownSettings, name)
}
