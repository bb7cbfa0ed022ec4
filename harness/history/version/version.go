package version

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// Version is one version of one object.
type Version struct {
	Ref             trial.ObjectRef
	ResourceVersion string
	// Seq is the entry that shows it: that of the direct watch if there is
	// one, else the response that carried it.
	Seq int64
	// Raw is the whole object; empty where only its existence is known.
	Raw json.RawMessage

	number uint64
}

// Object decodes the version; nil where its content is not known.
func (v *Version) Object() map[string]any {
	if v == nil {
		return nil
	}
	object, _ := Decode(v.Raw).(map[string]any)
	return object
}

// resource is a resource whatever its version: its resourceVersions can be
// compared with each other.
type resource struct{ group, name string }

// place is where an object stands, whatever its UID.
type place struct {
	resource
	namespace, object string
}

func placeOf(r trial.ObjectRef) place {
	return place{resource{r.Group, r.Resource}, r.Namespace, r.Name}
}

// number returns the resourceVersion as a number, 0 if it is none.
func number(resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// sighting is an entry that shows a version.
type sighting struct {
	Version
	// watched: the direct watch shows it, not a response.
	watched bool
	// ended is set by a DELETED event: the object is gone.
	ended bool
}

// sightingOf returns the version that an entry shows; false if it shows none.
func sightingOf(e history.Entry) (sighting, bool) {
	if c := e.Change; c != nil {
		return sighting{
			Version: Version{Ref: c.Ref(), ResourceVersion: c.ResourceVersion, Seq: e.Seq, Raw: c.Object, number: number(c.ResourceVersion)},
			watched: true, ended: c.Type == history.Deleted,
		}, true
	}
	r := e.Request
	if r == nil || r.DryRun || !r.Response.OK() || r.Response.UID == "" || r.Response.ResourceVersion == "" {
		return sighting{}, false
	}
	s := sighting{Version: Version{
		Ref: r.Ref(), ResourceVersion: r.Response.ResourceVersion, Seq: e.Seq, number: number(r.Response.ResourceVersion),
	}}
	var head struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
	}
	if json.Unmarshal(r.Response.Object, &head) == nil && whole(r, head.APIVersion) {
		s.Raw = r.Response.Object
		s.Ref.Kind, s.Ref.Name, s.Ref.Namespace = head.Kind, head.Metadata.Name, head.Metadata.Namespace
	}
	return s, true
}

// whole reports whether a response of that apiVersion holds the object itself,
// and not its scale, its metadata alone, or a table.
func whole(r *history.Request, apiVersion string) bool {
	return apiVersion != "meta.k8s.io/v1" && slices.Contains([]string{"", "status", "finalizers"}, r.Subresource)
}

// better reports whether a sighting shows more of a version than another one
// of it: what the direct watch shows is the ground truth.
func (s sighting) better(known sighting) bool {
	switch {
	case s.watched != known.watched:
		return s.watched
	default:
		return len(known.Raw) == 0 && len(s.Raw) > 0
	}
}

// ordered returns the versions of one object in the order in which they were
// made, which is that of their numbers, or else that of their first sight.
func ordered(sightings []sighting) []Version {
	var order []string
	best := map[string]sighting{}
	for _, s := range sightings {
		known, again := best[s.ResourceVersion]
		if !again {
			order = append(order, s.ResourceVersion)
		}
		if !again || s.better(known) {
			best[s.ResourceVersion] = s
		}
	}
	versions := make([]Version, 0, len(order))
	for _, resourceVersion := range order {
		versions = append(versions, best[resourceVersion].Version)
	}
	slices.SortStableFunc(versions, func(a, b Version) int { return cmp.Compare(a.number, b.number) })
	return versions
}
