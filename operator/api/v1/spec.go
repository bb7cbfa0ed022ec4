package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// RedisClusterSpec is what the user wants. A field with a default in every
// version of the API has it in the schema; what only this version has is
// absent until somebody sets it, and the field says what absence means.
type RedisClusterSpec struct {
	// topology is how many nodes there are, and how they share the work.
	// +optional
	// +default={}
	Topology Topology `json:"topology,omitzero"`

	// image is what the Redis containers run, Redis 7.0.13 or later.
	// +optional
	// +default={"repository":"redis","tag":"7.0"}
	Image Image `json:"image,omitzero"`

	// memory limits what Redis keeps.
	// +optional
	Memory Memory `json:"memory,omitzero"`

	// config are further settings of redis.conf. What the operator sets
	// itself, or has a field for, is refused here.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Config []ConfigEntry `json:"config,omitempty"`

	// storage is where data lives. Its type cannot be changed.
	// +optional
	// +default={}
	Storage Storage `json:"storage,omitzero"`

	// auth is how clients, and the nodes among themselves, authenticate.
	// +optional
	// +default={}
	Auth Auth `json:"auth,omitzero"`

	// nodeTimeoutMilliseconds is how long a node may be out of reach until
	// the others take it for failed.
	// +optional
	// +default=5000
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=60000
	NodeTimeoutMilliseconds int32 `json:"nodeTimeoutMilliseconds,omitempty"`

	// updateStrategy is how running nodes take up a new specification.
	// +optional
	// +default={}
	UpdateStrategy UpdateStrategy `json:"updateStrategy,omitzero"`

	// scheduling is where pods may run.
	// +optional
	// +default={}
	Scheduling Scheduling `json:"scheduling,omitzero"`

	// backups are the backups to take, each on its own schedule.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Backups []Backup `json:"backups,omitempty"`

	// resources are those of each Redis container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// deletionPolicy is what happens to data when the RedisCluster is deleted:
	// Delete removes the volumes, Retain keeps them, BackupThenDelete takes a
	// last backup to the destination of the first of backups, and removes the
	// volumes when it has succeeded. Absent means Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// rebalance bounds the work of moving slots between nodes.
	// +optional
	Rebalance Rebalance `json:"rebalance,omitzero"`

	// paused keeps the operator from changing anything of this RedisCluster,
	// its status apart. Absent means false.
	// +optional
	Paused *bool `json:"paused,omitempty"`
}

// Topology is how many nodes there are, and how they share the work.
type Topology struct {
	// shards is how many primaries share the 16384 slots. With fewer than 3
	// there is no automatic failover.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30
	Shards int32 `json:"shards,omitempty"`

	// replicasPerShard is how many replicas follow each primary. With none, a
	// shard is down while its primary is. Absent means 0.
	// +optional
	// +default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	ReplicasPerShard int32 `json:"replicasPerShard,omitempty"`
}

// Image names an image by repository, and by tag, digest or both.
//
// +kubebuilder:validation:XValidation:rule="!self.repository.contains('@') && !self.repository.matches(':[^/]*$')",fieldPath=".repository",message="repository may not hold a tag or a digest: use `tag` and `digest`"
type Image struct {
	// repository is the image's name with its registry, without tag.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Repository string `json:"repository,omitempty"`

	// tag is the image's tag.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Tag string `json:"tag,omitempty"`

	// digest is the image's digest. It decides where tag is given, too.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[a-f0-9]{64}$`
	Digest string `json:"digest,omitempty"`

	// pullPolicy is when the image is pulled. Absent means IfNotPresent.
	// +optional
	PullPolicy PullPolicy `json:"pullPolicy,omitempty"`

	// pullSecrets are Secrets with credentials of the registry.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	PullSecrets []LocalObjectReference `json:"pullSecrets,omitempty"`
}

// PullPolicy is when an image is pulled.
// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
type PullPolicy string

// When an image is pulled.
const (
	PullAlways       PullPolicy = "Always"
	PullIfNotPresent PullPolicy = "IfNotPresent"
	PullNever        PullPolicy = "Never"
)

// LocalObjectReference names an object in the namespace of the RedisCluster.
type LocalObjectReference struct {
	// name is the object's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// Memory limits what Redis keeps.
type Memory struct {
	// limit is how much memory the data of one node may take; at least 1Mi.
	// Absent means no limit but that of the container.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Mi')) >= 0",message="limit must be at least 1Mi"
	Limit *resource.Quantity `json:"limit,omitempty"`

	// evictionPolicy is what Redis does at the limit. Absent means NoEviction.
	// +optional
	EvictionPolicy EvictionPolicy `json:"evictionPolicy,omitempty"`
}

// EvictionPolicy is what Redis does when memory is at its limit.
// +kubebuilder:validation:Enum=NoEviction;AllKeysLRU;AllKeysLFU;AllKeysRandom;VolatileLRU;VolatileLFU;VolatileRandom;VolatileTTL
type EvictionPolicy string

// What Redis does when memory is at its limit.
const (
	EvictNone           EvictionPolicy = "NoEviction"
	EvictAllKeysLRU     EvictionPolicy = "AllKeysLRU"
	EvictAllKeysLFU     EvictionPolicy = "AllKeysLFU"
	EvictAllKeysRandom  EvictionPolicy = "AllKeysRandom"
	EvictVolatileLRU    EvictionPolicy = "VolatileLRU"
	EvictVolatileLFU    EvictionPolicy = "VolatileLFU"
	EvictVolatileRandom EvictionPolicy = "VolatileRandom"
	EvictVolatileTTL    EvictionPolicy = "VolatileTTL"
)

// ConfigEntry is one setting of redis.conf.
//
// +kubebuilder:validation:XValidation:rule="!(self.name in ['aclfile','bind','daemonize','dir','include','loadmodule','masterauth','masteruser','maxmemory','maxmemory-policy','port','protected-mode','rename-command','replicaof','requirepass','slaveof','supervised','tls-port','unixsocket','user']) && !self.name.startsWith('cluster-')",fieldPath=".name",message="name must be a setting that the operator does not set itself"
type ConfigEntry struct {
	// name is the setting's name, in lower case.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9-]*$`
	Name string `json:"name,omitempty"`

	// values are the setting's values: one line of redis.conf each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[^\r\n]*$`
	Values []string `json:"values,omitempty"`
}
