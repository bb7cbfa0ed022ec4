package oracle

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// ownerReference is one entry of metadata.ownerReferences.
type ownerReference struct {
	APIVersion, Kind, Name, UID string
	Controller                  bool
}

// meta is what judges read of any object.
type meta struct {
	Labels, Annotations map[string]string
	Finalizers          []string
	DeletionTimestamp   string
	OwnerReferences     []ownerReference
}

func metaOf(raw json.RawMessage) meta {
	var o struct{ Metadata meta }
	if json.Unmarshal(raw, &o) != nil {
		return meta{}
	}
	return o.Metadata
}

// life is what is known of one object.
type life struct {
	ref trial.ObjectRef
	// seq is the entry that showed its last version, raw that version.
	seq int64
	raw json.RawMessage
	// gone is when it was seen to be gone; zero if it never was.
	gone time.Time
}

// lives returns what is known of every object, by UID, whether the direct watch
// or a response showed it.
func lives(h history.History, x *version.Index) map[string]life {
	found := map[string]life{}
	for _, e := range h.Entries {
		switch {
		case e.Change != nil:
			l := life{ref: e.Change.Ref(), seq: e.Seq, raw: e.Change.Object}
			if e.Change.Type == history.Deleted {
				l.gone = e.Time
			}
			found[e.Change.UID] = l
		case e.Request != nil:
			effect := x.Effect(e.Seq)
			if _, known := found[effect.Ref.UID]; !known && effect.Kind == version.Created {
				found[effect.Ref.UID] = life{ref: effect.Ref, seq: e.Seq, raw: e.Request.Response.Object}
			}
		}
	}
	return found
}

// created is an object that the subject made.
type created struct {
	write
	life
}

// creations returns the objects that the subject made, in order.
func creations(h history.History, o trial.CheckOptions, x *version.Index, all map[string]life) []created {
	var found []created
	for _, w := range writes(h, o, x) {
		if w.Kind == version.Created {
			found = append(found, created{w, all[w.Ref.UID]})
		}
	}
	return found
}

// samples returns the objects that the mark is about, with the fate of each.
func samples(mark history.Entry, all map[string]life) []life {
	var found []life
	for _, ref := range mark.Mark.Objects {
		l, ok := all[ref.UID]
		if !ok {
			l = life{ref: ref}
		}
		found = append(found, l)
	}
	return found
}

// collects reports whether the cluster has a garbage collector.
func collects(h history.History) bool { return h.Header.Level.Provides(trial.LevelControlPlane) }

// retained reports whether objects of a resource hold data that many operators
// keep on purpose when their owner goes.
func retained(group, resource string) bool {
	return group == "" && slices.Contains([]string{"persistentvolumeclaims", "persistentvolumes"}, resource)
}
