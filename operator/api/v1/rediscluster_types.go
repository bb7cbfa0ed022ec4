package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxNameLength is how long the name of a RedisCluster may be, in characters.
// A StatefulSet labels its pods with its own name and a revision hash, which
// together must fit into the 63 characters of a label's value
// (kubernetes#64023).
const MaxNameLength = 40

// Finalizer lets the operator clean up before a RedisCluster goes.
const Finalizer = Group + "/redis-cleanup"

// RedisCluster is a Redis Cluster that the operator runs.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=redisclusters,shortName=rdc
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.topology.shards,statuspath=.status.shards,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Shards",type=integer,JSONPath=`.spec.topology.shards`
// +kubebuilder:printcolumn:name="Ready-Shards",type=integer,JSONPath=`.status.readyShards`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image.repository`,priority=1
// +kubebuilder:printcolumn:name="Tag",type=string,JSONPath=`.spec.image.tag`,priority=1
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
