package oracle_test

import (
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

func TestObservedGeneration(t *testing.T) {
	judge(t, oracle.ObservedGeneration, map[string]judged{
		"a status for the current generation": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				s.Puts(w.With("status.observedGeneration", 1), historytest.Status)
			}),
		},
		"a status that catches up with a new spec": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Puts(w.With("status.observedGeneration", 1), historytest.Status)
				w = s.Others(w.With("spec.size", 2))
				s.Puts(w.With("status.observedGeneration", 2), historytest.Status)
			}),
		},
		"no observedGeneration": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				s.Puts(w.With("status.phase", "Ready"), historytest.Status)
			}),
			want:  []string{"widgets.fixtures.example.com trial/w is at generation 1, yet .status.observedGeneration is not set"},
			paths: ".status.observedGeneration",
		},
		"a status that did not catch up": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Puts(w.With("status.observedGeneration", 1), historytest.Status)
				s.Others(w.With("spec.size", 2))
			}),
			want: []string{"widgets.fixtures.example.com trial/w is at generation 2, yet .status.observedGeneration is still 1"},
		},
		"a status that was ahead for a moment": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Puts(w.With("status.observedGeneration", 2), historytest.Status)
				s.Puts(w.With("status.observedGeneration", 1), historytest.Status)
			}),
			want: []string{"widgets.fixtures.example.com trial/w has .status.observedGeneration 2 at generation 1, which is ahead of what there is to observe"},
		},
		"a condition that is ahead": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				ready := historytest.Condition("Ready", "True", "Ok", clock(0))
				ready["observedGeneration"] = 9
				s.Puts(w.With("status.observedGeneration", 1).With("status.conditions", []any{ready}), historytest.Status)
			}),
			want: []string{
				"widgets.fixtures.example.com trial/w has .status.conditions[type=Ready].observedGeneration 9 at generation 1, which is ahead of what there is to observe",
			},
		},
		"a condition that did not catch up, beside one that says nothing": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				ready := historytest.Condition("Ready", "True", "Ok", clock(0))
				ready["observedGeneration"] = 1
				w = s.Others(w.With("spec.size", 2))
				s.Puts(w.With("status.observedGeneration", 2).
					With("status.conditions", []any{ready, historytest.Condition("Synced", "True", "Ok", clock(0))}), historytest.Status)
			}),
			want: []string{"widgets.fixtures.example.com trial/w is at generation 2, yet .status.conditions[type=Ready].observedGeneration is still 1"},
		},
		"two objects with one defect are one finding": {
			tell: working(func(s *historytest.Story, _, _ historytest.Object) { s.Others(historytest.Widget("v")) }),
			want: []string{
				"widgets.fixtures.example.com trial/v is at generation 1, yet .status.observedGeneration is not set (the same on widgets.fixtures.example.com trial/w)",
			},
		},
		"an object that was recreated under its name": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				old := s.Others(historytest.Widget("v").With("status.observedGeneration", 1))
				old = s.Others(old.With("spec.size", 7))
				s.OthersDelete(old)
				s.Others(historytest.Widget("v").With("status.observedGeneration", 1))
				s.Puts(w.With("status.observedGeneration", 1), historytest.Status)
			}),
		},
		"a deletion bumps the generation": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w").With("status.observedGeneration", 1))
				s.Rests(nil).Ends(func() {
					s.Others(w.With("metadata.deletionTimestamp", clock(9)).With("spec.size", 2))
				}, w)
			},
		},
		"an object that is being deleted while the others rest": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				s.Puts(w.With("status.observedGeneration", 1), historytest.Status)
				s.Others(historytest.Widget("v").With("metadata.deletionTimestamp", clock(9)))
			}),
		},
		"a version that the watch shows after the rest": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w").With("status.observedGeneration", 1))
				s.Rests(nil).OthersLate(w.With("spec.size", 2), time.Second)
				s.After(2*time.Second).Ends(nil, w)
			},
		},
		"a resource whose generation counts statuses too": {
			tell: func(s *historytest.Story) {
				s.Header.Primary[0].Features = []trial.Feature{trial.FeatureObservedGeneration}
				working(func(*historytest.Story, historytest.Object, historytest.Object) {})(s)
			},
			unclear: "no custom resource with status.observedGeneration",
		},
		"a resource that the subject file leaves out": {
			tell:    working(func(*historytest.Story, historytest.Object, historytest.Object) {}),
			options: trial.CheckOptions{Ignore: []string{"widgets.fixtures.example.com"}},
			unclear: "no custom resource with status.observedGeneration",
		},
		"samples that never got ready": {
			tell: func(s *historytest.Story) {
				w := s.Starts().Others(historytest.Widget("w"))
				s.Mark(history.MarkUnsettled, w).Mark(history.MarkObserved)
			},
			unclear: "the samples did not get ready",
		},
		"a trial that ended early, with a status that was ahead": {
			tell: func(s *historytest.Story) {
				s.Starts().Others(historytest.Widget("w").With("status.observedGeneration", 5))
			},
			want: []string{"widgets.fixtures.example.com trial/w has .status.observedGeneration 5 at generation 1, which is ahead of what there is to observe"},
		},
		"a trial that ended early": {
			tell:    func(s *historytest.Story) { s.Starts().Others(historytest.Widget("w")) },
			unclear: "before the samples had converged",
		},
	})
}
