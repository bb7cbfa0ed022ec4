package trial

import (
	"cmp"
	"time"
)

// Verdict is the outcome of one check. There is no other outcome: what was
// not judged is skipped or not applicable, with a reason.
type Verdict string

// The verdicts.
const (
	// Pass: the check was judged and found nothing.
	Pass Verdict = "pass"
	// Fail: the check was judged and has findings.
	Fail Verdict = "fail"
	// Inconclusive: the check could not be judged, through no proven fault of
	// the subject: an infrastructure error, an interrupt, a missing history.
	Inconclusive Verdict = "inconclusive"
	// NotApplicable: the subject lacks a feature, or the cluster a level, that
	// the check needs.
	NotApplicable Verdict = "not-applicable"
	// Skipped: the user asked for the check to be left out.
	Skipped Verdict = "skipped"
)

// Verdicts returns every verdict in the order of a summary.
func Verdicts() []Verdict {
	return []Verdict{Fail, Inconclusive, Pass, NotApplicable, Skipped}
}

// Result is what became of one check in one trial.
type Result struct {
	Check    Check     `json:"check"`
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Duration is the time that judging took.
	Duration time.Duration `json:"durationNanoseconds"`
}

// Finding is one way in which a check was broken.
type Finding struct {
	// Summary is one line that a reader understands without the history.
	Summary string `json:"summary"`
	// Object is what the finding is about; its zero value means the operator
	// as a whole.
	Object ObjectRef `json:"object,omitzero"`
	// Expected says what a keeper of the promise would have done.
	Expected string `json:"expected,omitempty"`
	// Paths are the fields concerned, as JSON paths.
	Paths []string `json:"paths,omitempty"`
	// Evidence are sequence numbers of the history, in the order to read them.
	Evidence []int64 `json:"evidence,omitempty"`
	// Hint says what to try, when it can be told from what was seen.
	Hint string `json:"hint,omitempty"`
}

// ObjectRef names one object of the API.
type ObjectRef struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	UID       string `json:"uid,omitempty"`
}

// String returns kind (or resource), group and name as kubectl prints them:
// "statefulsets.apps demo/redis", or "statefulsets.apps demo/*" for all of a
// namespace.
func (r ObjectRef) String() string {
	what := r.Resource
	if what == "" {
		what = r.Kind
	}
	if r.Group != "" {
		what += "." + r.Group
	}
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + cmp.Or(r.Name, "*")
	}
	switch {
	case what == "":
		return name
	case name == "":
		return what
	}
	return what + " " + name
}
