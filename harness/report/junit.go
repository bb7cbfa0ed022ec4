package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/seatrial/seatrial/harness/trial"
)

// WriteJUnit writes the report as one JUnit test suite with a test case for
// each check: a failure where it failed, an error where it is inconclusive,
// skipped, with the reason, where it was skipped or is not applicable.
func WriteJUnit(w io.Writer, r *Report) error {
	suite := junit.Testsuite{
		Name: printable(r.Subject.Name), Time: junitTime(r.Finished.Sub(r.Started)), File: printable(r.Subject.File),
	}
	suite.SetTimestamp(r.Started.UTC())
	suite.AddProperty("subject", printable(r.Subject.Name))
	suite.AddProperty("kubernetes", printable(r.Cluster.Version))
	suite.AddProperty("level", string(r.Cluster.Level))
	suite.AddProperty("catalogue", printable(r.CatalogueVersion))
	for _, result := range r.Results {
		suite.AddTestcase(testcase(r.Subject.Name, result))
	}
	if r.Partial {
		suite.SystemErr = &junit.Output{Data: printable("This report is partial: " + r.PartialReason)}
	}
	suites := junit.Testsuites{Name: "seatrial", Time: suite.Time}
	suites.AddSuite(suite)
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return fmt.Errorf("writing report as JUnit: %w", err)
	}
	if err := suites.WriteXML(w); err != nil {
		return fmt.Errorf("writing report as JUnit: %w", err)
	}
	return nil
}

func junitTime(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func testcase(subject string, r Result) junit.Testcase {
	tc := junit.Testcase{Name: r.Check.ID, Classname: printable(subject), Time: junitTime(r.Duration)}
	reason := printable(r.Reason)
	switch r.Verdict {
	case trial.Pass:
	case trial.Fail:
		message := reason
		if len(r.Findings) > 0 {
			message = printable(r.Findings[0].Summary)
		}
		tc.Failure = &junit.Result{Message: message, Type: string(r.Check.Strength), Data: failureText(r)}
	case trial.NotApplicable, trial.Skipped:
		tc.Skipped = &junit.Result{Message: string(r.Verdict) + ": " + reason}
	default:
		tc.Error = &junit.Result{Message: reason, Type: string(r.Verdict), Data: failureText(r)}
	}
	return tc
}

// failureText is what a reader of the JUnit file needs to know about a check
// that failed.
func failureText(r Result) string {
	lines := []string{printable(r.Check.Sentence)}
	for _, f := range r.Findings {
		lines = append(lines, "")
		lines = append(lines, f.lines()...)
	}
	return strings.Join(lines, "\n")
}

// lines describes the finding and all of its evidence.
func (f Finding) lines() []string {
	lines := []string{printable(f.Summary)}
	for _, fact := range f.facts() {
		lines = append(lines, fmt.Sprintf("  %-9s %s", fact.name, printable(fact.value)))
	}
	for _, e := range f.Timeline {
		lines = append(lines, "  "+e.line())
		for _, c := range e.Changes {
			lines = append(lines, "    "+c.line())
		}
		for _, l := range e.Lines {
			lines = append(lines, strings.TrimRight("    | "+printable(l), " "))
		}
	}
	if f.MoreTimeline > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more in the history", f.MoreTimeline))
	}
	return lines
}
