package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values that the API server fills in where spec leaves a field out.
const (
	DefaultReplicas int32 = 3
	DefaultImage          = "redis:7.0"
)

// MaxNameLength is how long the name of a RedisCluster may be, in characters.
// A StatefulSet labels its pods with its own name and a revision hash, which
// together must fit into the 63 characters of a label's value
// (kubernetes#64023).
const MaxNameLength = 40

// RedisClusterSpec is what the user wants.
type RedisClusterSpec struct {
	// replicas is how many Redis pods run in total, 1 to 10.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas int32 `json:"replicas,omitempty"`

	// image is the full reference of the Redis image, Redis 7.0 or later.
	// +optional
	// +default="redis:7.0"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// RedisClusterStatus is what the operator observed.
type RedisClusterStatus struct {
	// phase is a one-word summary for people, worked out from conditions
	// alone: Pending, Creating, Running, Scaling, Updating, Degraded, Deleting.
	// More values may come; programs should look at conditions instead.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

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

	// conditions are Ready, Available, Progressing and Degraded. Others may
	// stand there, from later releases or from other programs.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RedisCluster is a Redis Cluster that the operator runs.
//
// +kubebuilder:object:root=true
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
