package report

import (
	"time"

	"github.com/seatrial/seatrial/harness/trial"
)

// Actor says who a history entry is about.
type Actor string

// The actors.
const (
	// ActorOperator made a request.
	ActorOperator Actor = "operator"
	// ActorWatch saw a version of an object, whoever caused it.
	ActorWatch Actor = "watch"
	// ActorProcess is the operator's process.
	ActorProcess Actor = "process"
	// ActorTrial is the engine, between two phases.
	ActorTrial Actor = "trial"
)

// Entry is one entry of the history in short form.
type Entry struct {
	// Seq is its number in the history.
	Seq int64 `json:"seq"`
	// Offset is how long after the start of the trial it was seen.
	Offset time.Duration `json:"offsetNanoseconds"`
	Actor  Actor         `json:"actor"`
	// Verb is that of a request, the type of a change in lower case, the event
	// of a process or the name of a mark.
	Verb string `json:"verb"`
	// Object is what it is about; zero for a process.
	Object      trial.ObjectRef `json:"object,omitzero"`
	Subresource string          `json:"subresource,omitempty"`
	// Code is the HTTP status of the response to a request.
	Code int `json:"code,omitempty"`
	// Summary says in one line what else there is to know.
	Summary string `json:"summary,omitempty"`
	// Changes are the paths in which an object differs from its previous
	// version in the history; MoreChanges counts those left out.
	Changes     []PathChange `json:"changes,omitempty"`
	MoreChanges int          `json:"moreChanges,omitempty"`
	// Lines are the last lines of a process, such as a panic's.
	Lines []string `json:"lines,omitempty"`
}

// PathChange is one path in which two versions of an object differ. Before and
// After are compact JSON, cut short where it is long; one is empty where the
// path is absent.
type PathChange struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}
