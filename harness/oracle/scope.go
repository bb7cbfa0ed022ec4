package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// ownRequests yields the subject's requests that the check looks at.
func ownRequests(h history.History, o trial.CheckOptions) iter.Seq2[int64, *history.Request] {
	return func(yield func(int64, *history.Request) bool) {
		for seq, r := range h.Requests() {
			if h.Header.User != "" && r.User != "" && r.User != h.Header.User {
				continue
			}
			if !ignored(o, r.Group, r.Resource) && !yield(seq, r) {
				return
			}
		}
	}
}

// ignored reports whether the subject file has the check not look at a
// resource.
func ignored(o trial.CheckOptions, group, resource string) bool {
	return slices.Contains(o.Ignore, resourceName(group, resource))
}

// resourceName names a resource as kubectl does: "statefulsets.apps".
func resourceName(group, resource string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}

// notes reports whether objects of a resource are notes of what goes on, which
// come and go at any time: Events and Leases.
func notes(group, resource string) bool {
	switch resource {
	case "events":
		return group == "" || group == "events.k8s.io"
	case "leases":
		return group == "coordination.k8s.io"
	}
	return false
}

// review reports whether a resource only answers questions and keeps nothing.
func review(group string) bool {
	return group == "authorization.k8s.io" || group == "authentication.k8s.io"
}

// window is a part of a history between two marks.
type window struct{ from, to history.Entry }

func (w window) length() time.Duration { return w.to.Time.Sub(w.from.Time) }

// holds reports whether something that began then began within the window.
func (w window) holds(t time.Time) bool { return !t.Before(w.from.Time) && t.Before(w.to.Time) }

// rest returns the part in which the subject should have been at rest. An error
// says that there is none to be judged.
func rest(h history.History) (window, error) {
	from, ok := h.Mark(history.MarkConverged, history.MarkUnsettled)
	if !ok {
		return window{}, errors.New("the trial ended before the samples had converged")
	}
	if from.Mark.Name == history.MarkUnsettled && len(from.Mark.Objects) > 0 {
		return window{}, fmt.Errorf("the samples did not get ready, so the operator had no reason to rest: %s", from.Mark.Detail)
	}
	to, ok := h.Mark(history.MarkObserved)
	if !ok {
		return window{}, errors.New("the trial ended before the operator had been watched at rest")
	}
	return window{from, to}, nil
}

// complete returns an error if the trial ended early: what was not seen by then
// may still have come.
func complete(h history.History) error {
	for _, want := range []struct {
		marks []history.MarkName
		what  string
	}{
		{[]history.MarkName{history.MarkStarted}, "the operator was started"},
		{[]history.MarkName{history.MarkObserved}, "the operator had been watched at rest"},
		{[]history.MarkName{history.MarkStopped}, "the operator was stopped"},
	} {
		if _, ok := h.Mark(want.marks...); !ok {
			return fmt.Errorf("the trial ended before %s", want.what)
		}
	}
	if applied, ok := h.Mark(history.MarkApplied); ok && len(applied.Mark.Objects) > 0 {
		if _, err := afterDeletion(h); err != nil {
			return err
		}
	}
	return nil
}

// afterDeletion returns the mark that says how the deletion of the samples
// ended.
func afterDeletion(h history.History) (history.Entry, error) {
	end, ok := h.Mark(history.MarkDeleted, history.MarkUndeleted)
	if !ok {
		return end, errors.New("the trial ended before the samples' deletion was through")
	}
	return end, nil
}

// quoted lists names for a sentence.
func quoted(names []string) string { return strings.Join(names, ", ") }

// few lists the first names for a sentence, and counts the others.
func few(names []string) string {
	if len(names) <= namesShown {
		return quoted(names)
	}
	return fmt.Sprintf("%s and %d more", quoted(names[:namesShown]), len(names)-namesShown)
}

// times says how often something happened.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	default:
		return fmt.Sprintf("%d times", n)
	}
}

// requestAt returns the request with that sequence number, nil if there is none.
func requestAt(h history.History, seq int64) *history.Request {
	i, found := slices.BinarySearchFunc(h.Entries, seq, func(e history.Entry, seq int64) int { return cmp.Compare(e.Seq, seq) })
	if !found {
		return nil
	}
	return h.Entries[i].Request
}
