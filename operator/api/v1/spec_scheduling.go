package v1

import corev1 "k8s.io/api/core/v1"

// Scheduling is where pods may run.
type Scheduling struct {
	// podAntiAffinity keeps the pods of one RedisCluster apart.
	// +optional
	// +default={}
	PodAntiAffinity PodAntiAffinity `json:"podAntiAffinity,omitzero"`

	// nodeSelector are labels that a Kubernetes node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of Kubernetes nodes that pods put up with.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// topologySpreadConstraints spread pods over failure domains. One without
	// a labelSelector concerns the pods of this RedisCluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is that of the pods.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// DefaultTopologyKey spreads pods over Kubernetes nodes.
const DefaultTopologyKey = corev1.LabelHostname

// PodAntiAffinity keeps the pods of one RedisCluster apart.
type PodAntiAffinity struct {
	// mode is Required, Preferred or None.
	// +optional
	// +default="Preferred"
	Mode AntiAffinityMode `json:"mode,omitempty"`

	// topologyKey is the label of Kubernetes nodes that tells places apart.
	// Absent means kubernetes.io/hostname.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	TopologyKey string `json:"topologyKey,omitempty"`
}

// AntiAffinityMode is how strictly pods are kept apart.
// +kubebuilder:validation:Enum=Required;Preferred;None
type AntiAffinityMode string

// How strictly pods are kept apart.
const (
	AntiAffinityRequired  AntiAffinityMode = "Required"
	AntiAffinityPreferred AntiAffinityMode = "Preferred"
	AntiAffinityNone      AntiAffinityMode = "None"
)
