package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func ownerReferencesValid() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.OwnerReferencesValid,
		Check: trial.Check{
			ID: "owner-references-valid",
			Sentence: "What an operator makes for a custom resource MUST be owned so that the garbage collector understands it: " +
				"by an object that exists, with its UID, kind and name, in the same namespace or in none, and with exactly one controller.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Features: []trial.Feature{trial.FeatureSamples},
			Why: "The garbage collector deletes what has an owner that it cannot find: one in another namespace, or with the UID of an earlier " +
				"object of that name. That has cost live data. What has no owner stays for ever, and without a controller among its owners " +
				"a child that drifts wakes nobody.",
			Fix: "Set the reference with controllerutil.SetControllerReference, from the owner as it was read. Across namespaces, and from " +
				"cluster-scoped children to namespaced owners, use labels and a finalizer.",
			Provenance: []string{
				ownersDocs,
				"openshift/aws-account-operator#309: an Account in use was garbage collected for its owner in another namespace",
				"grafana/grafana-operator#1574, netbox-community/netbox-operator#22: without a controller reference, changes of a child go unnoticed",
			},
			Mutants: []string{"owner-without-controller"},
		},
	}
}
