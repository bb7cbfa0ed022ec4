package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// What a report shows at most: entries of a finding, and of one entry.
const (
	maxTimeline = 50
	maxChanges  = 24
	maxLines    = 40
	maxSummary  = 600
)

// renderer puts history entries into short form.
type renderer struct {
	started time.Time
	entries map[int64]*history.Entry
	// versions are the versions of each object, by UID, in their order.
	versions map[string][]version
	// written is the first write that was answered with a version.
	written map[written]int64
}

// version is one version of an object that the direct watch saw.
type version struct {
	seen   time.Time
	change *history.Change
}

// written is a version that a write was answered with.
type written struct{ uid, resourceVersion string }

func newRenderer(h history.History, started time.Time) *renderer {
	r := &renderer{
		started: started, entries: map[int64]*history.Entry{},
		versions: map[string][]version{}, written: map[written]int64{},
	}
	for i := range h.Entries {
		e := &h.Entries[i]
		r.entries[e.Seq] = e
		switch {
		case e.Change != nil:
			r.versions[e.Change.UID] = append(r.versions[e.Change.UID], version{e.Time, e.Change})
		case e.Request != nil && changed(e.Request):
			key := written{e.Request.Response.UID, e.Request.Response.ResourceVersion}
			if _, ok := r.written[key]; !ok {
				r.written[key] = e.Seq
			}
		}
	}
	return r
}

// changed reports whether the request may have stored a version of an object.
func changed(r *history.Request) bool {
	return r.Verb.Mutates() && !r.DryRun && r.Response.OK() && r.Response.UID != ""
}

func (r *renderer) result(in trial.Result) Result {
	out := Result{Check: in.Check, Verdict: in.Verdict, Reason: in.Reason, Duration: in.Duration}
	for _, f := range in.Findings {
		shown := min(len(f.Evidence), maxTimeline)
		out.Findings = append(out.Findings, Finding{
			Finding: f, Timeline: r.timeline(f.Evidence[:shown]), MoreTimeline: len(f.Evidence) - shown,
		})
	}
	return out
}

// timeline renders the entries with those numbers; a number that the history
// lacks is left out.
func (r *renderer) timeline(seqs []int64) []Entry {
	var entries []Entry
	for _, seq := range seqs {
		if e, ok := r.entries[seq]; ok {
			entries = append(entries, r.entry(e))
		}
	}
	return entries
}

func (r *renderer) entry(e *history.Entry) Entry {
	out := Entry{Seq: e.Seq, Offset: e.Time.Sub(r.started)}
	switch {
	case e.Request != nil:
		r.request(&out, e)
	case e.Change != nil:
		r.change(&out, e.Change)
	case e.Process != nil:
		process(&out, e.Process)
	case e.Mark != nil:
		mark(&out, e.Mark)
	}
	out.Summary = cut(out.Summary, maxSummary)
	return out
}

func (r *renderer) request(out *Entry, e *history.Entry) {
	request := e.Request
	out.Actor, out.Verb, out.Object = ActorOperator, string(request.Verb), request.Ref()
	out.Subresource, out.Code = request.Subresource, request.Response.Code
	if request.Verb == history.VerbOther {
		out.Verb, out.Object.Name = request.Method, request.Path
	}
	var says []string
	if how := manner(request); how != "" {
		says = append(says, how)
	}
	if outcome := r.outcome(out, e); outcome != "" {
		says = append(says, outcome)
	}
	for _, warning := range request.Response.Warnings {
		says = append(says, "warning: "+warning)
	}
	out.Summary = strings.Join(says, "; ")
}

// manner says how a write was made.
func manner(r *history.Request) string {
	if !r.Verb.Mutates() {
		return ""
	}
	how := map[string]string{
		"application/apply-patch+yaml":           "server-side apply",
		"application/apply-patch+cbor":           "server-side apply",
		"application/merge-patch+json":           "merge patch",
		"application/json-patch+json":            "JSON patch",
		"application/strategic-merge-patch+json": "strategic merge patch",
	}[r.ContentType]
	if how != "" && r.FieldManager != "" {
		how += " as " + r.FieldManager
	}
	if r.DryRun {
		how = strings.TrimSpace("dry run " + how)
	}
	return how
}

// outcome says what came of a request, and for a write what it changed.
func (r *renderer) outcome(out *Entry, e *history.Entry) string {
	response := e.Request.Response
	switch verb := e.Request.Verb; {
	case response.Code == 0:
		return "no answer: " + response.Error
	case !response.OK():
		return statusMessage(response)
	case verb == history.VerbList:
		return fmt.Sprintf("%d items", response.Items)
	case verb == history.VerbWatch:
		return fmt.Sprintf("%d events", response.Events)
	case !changed(e.Request):
		return ""
	case verb == history.VerbCreate:
		return "created"
	}
	before, after, noop := r.around(e)
	switch {
	case noop:
		return "changed nothing: resourceVersion stays " + response.ResourceVersion
	case before == nil:
		return "the version before it was not seen"
	}
	return compare(out, before.Object, after)
}

// statusMessage returns what a failure's Status says.
func statusMessage(response history.Response) string {
	var status struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(response.Object, &status); err == nil && status.Message != "" {
		return status.Message
	}
	return response.Error
}

// around returns the version before a write and the one it was answered with,
// or that it stored none because the object was like that before. The direct
// watch may have seen the new version before or after the answer ended.
func (r *renderer) around(e *history.Entry) (before *history.Change, after json.RawMessage, noop bool) {
	response := e.Request.Response
	if first := r.written[written{response.UID, response.ResourceVersion}]; first < e.Seq {
		return nil, nil, true
	}
	after = response.Object
	for _, v := range r.versions[response.UID] {
		if v.change.ResourceVersion == response.ResourceVersion {
			return before, v.change.Object, v.seen.Before(e.Request.Start)
		}
		if v.seen.Before(e.Time) {
			before = v.change
		}
	}
	return before, after, false
}

func (r *renderer) change(out *Entry, c *history.Change) {
	out.Actor, out.Verb, out.Object = ActorWatch, strings.ToLower(string(c.Type)), c.Ref()
	switch before := r.previous(c); {
	case c.Type == history.Deleted:
		out.Summary = "gone"
	case c.Existing:
		out.Summary = "was there when the watch began"
	case c.Type == history.Added && before == nil:
		out.Summary = "created"
	case before == nil:
		out.Summary = "the version before it was not seen"
	default:
		out.Summary = compare(out, before.Object, c.Object)
	}
}

// previous returns the version of the object before c, nil if none was seen.
func (r *renderer) previous(c *history.Change) *history.Change {
	var before *history.Change
	for _, v := range r.versions[c.UID] {
		if v.change.ResourceVersion == c.ResourceVersion {
			break
		}
		before = v.change
	}
	return before
}

// compare puts into out what differs between two versions of an object, and
// returns it in a few words.
func compare(out *Entry, before, after json.RawMessage) string {
	changes, err := diff(before, after)
	if err != nil {
		return err.Error()
	}
	out.Changes = changes
	if len(changes) > maxChanges {
		out.Changes, out.MoreChanges = changes[:maxChanges], len(changes)-maxChanges
	}
	if len(changes) == 0 {
		return "nothing but resourceVersion and managedFields changed"
	}
	return "changed " + strings.Join(parts(changes), ", ")
}

// parts returns the parts of the object that changed: metadata, spec, status.
func parts(changes []PathChange) []string {
	var names []string
	for _, c := range changes {
		name := strings.TrimPrefix(c.Path, ".")
		if end := strings.IndexAny(name, ".["); end > 0 {
			name = name[:end]
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func process(out *Entry, p *history.Process) {
	out.Actor, out.Verb, out.Lines = ActorProcess, string(p.Event), p.Lines
	switch {
	case p.Event == history.ProcessStarted:
		out.Summary = fmt.Sprintf("process %d", p.PID)
	case p.Event == history.ProcessExited && p.Signal != "":
		out.Summary = "ended by signal " + p.Signal
	case p.Event == history.ProcessExited:
		out.Summary = fmt.Sprintf("exit code %d", p.ExitCode)
	}
	if p.Asked {
		out.Summary += ", as the trial asked"
	}
	if len(p.Lines) <= maxLines {
		return
	}
	if p.Event == history.ProcessExited {
		out.Lines = p.Lines[len(p.Lines)-maxLines:]
		return
	}
	// A panic says what it is in its first lines.
	out.Lines = p.Lines[:maxLines]
}

func mark(out *Entry, m *history.Mark) {
	out.Actor, out.Verb, out.Summary = ActorTrial, string(m.Name), m.Detail
	if len(m.Objects) == 1 {
		out.Object = m.Objects[0]
		return
	}
	names := make([]string, 0, len(m.Objects))
	for _, o := range m.Objects {
		names = append(names, o.String())
	}
	if len(names) > 0 {
		out.Summary = strings.TrimPrefix(out.Summary+": "+strings.Join(names, ", "), ": ")
	}
}
