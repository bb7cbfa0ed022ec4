// Package local makes clusters of processes on this machine: etcd and
// kube-apiserver, and at level controlplane kube-controller-manager,
// kube-scheduler and KWOK nodes as well.
//
// Any number of clusters run side by side. What a cluster starts and writes is
// gone after Stop, and soon after its owner ends, even by SIGKILL.
//
// Stop clients of the cluster first. Nothing in it ends gracefully: its state
// is thrown away.
package local
