package oracle

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// write is one write of the subject and what became of it.
type write struct {
	seq     int64
	request *history.Request
	version.Effect
	// differences are what it changed; set only where a judge looks at them.
	differences []version.Difference
}

// writes returns the subject's writes of objects in the order in which they
// were seen. Notes are left out, and with them what had no effect on an object:
// dry runs, reviews and failures.
func writes(h history.History, o trial.CheckOptions, x *version.Index) []write {
	var found []write
	for seq, r := range ownRequests(h, o) {
		effect := x.Effect(seq)
		if effect.Kind == version.None || notes(r.Group, r.Resource) || review(r.Group) {
			continue
		}
		found = append(found, write{seq: seq, request: r, Effect: effect})
	}
	return found
}

// target names what a write is aimed at: an object by its place, so that one
// that is made again and again is one target, or the stem of generated names.
func (w write) target() string {
	ref := w.Ref
	if w.request.Verb == history.VerbCreate && w.request.Name == "" {
		var body struct{ Metadata struct{ GenerateName string } }
		if err := json.Unmarshal(w.request.Body, &body); err == nil && body.Metadata.GenerateName != "" {
			ref.Name = body.Metadata.GenerateName + "*"
		}
	}
	return ref.String()
}

// manner says how a write was sent.
func (w write) manner() string {
	r := w.request
	how := map[history.Verb]string{
		history.VerbCreate: "POST", history.VerbUpdate: "PUT", history.VerbPatch: "PATCH", history.VerbDelete: "DELETE",
	}[r.Verb]
	if w.applies() {
		how = "server-side apply"
	}
	if r.Subresource != "" {
		how += " of its " + r.Subresource
	}
	return how
}

// applies reports whether it is a server-side apply.
func (w write) applies() bool {
	return strings.HasPrefix(w.request.ContentType, "application/apply-patch")
}

// filledIn returns the paths that the API server fills in because a whole
// object that was sent lacks them. A comparison with what was sent never comes
// out equal (class A3).
func (w write) filledIn() []string {
	if w.request.Verb != history.VerbUpdate || w.request.Subresource != "" {
		return nil
	}
	var paths []string
	for _, d := range version.Diff(version.Decode(w.request.Body), version.Decode(w.request.Response.Object)) {
		if d.Op == version.Add && !slices.Contains([]string{"metadata", "status", "kind", "apiVersion"}, d.Root()) {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// paths returns the paths that the writes changed, each once.
func paths(all []write) []string {
	var found []string
	for _, w := range all {
		for _, d := range w.differences {
			found = append(found, d.Path)
		}
	}
	return distinct(found)
}

// sequence returns the numbers of the writes.
func sequence(all []write) []int64 {
	numbers := make([]int64, 0, len(all))
	for _, w := range all {
		numbers = append(numbers, w.seq)
	}
	return numbers
}
