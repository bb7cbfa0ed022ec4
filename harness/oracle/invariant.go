package oracle

import (
	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// Invariant is a check that is judged from a whole history, whatever was done
// to the subject meanwhile.
type Invariant struct {
	trial.Check
	// Judge returns what it found. It returns an error, which makes the
	// verdict inconclusive, when the history does not hold what it needs: a
	// trial that ended before the phase in question, say.
	Judge func(h history.History, opts trial.CheckOptions) ([]trial.Finding, error)
}
