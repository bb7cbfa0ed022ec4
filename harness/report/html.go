package report

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/trial"
)

//go:embed page
var pageFiles embed.FS

// WriteHTML writes the report as one self-contained page: it loads nothing,
// works from a file, and without scripts too.
func WriteHTML(w io.Writer, r *Report) error {
	t, err := template.New("page.gohtml").Funcs(template.FuncMap{
		"seconds": seconds, "offset": offset, "plural": plural, "words": words,
		"join": func(list []string) string { return strings.Join(list, " ") },
	}).ParseFS(pageFiles, "page/*")
	if err != nil {
		return fmt.Errorf("reading the report's page: %w", err)
	}
	if err := t.Execute(w, newPage(r)); err != nil {
		return fmt.Errorf("writing report as HTML: %w", err)
	}
	return nil
}

// page is what the template shows, as it shows it.
type page struct {
	*Report
	Headline string
	// Worst is the verdict that the whole trial ended with.
	Worst trial.Verdict
	Tally []tally
	Bars  []bar
	// Moments are where the evidence lies on the axis, Ticks its labels.
	Moments []moment
	Ticks   []moment
	// Rows are the results, what needs attention first.
	Rows []row
}

// tally is how many checks got a verdict.
type tally struct {
	Verdict trial.Verdict
	Count   int
}

// bar is a phase on the time axis, in per cent of its length.
type bar struct {
	Phase
	Left, Width float64
}

// moment is a point on the time axis.
type moment struct {
	Left float64
	Name string
}

// row is a result as the page lists it.
type row struct {
	Result
	// Open shows the details from the start.
	Open bool
}

func newPage(r *Report) page {
	p := page{Report: r, Headline: headline(r), Worst: worst(r)}
	for _, v := range trial.Verdicts() {
		if n := r.Summary[v]; n > 0 {
			p.Tally = append(p.Tally, tally{v, n})
		}
	}
	axis := axisOf(r)
	for _, phase := range r.Phases {
		left := axis.place(phase.Started.Sub(r.Started))
		end := axis.place(phase.Started.Add(phase.Duration).Sub(r.Started))
		p.Bars = append(p.Bars, bar{Phase: phase, Left: left, Width: end - left})
	}
	p.Moments, p.Ticks = axis.moments(r), axis.ticks()
	for _, result := range r.Results {
		p.Rows = append(p.Rows, row{Result: result})
	}
	slices.SortStableFunc(p.Rows, func(a, b row) int {
		return cmp.Compare(slices.Index(trial.Verdicts(), a.Verdict), slices.Index(trial.Verdicts(), b.Verdict))
	})
	if len(p.Rows) > 0 && p.Rows[0].Verdict == trial.Fail {
		p.Rows[0].Open = true
	}
	return p
}

// axis is the time axis of a trial, from its start.
type axis time.Duration

func axisOf(r *Report) axis {
	length := r.Finished.Sub(r.Started)
	for _, phase := range r.Phases {
		length = max(length, phase.Started.Add(phase.Duration).Sub(r.Started))
	}
	return axis(max(length, time.Millisecond))
}

// place returns where on the axis a time is, in per cent.
func (a axis) place(d time.Duration) float64 {
	return min(100, max(0, 100*float64(d)/float64(a)))
}

// maxMoments is how many marks an axis has room for.
const maxMoments = 400

// moments are where the evidence of the findings lies.
func (a axis) moments(r *Report) []moment {
	var all []moment
	seen := map[int64]bool{}
	for _, result := range r.Results {
		for _, f := range result.Findings {
			for _, e := range f.Timeline {
				if seen[e.Seq] || e.Actor == ActorTrial || len(all) == maxMoments {
					continue
				}
				seen[e.Seq] = true
				all = append(all, moment{a.place(e.Offset), fmt.Sprintf("%s: %s", result.Check.ID, e.line())})
			}
		}
	}
	return all
}

// ticks are the labels of the axis: at most six, at round times.
func (a axis) ticks() []moment {
	steps := []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	}
	length := time.Duration(a)
	step := length
	for _, s := range steps {
		if length/s <= 5 {
			step = s
			break
		}
	}
	var all []moment
	for at := time.Duration(0); at <= length; at += step {
		name := at.String()
		if minutes, whole := strings.CutSuffix(name, "m0s"); whole {
			name = minutes + "m"
		}
		all = append(all, moment{a.place(at), name})
	}
	return all
}
