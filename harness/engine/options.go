package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seatrial/seatrial/harness/cluster"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/subject"
)

// Options are the inputs of a trial.
type Options struct {
	// Subject is the operator under test.
	Subject *subject.Resolved
	// StartCluster makes the cluster, which the engine stops, and says of which
	// programs.
	StartCluster func(ctx context.Context) (cluster.Cluster, []report.Program, error)
	// Catalogue are the checks; every one of them stands in the report.
	Catalogue []oracle.Invariant
	// Only names the checks to judge; the others are skipped. Empty: all.
	Only []string
	// Deadlines; zero fields mean their defaults.
	Deadlines Deadlines
	// Dir is where the history and the subject's log are written. It must
	// exist.
	Dir string
	// WorkDir is where the trial keeps what it throws away afterwards. It must
	// exist.
	WorkDir string
	// Progress is told what happens, from one goroutine at a time; may be nil.
	Progress func(Event)
	// Command is the command line, for the report.
	Command []string
	// Version of the program, and CatalogueVersion that of the checks, for the
	// report.
	Version, CatalogueVersion string
}

// Event is one step of progress.
type Event struct {
	// Phase is what the trial is at.
	Phase Phase
	// Done marks the end of the phase; Took is then how long it was.
	Done bool
	Took time.Duration
	// Message says more, in a few words. May be empty.
	Message string
}

// Phase is a part of a trial, named by what is going on.
type Phase string

// The phases, in their order.
const (
	PhasePrepare  Phase = "prepare"
	PhaseInstall  Phase = "install"
	PhaseStart    Phase = "start"
	PhaseConverge Phase = "converge"
	PhaseObserve  Phase = "observe"
	PhaseDelete   Phase = "delete"
	PhaseStop     Phase = "stop"
)

// InputError says that what the user gave cannot be put on trial: it does not
// build, is refused by the API server, or ends at once.
type InputError struct{ Err error }

// Error implements error.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

func inputErrorf(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

// ErrInterrupted is the cause of a trial that ended before its end because it
// was asked to.
var ErrInterrupted = errors.New("interrupted")
