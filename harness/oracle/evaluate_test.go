package oracle_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

// invariant returns a check whose judge says what it is told to say.
func invariant(findings []trial.Finding, err error) oracle.Invariant {
	return oracle.Invariant{
		Check: trial.Check{ID: "demo", Level: trial.LevelAPIServer},
		Judge: func(history.History, trial.CheckOptions) ([]trial.Finding, error) { return findings, err },
	}
}

func TestEvaluateGivesEveryCheckAVerdict(t *testing.T) {
	broken := []trial.Finding{{Summary: "broken"}}
	panics := invariant(nil, nil)
	panics.Judge = func(history.History, trial.CheckOptions) ([]trial.Finding, error) { panic("boom") }
	needs := func(level trial.Level, features ...trial.Feature) oracle.Invariant {
		i := invariant(broken, nil)
		i.Level, i.Features = level, features
		return i
	}
	apiserver := history.History{Header: history.Header{Level: trial.LevelAPIServer}}
	tests := map[string]struct {
		in     oracle.Evaluation
		want   trial.Verdict
		reason string
	}{
		"a judge that finds nothing":    {oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(nil, nil)}}, trial.Pass, ""},
		"a judge that finds something":  {oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(broken, nil)}}, trial.Fail, ""},
		"a judge that cannot tell":      {oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(nil, errors.New("cut short"))}}, trial.Inconclusive, "cut short"},
		"findings count, whatever else": {oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(broken, errors.New("cut short"))}}, trial.Fail, ""},
		"a judge that panics": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{panics}},
			trial.Inconclusive, "the judge panicked, which is a defect of Seatrial: boom",
		},
		"a check that the subject file skips": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(broken, nil)}, Checks: []trial.CheckOptions{{ID: "demo", Skip: true, Reason: "see issue 12"}}},
			trial.Skipped, "see issue 12",
		},
		"a check that was not asked for": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(broken, nil)}, Only: []string{"other"}},
			trial.Skipped, "it was not asked for",
		},
		"a check that was asked for": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{invariant(nil, nil)}, Only: []string{"demo"}},
			trial.Pass, "",
		},
		"a level that the cluster lacks": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{needs(trial.LevelKind)}, History: apiserver},
			trial.NotApplicable, "it needs a cluster of level kind; this one is apiserver",
		},
		"a level that nobody noted": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{needs(trial.LevelControlPlane)}},
			trial.NotApplicable, "it needs a cluster of level controlplane; this one is apiserver",
		},
		"a feature that the subject lacks": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{needs(trial.LevelAPIServer, trial.FeatureConditions)}, Features: []trial.Feature{trial.FeatureStatus}},
			trial.NotApplicable, "no CRD of the subject has status.conditions",
		},
		"a feature that the subject has": {
			oracle.Evaluation{Catalogue: []oracle.Invariant{needs(trial.LevelAPIServer, trial.FeatureSamples)}, Features: []trial.Feature{trial.FeatureSamples}},
			trial.Fail, "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			results := oracle.Evaluate(tc.in)
			if len(results) != 1 {
				t.Fatalf("got %d results, want one for the one check", len(results))
			}
			if got := results[0]; got.Verdict != tc.want || got.Reason != tc.reason {
				t.Errorf("got %s (%q), want %s (%q)", got.Verdict, got.Reason, tc.want, tc.reason)
			}
		})
	}
}

func TestEvaluatePassesOptionsAndTimesTheJudge(t *testing.T) {
	i := invariant(nil, nil)
	var got trial.CheckOptions
	i.Judge = func(_ history.History, o trial.CheckOptions) ([]trial.Finding, error) {
		got = o
		return nil, nil
	}
	now := time.Unix(0, 0)
	want := trial.CheckOptions{ID: "demo", Ignore: []string{"secrets"}, Reason: "x"}
	results := oracle.Evaluate(oracle.Evaluation{
		Catalogue: []oracle.Invariant{i}, Checks: []trial.CheckOptions{want},
		Now: func() time.Time { now = now.Add(time.Second); return now },
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if results[0].Duration != time.Second {
		t.Errorf("got duration %v, want the second that passed", results[0].Duration)
	}
}

func TestEvaluateSortsFindings(t *testing.T) {
	a, b := trial.ObjectRef{Kind: "A"}, trial.ObjectRef{Kind: "B"}
	results := oracle.Evaluate(oracle.Evaluation{Catalogue: []oracle.Invariant{invariant([]trial.Finding{
		{Summary: "2", Object: b}, {Summary: "1", Object: b}, {Summary: "9", Object: a},
	}, nil)}})
	want := []trial.Finding{{Summary: "9", Object: a}, {Summary: "1", Object: b}, {Summary: "2", Object: b}}
	if diff := cmp.Diff(want, results[0].Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
