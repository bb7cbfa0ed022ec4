package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// family follows who owns whom among all objects, so that after a deletion
// the trial waits for the garbage collector and not for a guess at how long it
// takes.
type family struct {
	mu      sync.Mutex
	members map[string]member
}

type member struct {
	ref    trial.ObjectRef
	owners []string
}

func newFamily() *family { return &family{members: map[string]member{}} }

// changed notes a version of an object.
func (f *family) changed(c *history.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Type == history.Deleted {
		delete(f.members, c.UID)
		return
	}
	if owners := ownersOf(c.Object); len(owners) > 0 {
		f.members[c.UID] = member{ref: c.Ref(), owners: owners}
		return
	}
	delete(f.members, c.UID)
}

func ownersOf(object json.RawMessage) []string {
	var o struct {
		Metadata struct {
			OwnerReferences []struct {
				UID string `json:"uid"`
			} `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return nil
	}
	var owners []string
	for _, ref := range o.Metadata.OwnerReferences {
		owners = append(owners, ref.UID)
	}
	return owners
}

// noneLeft is the goal that no descendant of the given objects is left. A
// member that another, living object owns as well is the collector's to keep.
func (f *family) noneLeft(of []trial.ObjectRef) goal {
	return func() (bool, string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		doomed := map[string]bool{}
		for _, ref := range of {
			doomed[ref.UID] = true
		}
		for grown := true; grown; {
			grown = false
			for uid, m := range f.members {
				if !doomed[uid] && !slices.ContainsFunc(m.owners, func(o string) bool { return !doomed[o] }) {
					doomed[uid], grown = true, true
				}
			}
		}
		for uid, m := range f.members {
			if doomed[uid] {
				return false, fmt.Sprintf("%s, which it owned, is still there", m.ref)
			}
		}
		return true, ""
	}
}
