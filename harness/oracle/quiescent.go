package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

const (
	// loop is how many writes of one object in a row cannot be an answer to
	// one change from outside.
	loop = 3
	// heartbeat is how often an object may get a new timestamp and nothing
	// else: once in that time (class A1).
	heartbeat = time.Minute
)

// Quiescent finds writes that change an object while the subject should be at
// rest (classes A1, A3, A4, A5): nobody asked for anything new.
//
// Three things are no breach. When something that the operator reads was
// changed by others first, it may answer, with fewer than three writes an
// object. An object may get a new timestamp once a minute. And a lock that is
// kept in an annotation, as before there were Leases, may be renewed. A
// deletecollection is not looked at, since its answer does not say what it
// deleted.
func Quiescent(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	w, err := rest(h)
	if err != nil {
		return nil, err
	}
	x := version.NewIndex(h)
	restless := slices.DeleteFunc(writes(h, o, x), func(write write) bool {
		return !write.Kind.Lasting() || !w.holds(write.request.Start)
	})
	for i := range restless {
		restless[i].differences = restless[i].Differences()
	}
	restless = slices.DeleteFunc(restless, renewsLock)
	answer := provoked(h, x, w, restless)
	var found causes
	for _, all := range byTarget(restless) {
		if answer && len(all) < loop || heartbeats(all) && len(all) <= 1+int(w.length()/heartbeat) {
			continue
		}
		key, f := unrest(h, x, all)
		f.Summary = fmt.Sprintf("%s within %s at rest: %s", f.Summary, w.length().Round(time.Second), key.kind)
		if len(f.Paths) > 0 {
			f.Summary += " (" + few(f.Paths) + ")"
		}
		f.Expected = "an operator whose samples are as they should be changes nothing until something else changes"
		found.add(key.String(), f)
	}
	return found.findings(), nil
}

// lock is the annotation in which leader election keeps who leads where it does
// not use a Lease.
const lock = `.metadata.annotations["control-plane.alpha.kubernetes.io/leader"]`

func renewsLock(w write) bool {
	return every([]write{w}, func(d version.Difference) bool { return d.Path == lock })
}

// byTarget sorts writes by what they are aimed at.
func byTarget(all []write) [][]write { return sortedBy(all, write.target) }

// sortedBy sorts writes by a key, in the order of the first one of each.
func sortedBy(all []write, key func(write) string) [][]write {
	place := map[string]int{}
	var sorted [][]write
	for _, w := range all {
		i, known := place[key(w)]
		if !known {
			i = len(sorted)
			place[key(w)] = i
			sorted = append(sorted, nil)
		}
		sorted[i] = append(sorted[i], w)
	}
	return sorted
}

// provoked reports whether somebody else changed something that the operator
// reads before it began to write.
func provoked(h history.History, x *version.Index, w window, restless []write) bool {
	if len(restless) == 0 {
		return false
	}
	first := slices.MinFunc(restless, func(a, b write) int { return a.request.Start.Compare(b.request.Start) }).request.Start
	reads := map[string]bool{}
	for _, r := range h.Requests() {
		if !r.Verb.Mutates() {
			reads[resourceName(r.Group, r.Resource)] = true
		}
	}
	for _, e := range h.Entries {
		c := e.Change
		if c == nil || !w.holds(e.Time) || !e.Time.Before(first) || notes(c.Group, c.Resource) || !reads[resourceName(c.Group, c.Resource)] {
			continue
		}
		if _, own := x.Author(c); !own {
			return true
		}
	}
	return false
}
