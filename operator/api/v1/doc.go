// Package v1 holds the RedisCluster API as it is stored, group
// cache.example.com. It is the hub: the other versions are converted to it and
// from it. It imports nothing of this repository but its siblings, so that
// clients can use it alone.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
// +groupName=cache.example.com
package v1
