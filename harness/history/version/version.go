package version

import (
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
	// ended is set by a DELETED event: the object is gone.
	ended bool
}

// sightingOf returns the version that an entry shows, if it shows one.
func sightingOf(e history.Entry) (sighting, bool) {
	if c := e.Change; c != nil {
		return sighting{
			Version: Version{Ref: c.Ref(), ResourceVersion: c.ResourceVersion, Seq: e.Seq, Raw: c.Object, number: number(c.ResourceVersion)},
			ended:   c.Type == history.Deleted,
		}, true
	}
	r := e.Request
	if r == nil || r.DryRun || !r.Response.OK() || r.Response.UID == "" || r.Response.ResourceVersion == "" {
		return sighting{}, false
	}
	s := sighting{Version: Version{
		Ref: r.Ref(), ResourceVersion: r.Response.ResourceVersion, Seq: e.Seq, number: number(r.Response.ResourceVersion),
	}}
	if whole(r) {
		s.Raw = r.Response.Object
	}
	var named struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
	}
	if err := json.Unmarshal(r.Response.Object, &named); err == nil && whole(r) {
		s.Ref.Kind, s.Ref.Name, s.Ref.Namespace = named.Kind, named.Metadata.Name, named.Metadata.Namespace
	}
	return s, true
}

// whole reports whether the response holds the object itself, and not its
// scale, its metadata alone, or a table.
func whole(r *history.Request) bool {
	if len(r.Response.Object) == 0 || r.Subresource != "" && r.Subresource != "status" && r.Subresource != "finalizers" {
		return false
	}
	var head struct{ APIVersion string }
	if err := json.Unmarshal(r.Response.Object, &head); err != nil {
		return false
	}
	return head.APIVersion != "meta.k8s.io/v1"
}

// insert adds a version to those of an object, in the order in which they were
// made. The direct watch's own sight of a version replaces a response's.
func insert(versions []Version, v Version, fromWatch bool) []Version {
	i := slices.IndexFunc(versions, func(known Version) bool { return known.ResourceVersion == v.ResourceVersion })
	if i >= 0 {
		if fromWatch || len(versions[i].Raw) == 0 {
			versions[i] = v
		}
		return versions
	}
	at := len(versions)
	for at > 0 && v.number != 0 && versions[at-1].number > v.number {
		at--
	}
	return slices.Insert(versions, at, v)
}
