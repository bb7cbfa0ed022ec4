package conformance

import (
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func noPanics() oracle.Invariant {
	return oracle.Invariant{
		Judge: oracle.NoPanics,
		Check: trial.Check{
			ID:       "no-panics",
			Sentence: "An operator MUST NOT panic, whether the process dies of it or recovers, nor end by itself: by a signal, or with an error again and again.",
			Strength: trial.Must,
			Level:    trial.LevelAPIServer,
			Why: "One custom resource that makes the operator panic takes every other one with it: the process restarts, meets it again " +
				"and ends up in a crash loop. A panic that is recovered leaves work half done, and is tried again for ever.",
			Fix: "Look at the first frame of your own code in the trace. Mostly it reads a field that is absent, or the first element of " +
				"a list that is still empty, because another controller has not written it yet. Handle the absence and come back when the watch tells.",
			Provenance: []string{
				"cloudnative-pg/cloudnative-pg#4767: index out of range where container statuses are missing",
				"datainfrahq/druid-operator#115: panics while a pod is Pending without container statuses",
				"emqx/emqx-operator#435: index out of range in a status machine, in a crash loop",
			},
			Mutants: []string{"status-index-panic"},
		},
	}
}
