package v1

import "cmp"

// The schema's defaults are not on every object that the operator reads: a
// default of this version alone is missing on an object that was created
// through another version, until it is read from etcd
// (kubernetes.io, "Versions in CustomResourceDefinitions"). So what a field
// means where it is absent is said here once more.

// What fields mean where they are absent.
const (
	DefaultShards                  int32 = 3
	DefaultNodeTimeoutMilliseconds int32 = 5000
	DefaultFailoverTimeoutSeconds  int32 = 60
	DefaultSlotsPerStep            int32 = 64
	DefaultKeysPerMigrate          int32 = 100
	DefaultMigrateTimeoutMillis    int32 = 1000
	DefaultBackupRetention         int32 = 3
	DefaultBackupParallelism       int32 = 2
)

// Pods is how many Redis pods the topology asks for.
func (t Topology) Pods() int32 {
	return t.Primaries() * (1 + max(t.ReplicasPerShard, 0))
}

// Primaries is how many shards the topology asks for.
func (t Topology) Primaries() int32 { return cmp.Or(t.Shards, DefaultShards) }

// NodeTimeout is spec.nodeTimeoutMilliseconds, or its default.
func (s RedisClusterSpec) NodeTimeout() int32 {
	return cmp.Or(s.NodeTimeoutMilliseconds, DefaultNodeTimeoutMilliseconds)
}

// Reference is the image to run, the default one where none is named.
func (i Image) Reference() string {
	if i.Repository == "" {
		i.Repository, i.Tag, i.Digest = "redis", "7.0", ""
	}
	return i.String()
}

// Policy is the eviction policy, NoEviction where none is named.
func (m Memory) Policy() EvictionPolicy { return cmp.Or(m.EvictionPolicy, EvictNone) }

// IsPersistent reports whether volumes outlive their pods.
func (s Storage) IsPersistent() bool { return s.Type == StoragePersistent }

// WhenScaledPolicy is what happens to the volumes of nodes that were taken away.
func (s Storage) WhenScaledPolicy() RetentionPolicy {
	return cmp.Or(s.Retention.WhenScaled, RetentionDelete)
}

// Reference is where the password is. It reports false where there is none.
func (a Auth) Reference() (SecretKeyReference, bool) {
	if a.Mode != AuthPassword || a.Password == nil {
		return SecretKeyReference{}, false
	}
	reference := a.Password.SecretRef
	reference.Key = cmp.Or(reference.Key, DefaultPasswordKey)
	return reference, true
}

// Strategy is how running nodes take up a new specification.
func (u UpdateStrategy) Strategy() UpdateStrategyType { return cmp.Or(u.Type, UpdateRolling) }

// FailoverTimeout is how long a planned failover may take, in seconds.
func (u UpdateStrategy) FailoverTimeout() int32 {
	if u.RollingUpdate == nil {
		return DefaultFailoverTimeoutSeconds
	}
	return cmp.Or(u.RollingUpdate.FailoverTimeoutSeconds, DefaultFailoverTimeoutSeconds)
}

// UnsafeShards is what happens to a shard that cannot be updated safely.
func (u UpdateStrategy) UnsafeShards() UnsafeShardPolicy {
	if u.RollingUpdate == nil {
		return UnsafeBlock
	}
	return cmp.Or(u.RollingUpdate.UnsafeShardPolicy, UnsafeBlock)
}

// AntiAffinity is how hard pods are kept apart, and Key by which label.
func (p PodAntiAffinity) AntiAffinity() AntiAffinityMode {
	return cmp.Or(p.Mode, AntiAffinityPreferred)
}

// Key is the label of Kubernetes nodes that tells places apart.
func (p PodAntiAffinity) Key() string { return cmp.Or(p.TopologyKey, DefaultTopologyKey) }

// Policy is what happens to data when the RedisCluster is deleted.
func (s RedisClusterSpec) Policy() DeletionPolicy { return cmp.Or(s.DeletionPolicy, DeletionDelete) }

// WhenDeletedPolicy is what happens to volumes when the RedisCluster is
// deleted.
func (s RedisClusterSpec) WhenDeletedPolicy() RetentionPolicy {
	if s.Storage.Retention.WhenDeleted != "" {
		return s.Storage.Retention.WhenDeleted
	}
	if s.Policy() == DeletionRetain {
		return RetentionRetain
	}
	return RetentionDelete
}

// Slots is how many slots are moved until the whole is looked at again.
func (r Rebalance) Slots() int32 { return cmp.Or(r.SlotsPerStep, DefaultSlotsPerStep) }

// Keys is how many keys one command moves.
func (r Rebalance) Keys() int32 { return cmp.Or(r.KeysPerMigrate, DefaultKeysPerMigrate) }

// Timeout is how long such a command may pause, in milliseconds. It stays
// under half of the node timeout: the command blocks both nodes, and others
// would take them for failed (redis#3396).
func (r Rebalance) Timeout(nodeTimeout int32) int32 {
	return min(cmp.Or(r.MigrateTimeoutMilliseconds, DefaultMigrateTimeoutMillis), max(nodeTimeout/2-1, 1))
}

// Kept is how many backups are kept.
func (b Backup) Kept() int32 { return cmp.Or(b.Retention, DefaultBackupRetention) }

// Workers is how many shards are copied at a time.
func (b Backup) Workers() int32 { return cmp.Or(b.Parallelism, DefaultBackupParallelism) }

// IsPaused reports whether nothing may be changed.
func (s RedisClusterSpec) IsPaused() bool { return s.Paused != nil && *s.Paused }
