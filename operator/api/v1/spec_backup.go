package v1

// Backup is one backup that is taken on a schedule.
type Backup struct {
	// name tells the backups of a RedisCluster apart.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// schedule is when it is taken, as a CronJob has it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule string `json:"schedule,omitempty"`

	// timeZone is that of the schedule, such as Europe/Berlin. Absent means
	// that of the kube-controller-manager.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// retention is how many of these backups are kept.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Retention int32 `json:"retention,omitempty"`

	// parallelism is how many shards are copied at a time. Absent means 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30
	Parallelism int32 `json:"parallelism,omitempty"`

	// suspend keeps it from being taken. Absent means false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// destination is where it is written.
	// +required
	Destination BackupDestination `json:"destination,omitzero"`
}

// BackupDestination is where a backup is written.
type BackupDestination struct {
	// pvc is a PersistentVolumeClaim.
	// +required
	PVC ClaimDestination `json:"pvc,omitzero"`
}

// ClaimDestination is a PersistentVolumeClaim that backups are written to.
type ClaimDestination struct {
	// claimName is the claim's name, in the namespace of the RedisCluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`
}
