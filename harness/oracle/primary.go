package oracle

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// custom is what judges read of one version of a custom resource.
type custom struct {
	version.Version
	Metadata struct {
		Generation        int64
		DeletionTimestamp string
	}
	Status struct {
		// ObservedGeneration is nil where it is not set.
		ObservedGeneration *int64
		Conditions         []condition
	}
}

type condition struct {
	Type, Status, Reason, LastTransitionTime string
	ObservedGeneration                       *int64
}

// since returns the time of a condition's last transition; false where it is
// not set, or no time.
func (c condition) since() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, c.LastTransitionTime)
	return t, err == nil && !t.IsZero()
}

// customs returns the versions of every object of the subject's own resources
// that have all the features, object by object.
func customs(h history.History, o trial.CheckOptions, x *version.Index, features ...trial.Feature) [][]custom {
	var objects [][]custom
	for _, p := range h.Header.Primary {
		lacking := slices.ContainsFunc(features, func(f trial.Feature) bool { return !p.Has(f) })
		if lacking || ignored(o, p.Group, p.Resource) {
			continue
		}
		for _, versions := range x.Objects(p.Group, p.Resource) {
			object := make([]custom, 0, len(versions))
			for _, v := range versions {
				object = append(object, read(v))
			}
			objects = append(objects, object)
		}
	}
	return objects
}

// read reads a version; a field that is not of the type it should have counts
// as not set, since the schema is the CRD's business.
func read(v version.Version) custom {
	c := custom{Version: v}
	var loose struct {
		Metadata json.RawMessage
		Status   map[string]json.RawMessage
	}
	if json.Unmarshal(v.Raw, &loose) != nil {
		return c
	}
	_ = json.Unmarshal(loose.Metadata, &c.Metadata)
	_ = json.Unmarshal(loose.Status["observedGeneration"], &c.Status.ObservedGeneration)
	_ = json.Unmarshal(loose.Status["conditions"], &c.Status.Conditions)
	return c
}

// at returns the version that was the last one at an entry; false where the
// object did not exist then, or was being deleted.
func at(h history.History, object []custom, seq int64) (custom, bool) {
	var last custom
	found := false
	for _, c := range object {
		if c.Seq < seq {
			last, found = c, true
		}
	}
	if !found || last.Metadata.DeletionTimestamp != "" {
		return custom{}, false
	}
	_, gone := deletedAt(h, last.Ref.UID, seq)
	return last, !gone
}

// deletedAt returns the entry before seq that shows that an object is gone.
func deletedAt(h history.History, uid string, seq int64) (history.Entry, bool) {
	for _, e := range h.Entries {
		if e.Seq >= seq {
			break
		}
		if e.Change != nil && e.Change.Type == history.Deleted && e.Change.UID == uid {
			return e, true
		}
	}
	return history.Entry{}, false
}
