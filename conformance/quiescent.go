package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func quiescent() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.Quiescent,
		Check: trial.Check{
			ID:       "quiescent",
			Sentence: "An operator at rest MUST NOT change any object: once its custom resources are as they should be, nothing changes until something else does.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Why: "A controller that changes what it watches wakes itself up. Each round costs a write to etcd and an event for every watcher, " +
				"for every custom resource, day and night; and a real change drowns in the noise.",
			Fix: "Work out what should be, compare it with what is, and write only the difference. Take timestamps and counters out of what is " +
				"compared. Sort what is rendered from maps. Leave fields alone that belong to another controller. " +
				"One new timestamp a minute is let pass, as is an answer to a change from outside.",
			Provenance: []string{
				controllers + ": instructions are there to bring the current state nearer to the desired one",
				"crossplane/crossplane#477: a status that is written anew each time, in a perpetual loop",
				"crossplane/crossplane#3425: references in the status in another order each time",
				"crossplane/crossplane#7062: a condition that alternates between two values",
			},
			Mutants: []string{"status-timestamp"},
		},
	}
}
