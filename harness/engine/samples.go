package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/subject"
	"github.com/seatrial/seatrial/harness/trial"
)

// samples follows the samples through the direct watch: what each looks like
// now, and which are gone.
type samples struct {
	mu    sync.Mutex
	alive map[string]sample
	// latest are the objects that were seen, and nil for those whose end was:
	// the watch may be faster than the answer to the request that made one.
	latest map[string]*unstructured.Unstructured
}

type sample struct {
	ref    trial.ObjectRef
	object *unstructured.Unstructured
}

func newSamples() *samples {
	return &samples{alive: map[string]sample{}, latest: map[string]*unstructured.Unstructured{}}
}

// applied notes a sample as the API server stored it.
func (s *samples) applied(u *unstructured.Unstructured, resource string) trial.ObjectRef {
	gvk := u.GroupVersionKind()
	ref := trial.ObjectRef{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: resource,
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	latest, seen := s.latest[ref.UID]
	switch {
	case !seen:
		s.alive[ref.UID] = sample{ref: ref, object: u}
	case latest != nil:
		s.alive[ref.UID] = sample{ref: ref, object: latest}
	}
	return ref
}

// changed notes a version of an object of one of the subject's kinds.
func (s *samples) changed(c *history.Change) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(c.Object); err != nil {
		return // not an object; the record shows what came
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Type == history.Deleted {
		s.latest[c.UID] = nil
		delete(s.alive, c.UID)
		return
	}
	s.latest[c.UID] = u
	if known, ok := s.alive[c.UID]; ok {
		known.object = u
		s.alive[c.UID] = known
	}
}

// refs returns the samples that are there, sorted by name.
func (s *samples) refs() []trial.ObjectRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	refs := make([]trial.ObjectRef, 0, len(s.alive))
	for _, known := range s.sorted() {
		refs = append(refs, known.ref)
	}
	return refs
}

func (s *samples) sorted() []sample {
	return slices.SortedFunc(maps.Values(s.alive), func(a, b sample) int {
		return cmp.Compare(a.ref.String(), b.ref.String())
	})
}

// allReady is the goal that every sample is ready.
func (s *samples) allReady(ready subject.Readiness) goal {
	return func() (bool, string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, known := range s.sorted() {
			if ok, missing := ready(known.object); !ok {
				return false, fmt.Sprintf("%s: %s", known.ref, missing)
			}
		}
		return true, ""
	}
}

// allGone is the goal that no sample is left.
func (s *samples) allGone() (bool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.sorted() {
		return false, fmt.Sprintf("%s is still there, with finalizers %v", known.ref, known.object.GetFinalizers())
	}
	return true, ""
}
