// Package v1alpha1 holds the first version of the RedisCluster API, group
// cache.example.com. It imports nothing of this repository, so that clients
// can use it alone.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
// +groupName=cache.example.com
package v1alpha1
