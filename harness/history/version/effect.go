package version

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// EffectKind is what became of a request.
type EffectKind string

// The effects that a request can have on an object.
const (
	// None: the request asked for no lasting change, was refused, or its
	// outcome is not known: a read, a dry run, a review, an error.
	None EffectKind = ""
	// NoOp: it asked for what was there already, and made no version.
	NoOp EffectKind = "no-op"
	// Created, Changed and Deleted: it made a version, or ended the object.
	Created EffectKind = "created"
	Changed EffectKind = "changed"
	Deleted EffectKind = "deleted"
)

// Lasting reports whether the request changed anything.
func (k EffectKind) Lasting() bool { return k == Created || k == Changed || k == Deleted }

// Effect is what became of a request.
type Effect struct {
	Kind EffectKind
	// Ref names the object, with its UID where that is known.
	Ref trial.ObjectRef
	// Before and After are the versions around the write; nil where there was
	// none or none is known.
	Before, After *Version
}

// Differences returns what the write changed. Bookkeeping of the API server
// (resourceVersion, generation, managedFields) is left out unless there is
// nothing else.
func (e Effect) Differences() []Difference {
	return Between(e.Before, e.After)
}

// Between returns in what two versions of an object differ, as Differences
// does. Nothing is known of a version without content.
func Between(before, after *Version) []Difference {
	was, is := before.Object(), after.Object()
	if was == nil || is == nil {
		return nil
	}
	all := slices.DeleteFunc(Diff(was, is), func(d Difference) bool { return d.Path == resourceVersionPath })
	telling := slices.DeleteFunc(slices.Clone(all), bookkeeping)
	if len(telling) > 0 {
		return telling
	}
	return all
}

const resourceVersionPath = ".metadata.resourceVersion"

func bookkeeping(d Difference) bool {
	return d.Path == ".metadata.generation" || strings.HasPrefix(d.Path, ".metadata.managedFields")
}

// metadata are the parts of an object's metadata that effects depend on.
type metadata struct {
	ResourceVersion   string
	DeletionTimestamp string
	Finalizers        []string
}

func metadataOf(raw json.RawMessage) metadata {
	var o struct{ Metadata metadata }
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return metadata{}
	}
	return o.Metadata
}

// ends reports whether a successful write ended its object: a deletion that
// nothing holds up, or a write that took the last finalizer of an object that
// was being deleted. The API server then answers with the version before.
func ends(r *history.Request) bool {
	m := metadataOf(r.Response.Object)
	switch r.Verb {
	case history.VerbDelete:
		return m.DeletionTimestamp == "" || len(m.Finalizers) == 0 && !graceful(r)
	case history.VerbUpdate, history.VerbPatch:
		return m.DeletionTimestamp != "" && len(m.Finalizers) == 0 && !graceful(r)
	default:
		return false
	}
}

// graceful reports whether objects of the request's resource live on for a
// grace period after their deletion was asked for.
func graceful(r *history.Request) bool { return r.Group == "" && r.Resource == "pods" }

// asksForVersion returns the resourceVersion that a write insists on.
func asksForVersion(r *history.Request) string {
	if r.Verb != history.VerbUpdate && r.Verb != history.VerbPatch {
		return ""
	}
	if v := metadataOf(r.Body).ResourceVersion; v != "0" {
		return v
	}
	return ""
}

// beyond reports whether a write cannot have made what differs between two
// versions: the API server ignores the status in a write of the object, and
// everything but the status in a write of its status subresource.
func beyond(h history.History, r *history.Request, before, after *Version) bool {
	reachable := func(root string) bool { return root != "status" }
	if r.Subresource == "status" {
		reachable = func(root string) bool { return root == "status" || root == "metadata" }
	} else if !statusApart(h, r.Group, r.Resource) {
		return false
	}
	roots := differingRoots(before, after)
	return len(roots) > 0 && !slices.ContainsFunc(roots, reachable)
}

// differingRoots returns the top-level fields in which two versions differ,
// bookkeeping apart. It decodes no more than it must: this is asked of every
// write.
func differingRoots(before, after *Version) []string {
	if before == nil || after == nil {
		return nil
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before.Raw, &was) != nil || json.Unmarshal(after.Raw, &is) != nil {
		return nil
	}
	var roots []string
	for root := range union(was, is) {
		if bytes.Equal(was[root], is[root]) {
			continue
		}
		differences := Diff(map[string]any{root: Decode(was[root])}, map[string]any{root: Decode(is[root])})
		if slices.ContainsFunc(differences, func(d Difference) bool { return !bookkeeping(d) && d.Path != resourceVersionPath }) {
			roots = append(roots, root)
		}
	}
	return roots
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// statusApart reports whether the status of a resource is known to be written
// through its subresource only.
func statusApart(h history.History, group, resource string) bool {
	if p, ok := h.Primary(group, resource); ok {
		return p.Has(trial.FeatureStatus)
	}
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
