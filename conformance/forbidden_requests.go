package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func forbiddenRequests() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.ForbiddenRequests,
		Check: trial.Check{
			ID:       "forbidden-requests",
			Sentence: "An operator MUST be granted every request it makes by the RBAC that it ships.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Why: "Operators are developed with the rights of an administrator, so that a missing rule is found by users. What is refused " +
				"never happens: a child is missing, an informer never starts, Events are lost without a word.",
			Fix: "Add the rule that the finding names to the Role or ClusterRole (with kubebuilder, a +kubebuilder:rbac marker), or do not " +
				"make the request. Setting blockOwnerDeletion needs the right to update the owner's finalizers where that is policed, as on OpenShift.",
			Provenance: []string{
				"Kubernetes documentation, Using RBAC Authorization",
				"infinispan/infinispan-operator#321, Altinity/clickhouse-operator#759: cannot set blockOwnerDeletion without the right to set finalizers",
				"improbable-eng/etcd-cluster-operator#62, oracle/mysql-operator#136: Events are refused, and dropped",
			},
			Mutants: []string{"events-without-permission"},
		},
	}
}
