// Package envtest is the operator's envtest tier: Ginkgo specs against a real
// kube-apiserver and etcd (level:apiserver) and, where garbage collection,
// StatefulSets or namespaces matter, against the whole control plane with pods
// that follow scripts (level:controlplane).
//
// Most specs call Reconcile directly, with a transport that counts requests
// and can fail them; a manager runs where its wiring is what the spec is about.
// Each spec has a namespace of its own.
//
// Run it by `make test-envtest`.
package envtest
