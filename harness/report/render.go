package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
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
	index   *version.Index
}

func newRenderer(h history.History, started time.Time) *renderer {
	r := &renderer{started: started, entries: map[int64]*history.Entry{}, index: version.NewIndex(h)}
	for i := range h.Entries {
		r.entries[h.Entries[i].Seq] = &h.Entries[i]
	}
	return r
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
	default:
		return r.effect(out, e)
	}
}

// effect says what came of a request that succeeded, and for a write what it
// changed.
func (r *renderer) effect(out *Entry, e *history.Entry) string {
	effect := r.index.Effect(e.Seq)
	if effect.Kind != version.None {
		out.Object = effect.Ref
	}
	switch effect.Kind {
	case version.Created, version.Deleted:
		return string(effect.Kind)
	case version.NoOp:
		return "changed nothing: resourceVersion stays " + e.Request.Response.ResourceVersion
	case version.Changed:
		return compare(out, effect.Before, effect.After)
	default:
		return ""
	}
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

func (r *renderer) change(out *Entry, c *history.Change) {
	out.Actor, out.Verb, out.Object = ActorWatch, strings.ToLower(string(c.Type)), c.Ref()
	before, after := r.index.Around(c.UID, c.ResourceVersion)
	switch {
	case c.Type == history.Deleted:
		out.Summary = "gone"
	case c.Existing:
		out.Summary = "was there when the watch began"
	case c.Type == history.Added && before == nil:
		out.Summary = "created"
	default:
		out.Summary = compare(out, before, after)
	}
}

// compare puts into out what differs between two versions of an object, and
// returns it in a few words.
func compare(out *Entry, before, after *version.Version) string {
	if before == nil || len(before.Raw) == 0 {
		return "the version before it was not seen"
	}
	if len(after.Raw) == 0 {
		return "the version after it was not seen"
	}
	changes := diff(before.Object(), after.Object())
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
	if p.Event == history.ProcessPanicked {
		out.Lines = unfold(p.Lines)
	}
	if len(out.Lines) <= maxLines {
		return
	}
	if p.Event == history.ProcessExited {
		out.Lines = out.Lines[len(out.Lines)-maxLines:]
		return
	}
	// A panic says what it is in its first lines.
	out.Lines = out.Lines[:maxLines]
}

// unfold gives a trace that was logged as one line, as structured logs have it,
// its own lines.
func unfold(lines []string) []string {
	var unfolded []string
	for _, line := range lines {
		if strings.Contains(line, `goroutine `) {
			line = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(line)
		}
		unfolded = append(unfolded, strings.Split(line, "\n")...)
	}
	return unfolded
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
