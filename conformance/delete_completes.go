package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func deleteCompletes() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.DeleteCompletes,
		Check: trial.Check{
			ID:       "delete-completes",
			Sentence: "A custom resource that is deleted MUST be gone before the deadline, and stay gone, with all that it owned.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Features: []trial.Feature{trial.FeatureSamples},
			Why: "A finalizer that is never removed blocks more than its object: the namespace cannot be deleted, the CRD cannot be removed, " +
				"and users learn to strip finalizers by hand, which skips the cleanup that they were for.",
			Fix: "In the branch for objects with a deletionTimestamp, do the cleanup in steps that may be repeated, treat what is gone already as " +
				"done, and then remove the finalizer. Do not wait for children that only the garbage collector removes: it does so after the " +
				"owner is gone. Make nothing for an owner that is being deleted.",
			Provenance: []string{
				"Kubernetes documentation, Finalizers",
				"Kuadrant/kuadrant-operator#169: deletion waits for something that was never installed",
				"infinispan/infinispan-operator#412: a namespace that cannot go because of a finalizer",
			},
			Mutants: []string{"finalizer-waits-for-collector"},
		},
	}
}
