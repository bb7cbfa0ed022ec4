package v1

import "k8s.io/apimachinery/pkg/api/resource"

// DefaultStorageSize is the size of a volume where none is given.
const DefaultStorageSize = "1Gi"

// Storage is where data lives.
//
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type == 'Persistent') == has(self.persistent)",fieldPath=".persistent",message="persistent must be set where type is 'Persistent', and may not be set otherwise"
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type == 'Persistent') == (has(oldSelf.type) && oldSelf.type == 'Persistent')",fieldPath=".type",message="type may not be changed: data would be lost"
type Storage struct {
	// type is Ephemeral for a volume that goes with its pod, or Persistent for
	// one that outlives it.
	// +optional
	// +default="Ephemeral"
	// +unionDiscriminator
	Type StorageType `json:"type,omitempty"`

	// persistent describes the volumes, where type is Persistent.
	// +optional
	Persistent *PersistentStorage `json:"persistent,omitempty"`

	// retention is what happens to volumes that are not needed any more.
	// +optional
	Retention StorageRetention `json:"retention,omitzero"`
}

// StorageType is where data lives.
// +kubebuilder:validation:Enum=Ephemeral;Persistent
type StorageType string

// Where data lives.
const (
	StorageEphemeral  StorageType = "Ephemeral"
	StoragePersistent StorageType = "Persistent"
)

// PersistentStorage describes the volume of each node.
//
// +kubebuilder:validation:XValidation:rule="has(self.className) == has(oldSelf.className) && (!has(self.className) || self.className == oldSelf.className)",fieldPath=".className",message="className may not be changed: a volume keeps its class"
type PersistentStorage struct {
	// size is that of each volume. It may grow, where the class allows it, and
	// never shrink.
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

// StorageRetention is what happens to volumes that are not needed any more.
type StorageRetention struct {
	// whenDeleted is what happens when the RedisCluster is deleted. Absent
	// means as deletionPolicy says.
	// +optional
	WhenDeleted RetentionPolicy `json:"whenDeleted,omitempty"`

	// whenScaled is what happens to the volumes of nodes that were taken away.
	// Absent means Delete.
	// +optional
	WhenScaled RetentionPolicy `json:"whenScaled,omitempty"`
}

// RetentionPolicy is what happens to a volume.
// +kubebuilder:validation:Enum=Retain;Delete
type RetentionPolicy string

// What happens to a volume.
const (
	RetentionRetain RetentionPolicy = "Retain"
	RetentionDelete RetentionPolicy = "Delete"
)

// DeletionPolicy is what happens to data when a RedisCluster is deleted.
// +kubebuilder:validation:Enum=Delete;Retain;BackupThenDelete
type DeletionPolicy string

// What happens to data when a RedisCluster is deleted.
const (
	DeletionDelete           DeletionPolicy = "Delete"
	DeletionRetain           DeletionPolicy = "Retain"
	DeletionBackupThenDelete DeletionPolicy = "BackupThenDelete"
)
