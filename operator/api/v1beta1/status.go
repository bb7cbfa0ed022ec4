package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RedisClusterStatus is what the operator observed.
type RedisClusterStatus struct {
	// conditions are those of v1, under the same names.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is a one-word summary for people, worked out from conditions
	// alone: Pending, Bootstrapping, Running, Scaling, Updating, Degraded,
	// Failed, Terminating. More values may come; programs should look at
	// conditions instead.
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

	// selector finds the Redis pods, in the form that the scale subresource
	// and autoscalers want.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Selector string `json:"selector,omitempty"`

	// nodes are the Redis nodes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Nodes []Node `json:"nodes,omitempty"`

	// lastBackupTime is when the latest backup that succeeded had ended.
	// +optional
	LastBackupTime *metav1.Time `json:"lastBackupTime,omitempty"`
}

// Node is a Redis node.
type Node struct {
	// name is that of the node's pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// nodeID is what Redis calls the node.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NodeID string `json:"nodeID,omitempty"`

	// role is Primary or Replica.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Role string `json:"role,omitempty"`

	// primaryName is the pod of the primary that a replica follows.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PrimaryName string `json:"primaryName,omitempty"`

	// slots are those that a primary owns, as Redis writes them, such as
	// 0-5460,6000.
	// +optional
	// +kubebuilder:validation:MaxLength=131072
	Slots string `json:"slots,omitempty"`

	// ip is the node's address. Only releases that store v1beta1 fill it in.
	// +optional
	// +kubebuilder:validation:MaxLength=45
	IP string `json:"ip,omitempty"`
}

// Roles of nodes.
const (
	RolePrimary = "Primary"
	RoleReplica = "Replica"
)
