package observe

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/seatrial/seatrial/harness/history"
)

// state is how far the watch of one resource has come.
type state struct {
	// known are the objects that are there, by UID, each with the last change
	// that was recorded of it.
	known map[string]*history.Change
	// at is the resource version up to which everything was seen.
	at string
}

func newState() *state { return &state{known: map[string]*history.Change{}} }

// older reports whether version a is older than b. The versions of one
// resource compare as numbers; those of an API server that does not keep to
// that count as older when they differ, so that nothing is taken for seen.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return a != b
	}
	return order < 0
}

// isNews reports whether a change that a watch delivered was not seen yet.
func (s *state) isNews(c *history.Change) bool {
	last, ok := s.known[c.UID]
	return !ok || older(last.ResourceVersion, c.ResourceVersion)
}

// note takes in a change that was recorded.
func (s *state) note(c *history.Change) {
	if c.Type == history.Deleted {
		delete(s.known, c.UID)
		return
	}
	s.known[c.UID] = c
}

// difference returns the changes that lead from what is known to what a list
// holds, in an order that could have been: what is gone goes first, as its
// name may be taken again.
func (s *state) difference(list []*history.Change) []*history.Change {
	var changes []*history.Change
	listed := map[string]bool{}
	for _, c := range list {
		listed[c.UID] = true
		if !s.isNews(c) {
			continue
		}
		if s.known[c.UID] != nil {
			c.Type = history.Modified
		}
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, byVersion)
	return append(s.gone(listed), changes...)
}

// gone returns the deletions of what is known but not listed.
func (s *state) gone(listed map[string]bool) []*history.Change {
	var gone []*history.Change
	for uid, last := range s.known {
		if !listed[uid] {
			deleted := *last
			deleted.Type, deleted.Existing = history.Deleted, false
			gone = append(gone, &deleted)
		}
	}
	slices.SortStableFunc(gone, byVersion)
	return gone
}

func byVersion(a, b *history.Change) int {
	switch {
	case a.ResourceVersion == b.ResourceVersion:
		return 0
	case older(a.ResourceVersion, b.ResourceVersion):
		return -1
	}
	return 1
}

// goal is what a list showed: versions by UID, and the version of the list.
type goal struct {
	at       string
	versions map[string]string
}

// reached reports whether everything that led to the goal was seen: either the
// watch has come as far, or the same objects are known in the same or later
// versions.
func (s *state) reached(g goal) bool {
	if s.at != "" && !older(s.at, g.at) {
		return true
	}
	for uid, want := range g.versions {
		last, ok := s.known[uid]
		if !ok || older(last.ResourceVersion, want) {
			return false
		}
	}
	for uid, last := range s.known {
		if _, ok := g.versions[uid]; !ok && !older(g.at, last.ResourceVersion) {
			return false // its deletion is still to come
		}
	}
	return true
}
