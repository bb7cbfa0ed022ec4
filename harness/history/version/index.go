package version

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
)

// Index is a history put in the order of its objects' versions.
type Index struct {
	h         history.History
	sightings map[int64]sighting
	versions  map[string][]Version
	places    map[made]int
	effects   map[int64]Effect
	authors   map[made]int64
	enders    map[string]int64
}

// made identifies a version: the same number may stand for versions of several
// objects.
type made struct{ uid, resourceVersion string }

func (v Version) made() made { return made{v.Ref.UID, v.ResourceVersion} }

// NewIndex reads a whole history.
func NewIndex(h history.History) *Index {
	x := &Index{
		h: h, sightings: map[int64]sighting{}, versions: map[string][]Version{}, places: map[made]int{},
		effects: map[int64]Effect{}, authors: map[made]int64{}, enders: map[string]int64{},
	}
	byObject := map[string][]sighting{}
	for _, e := range h.Entries {
		s, ok := sightingOf(e)
		if !ok {
			continue
		}
		x.sightings[e.Seq] = s
		if !s.ended {
			byObject[s.Ref.UID] = append(byObject[s.Ref.UID], s)
		}
	}
	for uid, sightings := range byObject {
		x.versions[uid] = ordered(sightings)
		for i, v := range x.versions[uid] {
			x.places[v.made()] = i
		}
	}
	x.judgeWrites()
	return x
}

// Effect returns what became of the request with that sequence number.
func (x *Index) Effect(seq int64) Effect { return x.effects[seq] }

// Versions returns the versions that an object is known to have had, in order.
func (x *Index) Versions(uid string) []Version { return x.versions[uid] }

// Around returns the version of an object before the one with that
// resourceVersion, and that one; nil where they are not known.
func (x *Index) Around(uid, resourceVersion string) (before, after *Version) {
	i, known := x.places[made{uid, resourceVersion}]
	if !known {
		return nil, nil
	}
	versions := x.versions[uid]
	if i > 0 {
		before = &versions[i-1]
	}
	return before, &versions[i]
}

// Objects returns the versions of every object of a resource, by name and
// creation.
func (x *Index) Objects(group, name string) [][]Version {
	var objects [][]Version
	for _, versions := range x.versions {
		if versions[0].Ref.Group == group && versions[0].Ref.Resource == name {
			objects = append(objects, versions)
		}
	}
	slices.SortFunc(objects, func(a, b []Version) int {
		return cmp.Or(strings.Compare(a[0].Ref.String(), b[0].Ref.String()), cmp.Compare(a[0].Seq, b[0].Seq))
	})
	return objects
}

// Writer returns the sequence number of the operator's request that made a
// version, and whether there is one.
func (x *Index) Writer(v Version) (int64, bool) {
	seq, ok := x.authors[v.made()]
	return seq, ok
}

// Author returns the sequence number of the operator's request that made a
// change, and whether there is one: what is left was done by others.
func (x *Index) Author(c *history.Change) (int64, bool) {
	if c.Type == history.Deleted {
		seq, ok := x.enders[c.UID]
		return seq, ok
	}
	seq, ok := x.authors[made{c.UID, c.ResourceVersion}]
	return seq, ok
}

// judgeWrites finds out what each write did. A write made the version it was
// answered with if nobody can have seen that version before the write began.
func (x *Index) judgeWrites() {
	writes := slices.DeleteFunc(slices.Clone(x.h.Entries), func(e history.Entry) bool { return !lasting(e.Request) })
	slices.SortStableFunc(writes, func(a, b history.Entry) int { return a.Request.Start.Compare(b.Request.Start) })
	seen := x.newSeen()
	claims := map[made][]claim{}
	for _, e := range writes {
		seen.until(e.Request.Start)
		effect, certain := x.outcome(e, seen)
		x.effects[e.Seq] = effect
		switch effect.Kind {
		case Created, Changed:
			version := effect.After.made()
			claims[version] = append(claims[version], claim{e.Seq, certain})
		case Deleted:
			x.enders[effect.Ref.UID] = e.Seq
		case NoOp, None:
		}
	}
	for version, rivals := range claims {
		x.settle(version, rivals)
	}
}

// claim is a write that may have made the version it was answered with.
type claim struct {
	seq     int64
	certain bool
}

// settle decides between several writes at a time that were answered with the
// version that one of them made: it was the one that was sure to, else the
// first to end.
func (x *Index) settle(version made, rivals []claim) {
	author := slices.MinFunc(rivals, func(a, b claim) int {
		switch {
		case a.certain && !b.certain:
			return -1
		case b.certain && !a.certain:
			return 1
		}
		return cmp.Compare(a.seq, b.seq)
	})
	x.authors[version] = author.seq
	for _, other := range rivals {
		if other.seq != author.seq {
			effect := x.effects[other.seq]
			effect.Kind, effect.Before = NoOp, effect.After
			x.effects[other.seq] = effect
		}
	}
}

// lasting reports whether a request asked for a lasting change and was heard.
func lasting(r *history.Request) bool {
	return r != nil && r.Verb.Mutates() && r.Verb != history.VerbDeleteCollection && !r.DryRun && r.Response.OK()
}

// outcome tells what a write did, and whether that is certain.
func (x *Index) outcome(e history.Entry, seen *seen) (effect Effect, certain bool) {
	r := e.Request
	if r.Verb == history.VerbDelete && r.Subresource == "" {
		return x.deletion(e, seen), true
	}
	s, ok := x.sightings[e.Seq]
	if !ok || r.Verb == history.VerbCreate && r.Subresource != "" {
		return Effect{}, true
	}
	before, after := x.around(s.Version)
	switch {
	case r.Response.Code == 201 && r.Subresource == "":
		return Effect{Kind: Created, Ref: s.Ref, After: after}, true
	case ends(r):
		return Effect{Kind: Deleted, Ref: s.Ref, Before: after}, true
	}
	changed, certain := x.changed(r, s, seen)
	if !changed {
		return Effect{Kind: NoOp, Ref: s.Ref, Before: after, After: after}, certain
	}
	return Effect{Kind: Changed, Ref: s.Ref, Before: before, After: after}, certain
}

// changed tells whether a write made the version it was answered with. That is
// certain of one that insisted on a version.
func (x *Index) changed(r *history.Request, s sighting, seen *seen) (changed, certain bool) {
	if asked := asksForVersion(r); asked != "" {
		return asked != s.ResourceVersion, true
	}
	before, after := x.around(s.Version)
	return !seen.version(s.Version) && !beyond(x.h, r, before, after), false
}

// deletion tells what a DELETE did. Its answer is the object, or a Status that
// need not name it.
func (x *Index) deletion(e history.Entry, seen *seen) Effect {
	r := e.Request
	s, answered := x.sightings[e.Seq]
	if !answered {
		ref := r.Ref()
		if ref.UID == "" {
			ref.UID = seen.at[placeOf(ref)]
		}
		return Effect{Kind: Deleted, Ref: ref, Before: x.latest(ref.UID)}
	}
	before, after := x.around(s.Version)
	switch {
	case ends(r):
		return Effect{Kind: Deleted, Ref: s.Ref, Before: after}
	case seen.version(s.Version):
		return Effect{Kind: NoOp, Ref: s.Ref, Before: after, After: after}
	default:
		return Effect{Kind: Changed, Ref: s.Ref, Before: before, After: after}
	}
}

// around is Around, for a version that may not be among the known ones.
func (x *Index) around(v Version) (before, after *Version) {
	before, after = x.Around(v.Ref.UID, v.ResourceVersion)
	if after == nil {
		after = &v
	}
	return before, after
}

func (x *Index) latest(uid string) *Version {
	versions := x.versions[uid]
	if len(versions) == 0 {
		return nil
	}
	return &versions[len(versions)-1]
}

// seen is what had been seen by a moment, whoever saw it: a version that was
// seen by then was made by then. It moves forward in time only.
type seen struct {
	x       *Index
	entries []history.Entry
	// versions are those that were seen.
	versions map[made]bool
	// newest is the highest version of any object of a resource: whatever is
	// lower was made before it.
	newest map[resource]uint64
	at     map[place]string
}

func (x *Index) newSeen() *seen {
	byTime := slices.Clone(x.h.Entries)
	slices.SortStableFunc(byTime, func(a, b history.Entry) int { return a.Time.Compare(b.Time) })
	return &seen{x: x, entries: byTime, versions: map[made]bool{}, newest: map[resource]uint64{}, at: map[place]string{}}
}

func (s *seen) until(moment time.Time) {
	for len(s.entries) > 0 && !s.entries[0].Time.After(moment) {
		v, ok := s.x.sightings[s.entries[0].Seq]
		s.entries = s.entries[1:]
		if !ok {
			continue
		}
		s.versions[v.made()] = true
		kind := resource{v.Ref.Group, v.Ref.Resource}
		s.newest[kind] = max(s.newest[kind], v.number)
		if v.ended {
			delete(s.at, placeOf(v.Ref))
			continue
		}
		s.at[placeOf(v.Ref)] = v.Ref.UID
	}
}

// version reports whether the version had been made by then.
func (s *seen) version(v Version) bool {
	return s.versions[v.made()] || v.number != 0 && v.number <= s.newest[resource{v.Ref.Group, v.Ref.Resource}]
}
