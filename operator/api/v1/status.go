package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RedisClusterStatus is what the operator observed.
type RedisClusterStatus struct {
	// conditions are Ready, Available, Progressing, Degraded, Bootstrapped,
	// Updated, LastBackupSucceeded and ConfigurationWarning. Others may stand
	// there, from later releases or from other programs.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is a one-word summary for people, worked out from conditions
	// alone: Pending, Forming, Ready, Rebalancing, Updating, Degraded, Failed,
	// Terminating. More values may come; programs should look at conditions
	// instead.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

	// shards is how many primaries own slots.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Shards int32 `json:"shards"`

	// readyShards is how many of them serve their slots with every replica in
	// sync.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyShards int32 `json:"readyShards"`

	// replicas is how many Redis pods exist, primaries among them.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas"`

	// readyReplicas is how many Redis pods are ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas int32 `json:"readyReplicas"`

	// updatedReplicas is how many Redis pods follow the current spec.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`

	// currentRevision names the pod template that pods are brought to.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CurrentRevision string `json:"currentRevision,omitempty"`

	// selector finds the Redis pods, in the form that the scale subresource
	// and autoscalers want.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Selector string `json:"selector,omitempty"`

	// shardStatuses are the shards, ordered by their first slot.
	// +optional
	// +listType=map
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=256
	ShardStatuses []ShardStatus `json:"shardStatuses,omitempty"`

	// migration is the slot that is being moved, while one is.
	// +optional
	Migration *Migration `json:"migration,omitempty"`

	// backups are the outcomes of spec.backups.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Backups []BackupStatus `json:"backups,omitempty"`
}

// ShardStatus is what was observed of one shard.
type ShardStatus struct {
	// index tells shards apart, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	Index int32 `json:"index"`

	// primary is the node that owns the slots.
	// +optional
	Primary ShardNode `json:"primary,omitzero"`

	// replicas are the nodes that follow it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Replicas []ShardReplica `json:"replicas,omitempty"`

	// slotRanges are the slots that the shard owns.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16384
	SlotRanges []SlotRange `json:"slotRanges,omitempty"`
}

// ShardNode is a Redis node.
type ShardNode struct {
	// podName is the node's pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PodName string `json:"podName,omitempty"`

	// nodeID is what Redis calls the node.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NodeID string `json:"nodeID,omitempty"`
}

// ShardReplica is a Redis node that follows a primary.
type ShardReplica struct {
	ShardNode `json:",inline"`

	// inSync says that the replica has all that its primary has, the last
	// moments apart.
	// +optional
	InSync *bool `json:"inSync,omitempty"`
}

// SlotRange is a run of slots, both ends included.
type SlotRange struct {
	// start is the first slot.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16383
	Start int32 `json:"start"`

	// end is the last slot.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16383
	End int32 `json:"end"`
}

// Migration is a move of slots that is under way.
type Migration struct {
	// slot is the one that is open.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16383
	Slot int32 `json:"slot"`

	// from is the ID of the node that it leaves.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from,omitempty"`

	// to is the ID of the node that it goes to.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	To string `json:"to,omitempty"`

	// slotsRemaining is how many slots are still to be moved, this one among
	// them.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SlotsRemaining int32 `json:"slotsRemaining,omitempty"`

	// startedAt is when the first slot of this change was opened.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

// BackupStatus is the outcome of one of spec.backups.
type BackupStatus struct {
	// name is that of the backup.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// lastSuccessTime is when the last one that succeeded had ended.
	// +optional
	LastSuccessTime *metav1.Time `json:"lastSuccessTime,omitempty"`

	// lastJob is the Job that took the latest.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	LastJob string `json:"lastJob,omitempty"`

	// lastError says why the latest failed, if it did.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastError string `json:"lastError,omitempty"`
}
