package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RedisCluster is a Redis Cluster that the operator runs.
//
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion:warning="cache.example.com/v1alpha1 RedisCluster is deprecated; use cache.example.com/v1 RedisCluster"
// +kubebuilder:resource:path=redisclusters,shortName=rdc
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
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
// +kubebuilder:validation:XValidation:rule="self.?replicas.orValue(3) % (1 + self.?shardReplicas.orValue(0)) == 0",fieldPath=".replicas",message="replicas must be a multiple of 1 + `shardReplicas`: each shard has one primary and as many replicas"
// +kubebuilder:validation:XValidation:rule="has(self.backupSchedule) == has(self.backupClaim)",fieldPath=".backupClaim",message="backupClaim must be set where `backupSchedule` is, and may not be set otherwise"
// +kubebuilder:validation:XValidation:rule="self.?persistence.orValue(false) == oldSelf.?persistence.orValue(false)",fieldPath=".persistence",message="persistence may not be changed: data would be lost"
// +kubebuilder:validation:XValidation:rule="!self.?persistence.orValue(false) || !oldSelf.?persistence.orValue(false) || (has(self.storageClass) == has(oldSelf.storageClass) && (!has(self.storageClass) || self.storageClass == oldSelf.storageClass))",fieldPath=".storageClass",message="storageClass may not be changed: a volume keeps its class"
type RedisClusterSpec struct {
	// replicas is how many Redis pods run in total, 1 to 10.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas int32 `json:"replicas,omitempty"`

	// image is the full reference of the Redis image, Redis 7.0.13 or later.
	// +optional
	// +default="redis:7.0"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// shardReplicas is how many of the pods are replicas of each primary.
	// +optional
	// +default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	ShardReplicas int32 `json:"shardReplicas,omitempty"`

	// maxMemory is how much memory the data of one node may take, as Redis
	// writes it: k, m and g are powers of 1000, kb, mb and gb of 1024.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9]+(b|k|kb|m|mb|g|gb)?$`
	MaxMemory string `json:"maxMemory,omitempty"`

	// config are further lines of redis.conf.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	Config []string `json:"config,omitempty"`

	// persistence is whether data outlives its pod. It cannot be changed.
	// +optional
	// +default=false
	Persistence *bool `json:"persistence,omitempty"`

	// storageSize is the size of each volume, where persistence is true. Absent
	// means 1Gi.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?[0-9]+))?$`
	StorageSize string `json:"storageSize,omitempty"`

	// storageClass is the StorageClass of the volumes. Absent means the
	// cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClass string `json:"storageClass,omitempty"`

	// passwordSecret names a Secret whose key `password` clients and nodes
	// share. Absent means that there is no password.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PasswordSecret string `json:"passwordSecret,omitempty"`

	// nodeTimeout is how long a node may be out of reach until the others take
	// it for failed, in milliseconds.
	// +optional
	// +default=5000
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=60000
	NodeTimeout int32 `json:"nodeTimeout,omitempty"`

	// updatePolicy is how running nodes take up a new specification: rolling,
	// recreate or manual.
	// +optional
	// +default="rolling"
	// +kubebuilder:validation:Enum=rolling;recreate;manual
	// +kubebuilder:validation:MaxLength=64
	UpdatePolicy string `json:"updatePolicy,omitempty"`

	// antiAffinity keeps pods on different Kubernetes nodes where it can.
	// +optional
	// +default=true
	AntiAffinity *bool `json:"antiAffinity,omitempty"`

	// backupSchedule is when a backup is taken, as a CronJob has it. Absent
	// means never.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	BackupSchedule string `json:"backupSchedule,omitempty"`

	// backupKeep is how many backups are kept.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	BackupKeep int32 `json:"backupKeep,omitempty"`

	// backupClaim is the PersistentVolumeClaim that backups are written to.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	BackupClaim string `json:"backupClaim,omitempty"`
}

// RedisClusterStatus is what the operator observed.
type RedisClusterStatus struct {
	// conditions are those of v1, under the same names.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is a one-word summary for people, worked out from conditions
	// alone: Pending, Creating, Running, Scaling, Updating, Degraded, Failed,
	// Deleting. More values may come; programs should look at conditions
	// instead.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

	// message is that of the condition Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// observedGeneration is the generation of spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is how many Redis pods exist.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas"`

	// readyReplicas is how many Redis pods are ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector finds the Redis pods, in the form that the scale subresource
	// and autoscalers want.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Selector string `json:"selector,omitempty"`

	// nodes says what each pod is: `master:` and its slots, such as
	// master:0-5460,6000, or `slave:` and the pod that it follows.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	Nodes map[string]NodeRole `json:"nodes,omitempty"`

	// lastBackup is when the latest backup that succeeded had ended.
	// +optional
	LastBackup *metav1.Time `json:"lastBackup,omitempty"`
}

// NodeRole is what a pod is, in one string.
// +kubebuilder:validation:MaxLength=131072
type NodeRole string
