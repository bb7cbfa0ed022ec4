package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/seatrial/seatrial/harness/trial"
)

// What a summary for a terminal shows at most; the other forms have it all.
const (
	textFindings = 5
	textEntries  = 4
	textChanges  = 3
	textInferred = 3
	textLines    = 6
	textLine     = 160
)

// TextOptions say how WriteText writes.
type TextOptions struct {
	// Colour uses the terminal's colours; default none.
	Colour bool
	// Dir is where the other forms of the report were written; empty if they
	// were not.
	Dir string
}

// WriteText writes a summary for a terminal: a line for each check, what broke
// the failing ones, the counts, and where to read on.
func WriteText(w io.Writer, r *Report, options TextOptions) error {
	t := text{colour: options.Colour}
	t.head(r)
	width := 0
	for _, result := range r.Results {
		width = max(width, len(result.Check.ID))
	}
	for _, result := range r.Results {
		t.result(result, width)
	}
	t.tail(r, options.Dir)
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return fmt.Errorf("writing report as text: %w", err)
	}
	return nil
}

// text is a summary in the making.
type text struct {
	out    bytes.Buffer
	colour bool
}

// The colours of a terminal that a summary uses.
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	green  = "32"
	yellow = "33"
)

func (t *text) paint(style, s string) string {
	if !t.colour {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

func verdictStyle(v trial.Verdict) string {
	switch v {
	case trial.Pass:
		return green
	case trial.Fail:
		return red
	case trial.Inconclusive:
		return yellow
	default:
		return dim
	}
}

func (t *text) linef(format string, args ...any) { fmt.Fprintf(&t.out, format+"\n", args...) }

func (t *text) head(r *Report) {
	title := "Trial of " + r.Subject.Name
	if r.Subject.File != "" {
		title += " (" + r.Subject.File + ")"
	}
	t.linef("%s", t.paint(bold, printable(title)))
	facts := []string{}
	if r.Cluster.Level != "" {
		facts = append(facts, "level "+string(r.Cluster.Level))
	}
	if r.Cluster.Version != "" {
		facts = append(facts, "Kubernetes "+r.Cluster.Version)
	}
	facts = append(facts, seconds(r.Finished.Sub(r.Started)),
		plural(r.History.Requests, "request"), plural(r.History.Writes, "write"), plural(r.History.Changes, "object version"))
	t.linef("%s\n", t.paint(dim, printable(strings.Join(facts, ", "))))
}

func (t *text) result(r Result, width int) {
	note := r.Reason
	if note == "" && len(r.Findings) > 0 {
		note = plural(len(r.Findings), "finding")
	}
	verdict := t.paint(verdictStyle(r.Verdict), fmt.Sprintf("%-14s", r.Verdict))
	t.linef("%s", strings.TrimRight(fmt.Sprintf("%s  %-*s  %s", verdict, width, r.Check.ID, printable(note)), " "))
	shown := shownOf(len(r.Findings), textFindings)
	for _, f := range r.Findings[:shown] {
		t.finding(f)
	}
	if more := len(r.Findings) - shown; more > 0 {
		t.linef("    %s", t.paint(dim, fmt.Sprintf("and %d more findings in the report", more)))
	}
	if len(r.Findings) > 0 {
		t.linef("")
	}
}

func (t *text) finding(f Finding) {
	t.linef("    %s", t.paint(bold, printable(f.Summary)))
	for _, fact := range f.facts() {
		t.linef("      %-9s %s", fact.name, printable(fact.value))
	}
	shown := shownOf(len(f.Timeline), textEntries)
	for _, e := range f.Timeline[:shown] {
		t.entry(e)
	}
	if more := len(f.Timeline) + f.MoreTimeline - shown; more > 0 {
		t.linef("      %s", t.paint(dim, fmt.Sprintf("and %d more", more)))
	}
}

// shownOf returns how many of n things to show where limit fit: one more
// rather than a line that says that there is one more.
func shownOf(n, limit int) int {
	if n <= limit+1 {
		return n
	}
	return limit
}

func (t *text) entry(e Entry) {
	t.linef("      %s", t.paint(dim, cut(e.line(), textLine)))
	shown := shownOf(len(e.Changes), textChanges)
	for _, c := range e.Changes[:shown] {
		t.linef("        %s", t.paint(dim, cut(c.line(), textLine)))
	}
	if more := len(e.Changes) + e.MoreChanges - shown; more > 0 {
		t.linef("        %s", t.paint(dim, "and "+plural(more, "path")+" more"))
	}
	for _, l := range e.Lines[:min(len(e.Lines), textLines)] {
		t.linef("        %s", t.paint(dim, strings.TrimRight("| "+cut(printable(l), textLine), " ")))
	}
}

func (t *text) tail(r *Report, dir string) {
	if !bytes.HasSuffix(t.out.Bytes(), []byte("\n\n")) {
		t.linef("")
	}
	if r.Partial {
		// Log lines of a program that failed may follow the first.
		reason, _, _ := strings.Cut(r.PartialReason, "\n")
		t.linef("%s", t.paint(yellow, printable("This report is partial: "+strings.TrimSuffix(reason, "; its last log lines:"))))
	}
	for _, warning := range r.Warnings {
		t.linef("%s %s", t.paint(yellow, "warning"), printable(warning))
	}
	shown := shownOf(len(r.Inferred), textInferred)
	for _, inferred := range r.Inferred[:shown] {
		t.linef("%s", t.paint(dim, "inferred: "+printable(inferred)))
	}
	if more := len(r.Inferred) - shown; more > 0 {
		t.linef("%s", t.paint(dim, fmt.Sprintf("inferred: %d more facts in the report", more)))
	}
	t.linef("%s", t.paint(verdictStyle(worst(r)), counts(r)))
	if dir != "" {
		t.linef("Read on in %s", filepath.Join(dir, "report.html"))
	}
}

// worst returns the verdict that decides how the whole trial ended.
func worst(r *Report) trial.Verdict {
	switch ExitCode(r) {
	case 0:
		return trial.Pass
	case 1:
		return trial.Fail
	default:
		return trial.Inconclusive
	}
}
