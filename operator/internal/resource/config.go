package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
)

// configFile is the key in the ConfigMap and the name of the mounted file.
const configFile = "redis.conf"

// configMap holds the configuration file of every Redis node.
func configMap() Child {
	return recipe[*corev1.ConfigMap, *corev1ac.ConfigMapApplyConfiguration]{
		role:    RoleConfig,
		version: corev1.SchemeGroupVersion,
		kind:    "ConfigMap",
		name:    ConfigMapName,
		empty: func() *corev1.ConfigMap {
			return &corev1.ConfigMap{}
		},
		desired: func(c *redisv1alpha1.RedisCluster) *corev1ac.ConfigMapApplyConfiguration {
			return corev1ac.ConfigMap(ConfigMapName(c.Name), c.Namespace).
				WithLabels(childLabels(c)).
				WithOwnerReferences(owner(c)).
				WithData(map[string]string{configFile: redisConfig()})
		},
		extract: corev1ac.ExtractConfigMap,
	}.child()
}

// ConfigMapName is the name of the ConfigMap.
func ConfigMapName(cluster string) string { return cluster + "-config" }

// redisConfig is the configuration that every node shares. What differs from
// pod to pod stands on the command line.
//
// The node's identity and its data are on the same volume, so that both
// survive or both are lost: an identity that outlives its data comes back as
// an empty primary, and its replicas empty themselves to follow it. The
// append-only file is on even without a persistent volume, because a restart
// of the container alone keeps the volume.
func redisConfig() string {
	return strings.Join([]string{
		"bind * -::*",
		"protected-mode no",
		"port 6379",
		"dir /data",
		"appendonly yes",
		"appendfsync everysec",
		`save ""`,
		"repl-backlog-size 64mb",
		"shutdown-timeout 10",
		"cluster-enabled yes",
		"cluster-config-file /data/nodes.conf",
		"cluster-node-timeout 5000",
		"cluster-allow-replica-migration no",
		"",
	}, "\n")
}

// configHash changes when pods must be restarted to take up a configuration.
func configHash(config string) string {
	sum := sha256.Sum256([]byte(config))
	return hex.EncodeToString(sum[:8])
}
