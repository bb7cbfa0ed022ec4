package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// Evaluation is what Evaluate needs.
type Evaluation struct {
	// Catalogue are the checks; each of them gets a result, in this order.
	Catalogue []Invariant
	// History is what was seen; its header says at which level.
	History history.History
	// Features are what the subject has.
	Features []trial.Feature
	// Checks are the subject's options; checks that are not named have none.
	Checks []trial.CheckOptions
	// Only names the checks that were asked for. Empty: all.
	Only []string
	// Now is the clock that times the judges. Nil: they are not timed.
	Now func() time.Time
}

// Evaluate judges a history by every check of a catalogue. Equal inputs give
// equal results, durations apart.
func Evaluate(e Evaluation) []trial.Result {
	results := make([]trial.Result, 0, len(e.Catalogue))
	for _, invariant := range e.Catalogue {
		results = append(results, e.result(invariant))
	}
	return results
}

func (e Evaluation) result(invariant Invariant) trial.Result {
	result := trial.Result{Check: invariant.Check}
	if result.Verdict, result.Reason = e.leftOut(invariant.Check); result.Verdict != "" {
		return result
	}
	now := e.Now
	if now == nil {
		now = func() time.Time { return time.Time{} }
	}
	start := now()
	findings, err := judge(invariant, e.History, e.options(invariant.ID))
	result.Duration = now().Sub(start)
	switch {
	case len(findings) > 0:
		slices.SortStableFunc(findings, byObject)
		result.Verdict, result.Findings = trial.Fail, findings
	case err != nil:
		result.Verdict, result.Reason = trial.Inconclusive, err.Error()
	default:
		result.Verdict = trial.Pass
	}
	return result
}

// leftOut returns the verdict of a check that is not judged, with its reason.
func (e Evaluation) leftOut(c trial.Check) (verdict trial.Verdict, reason string) {
	if len(e.Only) > 0 && !slices.Contains(e.Only, c.ID) {
		return trial.Skipped, "it was not asked for"
	}
	if o := e.options(c.ID); o.Skip {
		return trial.Skipped, o.Reason
	}
	level := cmp.Or(e.History.Header.Level, trial.LevelAPIServer)
	if !level.Provides(c.Level) {
		return trial.NotApplicable, fmt.Sprintf("it needs a cluster of level %s; this one is %s", c.Level, level)
	}
	for _, f := range c.Features {
		if !slices.Contains(e.Features, f) {
			return trial.NotApplicable, lacks(f)
		}
	}
	return "", ""
}

func lacks(f trial.Feature) string {
	switch f {
	case trial.FeatureStatus:
		return "no CRD of the subject has a status subresource"
	case trial.FeatureObservedGeneration:
		return "no CRD of the subject has status.observedGeneration"
	case trial.FeatureConditions:
		return "no CRD of the subject has status.conditions"
	case trial.FeatureSamples:
		return "the subject names no samples"
	default:
		return fmt.Sprintf("the subject lacks the feature %s", f)
	}
}

func (e Evaluation) options(id string) trial.CheckOptions {
	for _, o := range e.Checks {
		if o.ID == id {
			return o
		}
	}
	return trial.CheckOptions{ID: id}
}

// judge calls a judge. One that panics on a history proves nothing about the
// subject, and must not take the other verdicts with it.
func judge(invariant Invariant, h history.History, o trial.CheckOptions) (findings []trial.Finding, err error) {
	defer func() {
		if p := recover(); p != nil {
			findings, err = nil, fmt.Errorf("the judge panicked, which is a defect of Seatrial: %v", p)
		}
	}()
	return invariant.Judge(h, o)
}

func byObject(a, b trial.Finding) int {
	return cmp.Or(
		strings.Compare(a.Object.String(), b.Object.String()),
		strings.Compare(a.Summary, b.Summary),
		slices.Compare(a.Evidence, b.Evidence),
	)
}
