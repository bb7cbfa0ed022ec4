package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RedisCluster is a Redis Cluster that the operator runs.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=redisclusters,shortName=rdc
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.shards,statuspath=.status.shards,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Shards",type=integer,JSONPath=`.spec.shards`
// +kubebuilder:printcolumn:name="Ready-Shards",type=integer,JSONPath=`.status.readyShards`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must be at most 40 characters long: the names of its pods and their labels are built from it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that starts with a letter, of lower-case letters, digits and '-': its Services take it as their name"
type RedisCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the user wants.
	// +optional
	// +default={}
	Spec RedisClusterSpec `json:"spec,omitzero"`

	// status is what the operator observed.
	// +optional
	Status RedisClusterStatus `json:"status,omitzero"`
}

// RedisClusterList is a list of RedisClusters.
//
// +kubebuilder:object:root=true
type RedisClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []RedisCluster `json:"items"`
}

// RedisClusterSpec is what the user wants.
//
// +kubebuilder:validation:XValidation:rule="has(self.storage) == has(oldSelf.storage)",fieldPath=".storage",message="storage may not be added or removed: data would be lost"
type RedisClusterSpec struct {
	// shards is how many primaries share the 16384 slots. With fewer than 3
	// there is no automatic failover.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30
	Shards int32 `json:"shards,omitempty"`

	// replicasPerShard is how many replicas follow each primary.
	// +optional
	// +default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	ReplicasPerShard int32 `json:"replicasPerShard,omitempty"`

	// image is the full reference of the Redis image, Redis 7.0.13 or later.
	// +optional
	// +default="redis:7.0"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// imagePullPolicy is when the image is pulled. Absent means IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// maxMemory is how much memory the data of one node may take; at least
	// 1Mi. Absent means no limit but that of the container.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1Mi')) >= 0",message="maxMemory must be at least 1Mi"
	MaxMemory *resource.Quantity `json:"maxMemory,omitempty"`

	// config are further settings of redis.conf by name. Repeated settings are
	// one value a line.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Config map[string]ConfigValue `json:"config,omitempty"`

	// storage describes persistent volumes. Absent means that data goes with
	// its pod. It cannot be added or removed later.
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// auth names the password that clients and nodes share. Absent means none.
	// +optional
	Auth *Auth `json:"auth,omitempty"`

	// nodeTimeout is how long a node may be out of reach until the others take
	// it for failed: 1s to 60s, as Go writes durations.
	// +optional
	// +default="5s"
	NodeTimeout Duration `json:"nodeTimeout,omitempty"`

	// updateStrategy is how running nodes take up a new specification:
	// RollingUpdate, Recreate or OnDelete.
	// +optional
	// +default="RollingUpdate"
	// +kubebuilder:validation:Enum=RollingUpdate;Recreate;OnDelete
	// +kubebuilder:validation:MaxLength=64
	UpdateStrategy string `json:"updateStrategy,omitempty"`

	// antiAffinity is how strictly pods are kept on different Kubernetes
	// nodes: Required, Preferred or None.
	// +optional
	// +default="Preferred"
	// +kubebuilder:validation:Enum=Required;Preferred;None
	// +kubebuilder:validation:MaxLength=64
	AntiAffinity string `json:"antiAffinity,omitempty"`

	// backup is the backup to take on a schedule.
	// +optional
	Backup *Backup `json:"backup,omitempty"`

	// resources are those of each Redis container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// nodeSelector are labels that a Kubernetes node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of Kubernetes nodes that pods put up with.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// ConfigValue is one or more values of a setting, one a line.
// +kubebuilder:validation:MaxLength=4096
type ConfigValue string

// Duration is a length of time as Go writes it, such as 5s or 1500ms. It is a
// string, so that a spelling survives conversion.
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+(\\\\.[0-9]*)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('60s')",message="must be a duration from 1s to 60s"
type Duration string

// Storage describes the volume of each node.
//
// +kubebuilder:validation:XValidation:rule="has(self.className) == has(oldSelf.className) && (!has(self.className) || self.className == oldSelf.className)",fieldPath=".className",message="className may not be changed: a volume keeps its class"
type Storage struct {
	// size is that of each volume. It may grow and never shrink.
	// +optional
	// +default="1Gi"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).isGreaterThan(quantity('0'))",message="size must be more than 0"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",message="size may not shrink"
	Size resource.Quantity `json:"size,omitzero"`

	// className is the StorageClass. Absent means the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName *string `json:"className,omitempty"`
}

// Auth names a password.
type Auth struct {
	// secretRef is where the password is.
	// +required
	SecretRef SecretKeyReference `json:"secretRef,omitzero"`
}

// SecretKeyReference names one value of a Secret.
type SecretKeyReference struct {
	// name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is the value's key.
	// +optional
	// +default="password"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// Backup is a backup that is taken on a schedule.
type Backup struct {
	// schedule is when it is taken, as a CronJob has it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule string `json:"schedule,omitempty"`

	// retention is how many of these backups are kept.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Retention int32 `json:"retention,omitempty"`

	// volumeClaimName is the PersistentVolumeClaim that it is written to.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	VolumeClaimName string `json:"volumeClaimName,omitempty"`
}
