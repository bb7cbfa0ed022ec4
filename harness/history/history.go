package history

import (
	"iter"
	"slices"

	"github.com/seatrial/seatrial/harness/trial"
)

// Header is the first line of a saved history: what judges need to know of
// the subject.
type Header struct {
	// Schema is the version of this format: "seatrial.dev/history/v1alpha1".
	Schema  string `json:"schema"`
	Subject string `json:"subject"`
	// User is the operator's own user name; requests of others are not its.
	User string `json:"user"`
	// Level is what kind of cluster it was seen on: without a garbage
	// collector, say, nobody deletes what a deleted object owned. Empty is
	// taken as the least.
	Level trial.Level `json:"level,omitempty"`
	// Primary are the resources that the subject's CRDs define.
	Primary []PrimaryResource `json:"primary"`
}

// Schema is the version of the saved format that this package writes.
const Schema = "seatrial.dev/history/v1alpha1"

// PrimaryResource is one resource that the subject's CRDs define.
type PrimaryResource struct {
	Group    string          `json:"group"`
	Kind     string          `json:"kind"`
	Resource string          `json:"resource"`
	Versions []string        `json:"versions"`
	Features []trial.Feature `json:"features,omitempty"`
}

// Has reports whether the resource has the feature.
func (p PrimaryResource) Has(f trial.Feature) bool { return slices.Contains(p.Features, f) }

// History is a header and what was seen, in order. It is a view: slices of it
// share their entries, which nobody changes.
type History struct {
	Header  Header
	Entries []Entry
}

// Primary returns the primary resource of that group and resource name.
func (h History) Primary(group, resource string) (PrimaryResource, bool) {
	for _, p := range h.Header.Primary {
		if p.Group == group && p.Resource == resource {
			return p, true
		}
	}
	return PrimaryResource{}, false
}

// Requests yields the operator's requests with their sequence numbers.
func (h History) Requests() iter.Seq2[int64, *Request] {
	return func(yield func(int64, *Request) bool) {
		for i := range h.Entries {
			if r := h.Entries[i].Request; r != nil && !yield(h.Entries[i].Seq, r) {
				return
			}
		}
	}
}

// Changes yields the object versions that the direct watch saw.
func (h History) Changes() iter.Seq2[int64, *Change] {
	return func(yield func(int64, *Change) bool) {
		for i := range h.Entries {
			if c := h.Entries[i].Change; c != nil && !yield(h.Entries[i].Seq, c) {
				return
			}
		}
	}
}

// Processes yields what happened to the operator's process.
func (h History) Processes() iter.Seq2[int64, *Process] {
	return func(yield func(int64, *Process) bool) {
		for i := range h.Entries {
			if p := h.Entries[i].Process; p != nil && !yield(h.Entries[i].Seq, p) {
				return
			}
		}
	}
}

// Mark returns the last entry that sets one of the marks.
func (h History) Mark(names ...MarkName) (Entry, bool) {
	for _, e := range slices.Backward(h.Entries) {
		if e.Mark != nil && slices.Contains(names, e.Mark.Name) {
			return e, true
		}
	}
	return Entry{}, false
}

// After returns what was seen after sequence number seq.
func (h History) After(seq int64) History {
	i := slices.IndexFunc(h.Entries, func(e Entry) bool { return e.Seq > seq })
	if i < 0 {
		i = len(h.Entries)
	}
	return History{Header: h.Header, Entries: h.Entries[i:]}
}

// Final returns the last version of every object that was not deleted, by UID.
func (h History) Final() map[string]*Change {
	final := map[string]*Change{}
	for _, c := range h.Changes() {
		if c.Type == Deleted {
			delete(final, c.UID)
			continue
		}
		final[c.UID] = c
	}
	return final
}
