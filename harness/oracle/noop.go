package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// The thresholds of NoOpWrites (class A2).
const (
	// restPeriod is how often an object may be written without a change while
	// the operator is at rest: once in that time. Fewer than loop such writes
	// prove no rhythm.
	restPeriod = 10 * time.Second
	// shareLimit is which part of all writes may change nothing, in percent,
	// once there are shareLeast of those.
	shareLimit = 50
	shareLeast = 10
	// objectLimit and objectLeast are the same for the writes to one object in
	// one manner. They tell a writer that never compares from one that also has
	// something to say: a status that is written at the end of each
	// reconciliation often does.
	objectLimit = 80
	objectLeast = 5
)

// NoOpWrites finds writes that ask for what is there already: the API server
// elides them, after the full price of admission, validation and comparison.
//
// At rest no object may be written so more than once in ten seconds. Over the
// whole trial such writes may make up half of all, where there are at least
// ten, and four fifths of those to one object in one manner, where there are at
// least five; server-side applies are not counted there, since applying again
// what was applied before is an accepted style.
func NoOpWrites(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	all := slices.DeleteFunc(writes(h, o, version.NewIndex(h)), func(w write) bool { return w.request.Verb == history.VerbDelete })
	w, err := rest(h)
	if err == nil {
		if findings := repeatedAtRest(all, w); len(findings) > 0 {
			return findings, nil
		}
	}
	if findings := overused(all); len(findings) > 0 {
		return findings, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, complete(h)
}

func isNoOp(w write) bool { return w.Kind == version.NoOp }

func repeatedAtRest(all []write, w window) []trial.Finding {
	idle := slices.DeleteFunc(slices.Clone(all), func(write write) bool { return !isNoOp(write) || !w.holds(write.request.Start) })
	var found causes
	for _, repeated := range byTarget(idle) {
		n := len(repeated)
		if n < loop || time.Duration(n)*restPeriod <= w.length() {
			continue
		}
		first := repeated[0]
		m := motive{resource: resourceName(first.Ref.Group, first.Ref.Resource), manner: first.manner()}
		found.add(m.String(), trial.Finding{
			Summary: fmt.Sprintf("%s was written %s within %s at rest without a change, by %s",
				first.target(), times(n), w.length().Round(time.Second), first.manner()),
			Object:   first.Ref,
			Expected: "at rest, no object is written more than once in 10s without a change",
			Paths:    first.filledIn(), Evidence: sequence(repeated), Hint: noOpHint(first),
		})
	}
	return found.findings()
}

// overused compares the writes of a whole trial that changed nothing with
// those that did, object by object, then all together.
func overused(all []write) []trial.Finding {
	counted := slices.DeleteFunc(slices.Clone(all), write.applies)
	var found causes
	for _, writes := range sortedBy(counted, func(w write) string { return w.target() + " " + w.manner() }) {
		idle := idleOf(writes)
		if !tooMany(idle, writes, objectLeast, objectLimit) {
			continue
		}
		first := idle[0]
		m := motive{resource: resourceName(first.Ref.Group, first.Ref.Resource), manner: first.manner()}
		found.add(m.String(), overuse(idle, fmt.Sprintf("%d of %d writes of %s by %s changed nothing",
			len(idle), len(writes), first.target(), first.manner())))
	}
	if found.by != nil {
		return found.findings()
	}
	idle := idleOf(counted)
	if !tooMany(idle, counted, shareLeast, shareLimit) {
		return nil
	}
	most := slices.MaxFunc(byTarget(idle), func(a, b []write) int { return len(a) - len(b) })
	return []trial.Finding{overuse(most, fmt.Sprintf("%d of %d writes (%d%%) changed nothing; most of them, %d, are of %s, by %s",
		len(idle), len(counted), len(idle)*100/len(counted), len(most), most[0].target(), most[0].manner()))}
}

func idleOf(all []write) []write {
	return slices.DeleteFunc(slices.Clone(all), func(w write) bool { return !isNoOp(w) })
}

func tooMany(idle, all []write, least, limit int) bool {
	return len(idle) >= least && len(idle)*100 > len(all)*limit
}

func overuse(idle []write, summary string) trial.Finding {
	return trial.Finding{
		Summary: summary, Object: idle[0].Ref,
		Expected: "at most half of all writes, and four fifths of those to one object, change nothing, server-side applies apart",
		Paths:    idle[0].filledIn(), Evidence: shown(sequence(idle)), Hint: noOpHint(idle[0]),
	}
}

func noOpHint(w write) string {
	switch filled := w.filledIn(); {
	case len(filled) > 0:
		return fmt.Sprintf("the API server fills in what the object that is sent leaves out (%s): "+
			"change the object that was read instead of sending a new one, or compare only what is set", few(filled))
	case w.applies():
		return "compare with what was applied before, which managedFields tell, and apply only what differs"
	case w.request.Subresource == "status":
		return "compare the new status with the old one, and write it only when it says something else"
	default:
		return "compare what is wanted with what is there, and write only when they differ"
	}
}
