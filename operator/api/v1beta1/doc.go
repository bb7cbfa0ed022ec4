// Package v1beta1 holds the second version of the RedisCluster API, group
// cache.example.com. It is converted to and from v1.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
// +groupName=cache.example.com
package v1beta1
