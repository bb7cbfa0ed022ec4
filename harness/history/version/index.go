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
	h        history.History
	versions map[string][]Version
	effects  map[int64]Effect
	authors  map[made]int64
	enders   map[string]int64
}

// made identifies a version: the same number may stand for versions of several
// objects.
type made struct{ uid, resourceVersion string }

// NewIndex reads a whole history.
func NewIndex(h history.History) *Index {
	x := &Index{
		h: h, versions: map[string][]Version{}, effects: map[int64]Effect{},
		authors: map[made]int64{}, enders: map[string]int64{},
	}
	for _, e := range h.Entries {
		if s, ok := sightingOf(e); ok && !s.ended {
			x.versions[s.Ref.UID] = insert(x.versions[s.Ref.UID], s.Version, e.Change != nil)
		}
	}
	x.judgeWrites()
	return x
}

// Effect returns what became of the request with that sequence number.
func (x *Index) Effect(seq int64) Effect { return x.effects[seq] }

// Versions returns the versions that an object is known to have had, in order.
func (x *Index) Versions(uid string) []Version { return x.versions[uid] }

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
	seq, ok := x.authors[made{v.Ref.UID, v.ResourceVersion}]
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
	seen := newSeen(x.h.Entries)
	claims := map[made][]claim{}
	for _, e := range writes {
		seen.until(e.Request.Start)
		effect, certain := x.outcome(e, seen)
		x.effects[e.Seq] = effect
		switch effect.Kind {
		case Created, Changed:
			version := made{effect.Ref.UID, effect.After.ResourceVersion}
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
	s, ok := sightingOf(e)
	if !ok || r.Verb == history.VerbCreate && r.Subresource != "" {
		return Effect{}, true
	}
	before, after := x.around(s.Version)
	effect = Effect{Ref: s.Ref, Before: before, After: after}
	asked := asksForVersion(r)
	switch {
	case r.Response.Code == 201 && r.Subresource == "":
		effect.Kind, effect.Before = Created, nil
	case ends(r):
		effect.Kind, effect.Before, effect.After = Deleted, after, nil
	case asked != "" && asked != s.ResourceVersion:
		effect.Kind = Changed
		return effect, true
	case asked != "", seen.version(s.Version), beyond(x.h, r, Between(before, after)):
		effect.Kind, effect.Before = NoOp, after
	default:
		effect.Kind = Changed
		return effect, false
	}
	return effect, true
}

// deletion tells what a DELETE did. Its answer is the object, or a Status that
// need not name it.
func (x *Index) deletion(e history.Entry, seen *seen) Effect {
	r := e.Request
	s, answered := sightingOf(e)
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

// around returns the version before v, and v as it is best known.
func (x *Index) around(v Version) (before, after *Version) {
	versions := x.versions[v.Ref.UID]
	i := slices.IndexFunc(versions, func(known Version) bool { return known.ResourceVersion == v.ResourceVersion })
	if i < 0 {
		return nil, &v
	}
	if i > 0 {
		before = &versions[i-1]
	}
	return before, &versions[i]
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
	entries  []history.Entry
	versions map[made]bool
	// newest is the highest version of any object of a resource: whatever is
	// lower was made before it.
	newest map[resource]uint64
	at     map[place]string
}

func newSeen(entries []history.Entry) *seen {
	byTime := slices.Clone(entries)
	slices.SortStableFunc(byTime, func(a, b history.Entry) int { return a.Time.Compare(b.Time) })
	return &seen{entries: byTime, versions: map[made]bool{}, newest: map[resource]uint64{}, at: map[place]string{}}
}

func (s *seen) until(moment time.Time) {
	for len(s.entries) > 0 && !s.entries[0].Time.After(moment) {
		e := s.entries[0]
		s.entries = s.entries[1:]
		v, ok := sightingOf(e)
		if !ok {
			continue
		}
		s.versions[made{v.Ref.UID, v.ResourceVersion}] = true
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
	return s.versions[made{v.Ref.UID, v.ResourceVersion}] ||
		v.number != 0 && v.number <= s.newest[resource{v.Ref.Group, v.Ref.Resource}]
}
