package historytest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// User is the operator's own.
const User = "system:serviceaccount:demo:operator"

// Began is when every story begins.
var Began = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// Story is a history that is being told.
type Story struct {
	Header  history.Header
	now     time.Time
	latest  int
	objects map[string]Object
	entries []history.Entry
}

// Tell begins a story about an operator of Widgets, at the level controlplane.
func Tell() *Story {
	return &Story{
		now: Began, latest: 100, objects: map[string]Object{},
		Header: history.Header{
			Subject: "demo", User: User, Level: trial.LevelControlPlane,
			Primary: []history.PrimaryResource{{
				Group: "fixtures.example.com", Kind: "Widget", Resource: "widgets", Versions: []string{"v1"},
				Features: []trial.Feature{trial.FeatureStatus, trial.FeatureObservedGeneration, trial.FeatureConditions},
			}},
		},
	}
}

// step is how long each step takes, unless After says otherwise.
const step = 10 * time.Millisecond

// History returns what was told, in the order in which it was seen.
func (s *Story) History() history.History {
	entries := slices.Clone(s.entries)
	slices.SortStableFunc(entries, func(a, b history.Entry) int { return a.Time.Compare(b.Time) })
	for i := range entries {
		entries[i].Seq = int64(i) + 1
	}
	return history.History{Header: s.Header, Entries: entries}
}

// After lets time pass.
func (s *Story) After(d time.Duration) *Story {
	s.now = s.now.Add(d)
	return s
}

// Mark sets a mark.
func (s *Story) Mark(name history.MarkName, about ...Object) *Story {
	m := &history.Mark{Name: name}
	for _, o := range about {
		m.Objects = append(m.Objects, o.Ref())
	}
	return s.see(history.Entry{Mark: m})
}

// Process records something in the life of the operator's process.
func (s *Story) Process(p history.Process) *Story { return s.see(history.Entry{Process: &p}) }

// Starts begins a trial: the operator is installed and runs.
func (s *Story) Starts() *Story {
	return s.Mark(history.MarkInstalled).
		Process(history.Process{Event: history.ProcessStarted, PID: 7}).Mark(history.MarkStarted)
}

// Rests lets the samples converge, and watches the operator at rest for 10 s
// during which rest may happen.
func (s *Story) Rests(rest func()) *Story {
	s.After(time.Second).Mark(history.MarkConverged)
	end := s.now.Add(10 * time.Second)
	if rest != nil {
		rest()
	}
	if s.now.Before(end) {
		s.now = end
	}
	return s.Mark(history.MarkObserved)
}

// Ends deletes the samples as told by deletion, and ends the trial.
func (s *Story) Ends(deletion func(), samples ...Object) *Story {
	s.Mark(history.MarkDeleting, samples...)
	if deletion != nil {
		deletion()
	}
	for _, o := range samples {
		if _, there := s.objects[o.key()]; there {
			s.OthersDelete(o)
		}
	}
	return s.Mark(history.MarkDeleted, samples...).Stops()
}

// Stops ends the operator and the trial.
func (s *Story) Stops() *Story {
	return s.Process(history.Process{Event: history.ProcessExited, PID: 7, Asked: true}).Mark(history.MarkStopped)
}

// see records an entry that is seen now, and lets a step pass.
func (s *Story) see(e history.Entry) *Story {
	s.seeAt(s.now, e)
	s.now = s.now.Add(step)
	return s
}

func (s *Story) seeAt(at time.Time, e history.Entry) {
	e.Time = at
	s.entries = append(s.entries, e)
}

// Others is what somebody else did: the object appears as given, or, if it is
// there, in a new version.
func (s *Story) Others(o Object) Object { return s.OthersLate(o, 0) }

// OthersLate is Others with a direct watch that lags behind by late.
func (s *Story) OthersLate(o Object, late time.Duration) Object {
	stored, kind := s.store(o, true)
	s.change(kind, stored, s.now.Add(late))
	s.After(step)
	return stored
}

// OthersDelete removes an object.
func (s *Story) OthersDelete(o Object) { s.remove(o, s.now); s.After(step) }

// Was records an object that was there before anything began.
func (s *Story) Was(o Object) Object {
	stored := s.Others(o)
	s.entries[len(s.entries)-1].Change.Existing = true
	return stored
}

func (s *Story) change(kind history.ChangeType, o Object, at time.Time) {
	ref := o.Ref()
	generation, _ := o.metadata()["generation"].(int)
	s.seeAt(at, history.Entry{Change: &history.Change{
		Type: kind, Group: ref.Group, Version: ref.Version, Kind: ref.Kind, Resource: ref.Resource,
		Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID,
		ResourceVersion: o.ResourceVersion(), Generation: int64(generation), Object: o.json(),
	}})
}

func (s *Story) remove(o Object, at time.Time) {
	stored, there := s.objects[o.key()]
	if !there {
		panic("only what is there can be deleted: " + o.key())
	}
	s.latest++
	delete(s.objects, o.key())
	s.change(history.Deleted, stored.With("metadata.resourceVersion", strconv.Itoa(s.latest)), at)
}

// store keeps the object in a new version, or, unless anew is set, as it is if
// it says what is there.
func (s *Story) store(o Object, anew bool) (Object, history.ChangeType) {
	known, there := s.objects[o.key()]
	uid, generation := known.UID(), known.metadata()["generation"]
	if !there {
		uid, generation = fmt.Sprintf("%s-%d", o.Name(), s.latest+1), 1
	} else if !reflect.DeepEqual(known.Content["spec"], o.Content["spec"]) {
		generation = generation.(int) + 1
	}
	o = o.With("metadata.uid", uid).With("metadata.generation", generation).
		With("metadata.resourceVersion", known.ResourceVersion())
	if there && !anew && reflect.DeepEqual(known.Content, o.Content) {
		return known, ""
	}
	s.latest++
	o = o.With("metadata.resourceVersion", strconv.Itoa(s.latest))
	s.objects[o.key()] = o
	if there {
		return o, history.Modified
	}
	return o, history.Added
}
