package resource

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
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
		desired: func(t Target) *corev1ac.ConfigMapApplyConfiguration {
			c := t.Cluster
			return corev1ac.ConfigMap(ConfigMapName(c.Name), c.Namespace).
				WithLabels(childLabels(c)).
				WithOwnerReferences(owner(c)).
				WithData(map[string]string{configFile: redisConfig(c)})
		},
		extract: corev1ac.ExtractConfigMap,
	}.child()
}

// ConfigMapName is the name of the ConfigMap.
func ConfigMapName(cluster string) string { return cluster + "-config" }
