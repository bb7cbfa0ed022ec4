package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func conditionsWellFormed() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.ConditionsWellFormed,
		Check: trial.Check{
			ID: "conditions-well-formed",
			Sentence: "Conditions MUST be one of each type, with a status of True, False or Unknown, a reason in one CamelCase word, " +
				"and a lastTransitionTime that moves exactly when the status does.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Features: []trial.Feature{trial.FeatureSamples, trial.FeatureConditions},
			Why: "Programs read conditions by type. With two of one type they take either; a status that is none counts as neither; a reason in " +
				"prose cannot be compared; and a lastTransitionTime that moves each time says nothing about how long something has been broken.",
			Fix: "Use meta.SetStatusCondition, or server-side apply of a list that the CRD declares as a map by type " +
				"(+listType=map, +listMapKey=type), and metav1.Condition as the type of its elements.",
			Provenance: []string{
				apiConventions + ", Typical status properties",
				"operator-framework/operator-sdk#1742: conditions are appended each time",
				"solo-io/gloo#10734: appending gives duplicate types, and API errors",
				"crossplane/crossplane#477: lastTransitionTime moves in every round",
			},
			Mutants: []string{"conditions-history"},
		},
	}
}
