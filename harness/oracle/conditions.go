package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// camelCase is what the API conventions want a reason to be: one word.
var camelCase = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// transitionSlack is how old a lastTransitionTime may be when the write that
// reports the transition begins. Times have whole seconds, and two transitions
// within one have the same.
const transitionSlack = 2 * time.Second

// ConditionsWellFormed finds conditions that clients cannot rely on (class E4):
// not one of each type, a status that is none, no reason in one word, a
// lastTransitionTime that is missing, that moves without a transition, or that
// does not move with one.
func ConditionsWellFormed(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	x := version.NewIndex(h)
	f := form{h: h, x: x}
	for _, object := range customs(h, o, x, trial.FeatureConditions) {
		for i, c := range object {
			f.shape(c)
			if i > 0 {
				f.transitions(object[i-1], c)
			}
		}
	}
	if findings := f.found.findings(); len(findings) > 0 {
		return findings, nil
	}
	return nil, complete(h)
}

// form judges the form of conditions.
type form struct {
	h     history.History
	x     *version.Index
	found causes
}

// flaw is one thing that can be wrong with a condition.
type flaw struct {
	name, field, says, expected, hint string
}

func (f *form) add(c custom, of condition, flaw flaw, evidence ...int64) {
	path := conditionPath(of, flaw.field)
	if flaw.field == "" {
		path = ".status.conditions"
	}
	f.found.add(fmt.Sprintf("%s %s %s", flaw.name, resourceName(c.Ref.Group, c.Ref.Resource), path), trial.Finding{
		Summary: fmt.Sprintf("%s: %s", c.Ref, flaw.says), Object: c.Ref, Paths: []string{path},
		Expected: flaw.expected, Hint: flaw.hint, Evidence: append(evidence, c.Seq),
	})
}

// shape judges the conditions of one version.
func (f *form) shape(c custom) {
	if twice := several(c.Status.Conditions); len(twice) > 0 {
		f.add(c, condition{}, flaw{
			name: "several", says: "there are several conditions of type " + quoted(twice),
			expected: "there is at most one condition of each type",
			hint:     "change the condition that is there (meta.SetStatusCondition) instead of adding one, and make the list a map by type in the CRD",
		})
	}
	for _, of := range c.Status.Conditions {
		for _, flaw := range flaws(of) {
			f.add(c, of, flaw)
		}
	}
}

// several returns the types that more than one condition has.
func several(conditions []condition) []string {
	var types []string
	for i, c := range conditions {
		if slices.ContainsFunc(conditions[:i], func(other condition) bool { return other.Type == c.Type }) {
			types = append(types, c.Type)
		}
	}
	return distinct(types)
}

// flaws returns what is wrong with one condition by itself.
func flaws(of condition) []flaw {
	var found []flaw
	if of.Type == "" {
		found = append(found, flaw{
			name: "type", field: "type", says: "a condition has no type", expected: "every condition has a type", hint: "give it a name",
		})
	}
	if !slices.Contains([]string{"True", "False", "Unknown"}, of.Status) {
		found = append(found, flaw{
			name: "status", field: "status", says: fmt.Sprintf("condition %s has the status %q", of.Type, of.Status),
			expected: "the status is True, False or Unknown", hint: "say what else there is to say in the reason",
		})
	}
	if !camelCase.MatchString(of.Reason) {
		says := fmt.Sprintf("condition %s has the reason %q, which is not one word in CamelCase", of.Type, of.Reason)
		if of.Reason == "" {
			says = fmt.Sprintf("condition %s has no reason", of.Type)
		}
		found = append(found, flaw{
			name: "reason " + of.Reason, field: "reason", says: says,
			expected: "the reason is one word in CamelCase that programs can compare", hint: "put prose into the message",
		})
	}
	if _, ok := of.since(); !ok {
		found = append(found, flaw{
			name: "since", field: "lastTransitionTime",
			says:     fmt.Sprintf("condition %s has the lastTransitionTime %q", of.Type, of.LastTransitionTime),
			expected: "lastTransitionTime is when the status changed last", hint: "let meta.SetStatusCondition keep it",
		})
	}
	return found
}

// transitions judges the conditions of a version against those of the one
// before.
func (f *form) transitions(before, c custom) {
	for _, of := range c.Status.Conditions {
		was := only(before.Status.Conditions, of.Type)
		since, set := only(c.Status.Conditions, of.Type).since()
		wasSince, wasSet := was.since()
		if !set || !wasSet {
			continue
		}
		moved := !since.Equal(wasSince)
		switch {
		case moved && was.Status == of.Status:
			f.add(c, of, flaw{
				name: "moves", field: "lastTransitionTime",
				says:     fmt.Sprintf("condition %s has a new lastTransitionTime though its status is still %s", of.Type, of.Status),
				expected: "lastTransitionTime moves only when the status does",
				hint:     "keep the old time while the status is the same; meta.SetStatusCondition does",
			}, before.Seq)
		case !moved && was.Status != of.Status && f.late(c, since):
			f.add(c, of, flaw{
				name: "stays", field: "lastTransitionTime",
				says: fmt.Sprintf("condition %s turned from %s to %s with the lastTransitionTime that it had (%s)",
					of.Type, was.Status, of.Status, of.LastTransitionTime),
				expected: "lastTransitionTime moves when the status does",
				hint:     "set it where the status changes; meta.SetStatusCondition does",
			}, before.Seq)
		}
	}
}

// only returns the condition of a type if there is exactly one, else none.
func only(conditions []condition, kind string) condition {
	var found []condition
	for _, c := range conditions {
		if c.Type == kind {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return condition{}
	}
	return found[0]
}

// late reports whether a version was written clearly later than the time. What
// the operator did not write cannot be timed.
func (f *form) late(c custom, since time.Time) bool {
	seq, own := f.x.Writer(c.Version)
	if !own {
		return false
	}
	r := requestAt(f.h, seq)
	return r != nil && r.Start.Sub(since) >= transitionSlack
}
