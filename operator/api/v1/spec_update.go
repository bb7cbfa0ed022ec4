package v1

// UpdateStrategy is how running nodes take up a new specification.
//
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'RollingUpdate' || !has(self.rollingUpdate)",fieldPath=".rollingUpdate",message="rollingUpdate may not be set unless type is 'RollingUpdate'"
type UpdateStrategy struct {
	// type is RollingUpdate to replace one pod at a time, each shard's primary
	// last and after a failover; Recreate to replace all at once; OnDelete to
	// leave it to whoever deletes pods.
	// +optional
	// +default="RollingUpdate"
	// +unionDiscriminator
	Type UpdateStrategyType `json:"type,omitempty"`

	// rollingUpdate adapts a RollingUpdate.
	// +optional
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
}

// UpdateStrategyType is how running nodes take up a new specification.
// +kubebuilder:validation:Enum=RollingUpdate;Recreate;OnDelete
type UpdateStrategyType string

// How running nodes take up a new specification.
const (
	UpdateRolling  UpdateStrategyType = "RollingUpdate"
	UpdateRecreate UpdateStrategyType = "Recreate"
	UpdateOnDelete UpdateStrategyType = "OnDelete"
)

// RollingUpdate adapts a rolling update.
type RollingUpdate struct {
	// failoverTimeoutSeconds is how long a planned failover may take until it
	// is tried anew. Absent means 60.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	FailoverTimeoutSeconds int32 `json:"failoverTimeoutSeconds,omitempty"`

	// unsafeShardPolicy is what happens to a shard without replicas whose data
	// would go with its pod: Block leaves it as it is and says so, Drain moves
	// its slots away first and back afterwards, AllowDataLoss replaces the pod.
	// Absent means Block.
	// +optional
	UnsafeShardPolicy UnsafeShardPolicy `json:"unsafeShardPolicy,omitempty"`
}

// UnsafeShardPolicy is what happens to a shard that cannot be updated safely.
// +kubebuilder:validation:Enum=Block;Drain;AllowDataLoss
type UnsafeShardPolicy string

// What happens to a shard that cannot be updated safely.
const (
	UnsafeBlock         UnsafeShardPolicy = "Block"
	UnsafeDrain         UnsafeShardPolicy = "Drain"
	UnsafeAllowDataLoss UnsafeShardPolicy = "AllowDataLoss"
)

// Rebalance bounds the work of moving slots between nodes.
type Rebalance struct {
	// slotsPerStep is how many slots are moved until the operator looks at the
	// whole cluster again. Absent means 64.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	SlotsPerStep int32 `json:"slotsPerStep,omitempty"`

	// keysPerMigrate is how many keys are moved by one command, which blocks
	// both nodes. Absent means 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	KeysPerMigrate int32 `json:"keysPerMigrate,omitempty"`

	// migrateTimeoutMilliseconds is how long such a command may pause. Absent
	// means 1000, or less than half of nodeTimeoutMilliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30000
	MigrateTimeoutMilliseconds int32 `json:"migrateTimeoutMilliseconds,omitempty"`
}
