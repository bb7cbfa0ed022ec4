package lens

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Kept is what was kept of groups that do not survive a conversion, as JSON,
// by the group's ID.
type Kept map[string]json.RawMessage

// Group converts some fields of S, the old version, to and from some of H, the
// new one. Where a whole section is absent on one side, its groups are absent
// on the other, unless something was kept of them.
type Group[S, H any] interface {
	// lift sets the group in h from s and from what was kept of h.
	lift(s *S, h *H, kept Kept, absent bool)
	// spelling reports how s spells the group, where h does not tell.
	spelling(s *S, h *H, absent bool) json.RawMessage
	// project sets the group in s from h and from how it had been spelled.
	project(h *H, s *S, spelled Kept, absent bool)
	// lost reports what h says of the group, where s does not tell.
	lost(h *H, s *S, absent bool) json.RawMessage
	// id is the group's name in annotations.
	id() string
}

// Field reaches a group's fields in an object.
type Field[O, T any] struct {
	Get func(*O) T
	Set func(*O, T)
}

// At is a group that is one field.
func At[O, T any](field func(*O) *T) Field[O, T] {
	return Field[O, T]{
		Get: func(o *O) T { return *field(o) },
		Set: func(o *O, value T) { *field(o) = value },
	}
}

// None is a group without fields, for what the other version alone has.
func None[O any]() Field[O, struct{}] {
	return Field[O, struct{}]{
		Get: func(*O) struct{} { return struct{}{} },
		Set: func(*O, struct{}) {},
	}
}

// NewGroup returns a group. Its ID ends up in annotations and must never
// change. lift and project must neither change nor keep what they are given.
func NewGroup[S, H, A, B any](
	id string, spoke Field[S, A], hub Field[H, B], lift func(base B, a A) B, project func(B) A,
) Group[S, H] {
	return group[S, H, A, B]{name: id, spoke: spoke, hub: hub, up: lift, down: project}
}

// Same returns a group whose values are the same in both versions.
func Same[S, H, T any](id string, spoke Field[S, T], hub Field[H, T]) Group[S, H] {
	return NewGroup(id, spoke, hub, func(_, value T) T { return value }, func(value T) T { return value })
}

// Only returns a group of fields that the new version alone has.
func Only[S, H, B any](id string, hub Field[H, B]) Group[S, H] {
	return NewGroup(id, None[S](), hub,
		func(base B, _ struct{}) B { return base }, func(B) struct{} { return struct{}{} })
}

type group[S, H, A, B any] struct {
	name  string
	spoke Field[S, A]
	hub   Field[H, B]
	up    func(base B, a A) B
	down  func(B) A
}

func (g group[S, H, A, B]) id() string { return g.name }

func (g group[S, H, A, B]) lift(s *S, h *H, kept Kept, absent bool) {
	a := g.spoke.Get(s)
	b := g.lifted(a, absent)
	if before, found := decode[B](kept[g.name]); found {
		b = before
		if !equal(g.down(before), a) {
			b = g.up(before, a)
		}
	}
	g.hub.Set(h, b)
}

func (g group[S, H, A, B]) spelling(s *S, h *H, absent bool) json.RawMessage {
	a := g.spoke.Get(s)
	if equal(g.projected(g.hub.Get(h), absent), a) {
		return nil
	}
	return encode(a)
}

func (g group[S, H, A, B]) project(h *H, s *S, spelled Kept, absent bool) {
	b := g.hub.Get(h)
	a := g.projected(b, absent)
	if spelling, found := decode[A](spelled[g.name]); found && equal(g.up(b, spelling), b) {
		a = spelling
	}
	g.spoke.Set(s, a)
}

func (g group[S, H, A, B]) lost(h *H, s *S, absent bool) json.RawMessage {
	b := g.hub.Get(h)
	if equal(g.lifted(g.spoke.Get(s), absent), b) {
		return nil
	}
	return encode(b)
}

// lifted is what a tells of the group by itself.
func (g group[S, H, A, B]) lifted(a A, absent bool) B {
	var zero B
	if absent {
		return zero
	}
	return g.up(zero, a)
}

// projected is what b tells of the group by itself.
func (g group[S, H, A, B]) projected(b B, absent bool) A {
	if absent {
		var zero A
		return zero
	}
	return g.down(b)
}

// equal compares values as they are stored: as JSON. Two spellings of a
// quantity differ, and an empty list does not differ from none where the
// field is left out when empty.
func equal[T any](a, b T) bool {
	return reflect.DeepEqual(a, b) || bytes.Equal(encode(stored[T]{a}), encode(stored[T]{b}))
}

// stored is a value as the field of an object.
type stored[T any] struct {
	Value T `json:"value,omitempty"`
}

// encode never fails for the types of an API, which are made to be encoded.
func encode(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return encoded
}

// decode reports whether there is a value that can be read. What somebody
// spoilt by hand counts as absent.
func decode[T any](kept json.RawMessage) (T, bool) {
	var value T
	if len(kept) == 0 || json.Unmarshal(kept, &value) != nil {
		var zero T
		return zero, false
	}
	return value, true
}
