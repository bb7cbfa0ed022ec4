package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func noOpWrites() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.NoOpWrites,
		Check: trial.Check{
			ID:       "no-op-writes",
			Sentence: "An operator SHOULD NOT write what is there already.",
			Strength: trial.Should,
			Level:    trial.LevelAPIServer,
			Why: "The API server elides a write that changes nothing, but only after admission, webhooks, validation and a comparison, and the " +
				"audit log has it all the same. It often hides a comparison that never comes out equal, as when a field that the API server " +
				"defaults is left out: harmless until another part of the object is compared the same way.",
			Fix: "Compare before writing (controllerutil.CreateOrPatch, equality.Semantic.DeepEqual), starting from the object that was read. " +
				"At rest, an object may be written without a change once in ten seconds. Over a whole trial half of all writes may change " +
				"nothing, and four fifths of those to one object, server-side applies apart.",
			Provenance: []string{
				"bootc-dev/bootc-operator#66: a status is written though nothing in it changed",
				"openshift/hive#2943: a StatefulSet applied in a loop because it lacks what the API server defaults",
			},
			Mutants: []string{"unconditional-update"},
		},
	}
}
