package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func observedGeneration() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.ObservedGeneration,
		Check: trial.Check{
			ID: "observed-generation",
			Sentence: "A status that has observedGeneration MUST say truly for which generation it holds: never a later one than there is, " +
				"and the current one once the operator rests.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Features: []trial.Feature{trial.FeatureSamples, trial.FeatureStatus, trial.FeatureObservedGeneration},
			Why: "Whoever changes a spec waits for the status to be about that change: kubectl wait, Argo CD, Flux, other operators. " +
				"An observedGeneration that lags keeps them waiting for ever; one that is ahead, or missing, has them take an old Ready for a new one.",
			Fix: "Set status.observedGeneration to metadata.generation of the object that was reconciled, in every write of the status, also " +
				"when nothing else in it changes. The same holds for observedGeneration of each condition that has it.",
			Provenance: []string{
				apiConventions + ", Typical status properties",
				controllers + ": set observedGeneration",
				"k8ssandra/cass-operator#149, k8ssandra/cass-operator#657: observedGeneration is updated only along with the state",
			},
			Mutants: []string{"observed-generation-forgotten"},
		},
	}
}
