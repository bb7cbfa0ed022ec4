package oracle_test

import (
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

// reporting tells a whole trial in which the operator writes these lists of
// conditions, three seconds after each other.
func reporting(lists ...[]any) func(s *historytest.Story) {
	return working(func(s *historytest.Story, w, _ historytest.Object) {
		for _, conditions := range lists {
			s.After(3 * time.Second)
			w = s.Puts(w.With("status.conditions", conditions), historytest.Status)
		}
	})
}

func TestConditionsWellFormed(t *testing.T) {
	ready := func(status, since string) map[string]any {
		return historytest.Condition("Ready", status, "AllGood", since)
	}
	without := func(field string, value any) map[string]any {
		c := ready("True", clock(1))
		c[field] = value
		return c
	}
	judge(t, oracle.ConditionsWellFormed, map[string]judged{
		"a condition that turns": {
			tell: reporting([]any{ready("False", clock(3))}, []any{ready("False", clock(3))}, []any{ready("True", clock(9))}),
		},
		"no conditions": {tell: reporting()},
		"a new reason with the old time": {
			tell: reporting([]any{ready("False", clock(3))}, []any{historytest.Condition("Ready", "False", "StillWaiting", clock(3))}),
		},
		"two conditions of one type": {
			tell: reporting([]any{ready("False", clock(3)), ready("True", clock(6))}),
			want: []string{`widgets.fixtures.example.com trial/w: there are several conditions of type Ready`},
			hint: "instead of adding", paths: ".status.conditions",
		},
		"a second condition of a type with a new time": {
			tell: reporting([]any{ready("False", clock(3))}, []any{ready("False", clock(3)), ready("False", clock(6))}, []any{ready("False", clock(6))}),
			want: []string{`widgets.fixtures.example.com trial/w: there are several conditions of type Ready`},
		},
		"a condition that is appended each time": {
			tell: reporting([]any{ready("False", clock(3))}, []any{ready("False", clock(3)), ready("True", clock(6))},
				[]any{ready("False", clock(3)), ready("True", clock(6)), ready("False", clock(9))}),
			want: []string{`widgets.fixtures.example.com trial/w: there are several conditions of type Ready`},
		},
		"two types, each of them twice, are one finding": {
			tell: reporting([]any{
				ready("False", clock(3)), historytest.Condition("Synced", "True", "Ok", clock(3)),
				ready("True", clock(6)), historytest.Condition("Synced", "False", "Ok", clock(6)),
			}),
			want: []string{`widgets.fixtures.example.com trial/w: there are several conditions of type Ready, Synced`},
		},
		"a status that is none": {
			tell: reporting([]any{ready("true", clock(3))}),
			want: []string{`widgets.fixtures.example.com trial/w: condition Ready has the status "true"`},
		},
		"a status that is a boolean": {
			tell: reporting([]any{without("status", true)}),
			want: []string{`widgets.fixtures.example.com trial/w: condition Ready has the status ""`},
		},
		"no reason": {
			tell:  reporting([]any{without("reason", "")}),
			want:  []string{"widgets.fixtures.example.com trial/w: condition Ready has no reason"},
			paths: ".status.conditions[type=Ready].reason",
		},
		"a reason in prose": {
			tell: reporting([]any{without("reason", "waiting for pods")}),
			want: []string{`widgets.fixtures.example.com trial/w: condition Ready has the reason "waiting for pods", which is not one word in CamelCase`},
		},
		"a reason in snake_case": {
			tell: reporting([]any{without("reason", "pods_pending")}),
			want: []string{`widgets.fixtures.example.com trial/w: condition Ready has the reason "pods_pending", which is not one word in CamelCase`},
		},
		"no type": {
			tell: reporting([]any{without("type", "")}),
			want: []string{"widgets.fixtures.example.com trial/w: a condition has no type"},
		},
		"no lastTransitionTime": {
			tell: reporting([]any{without("lastTransitionTime", nil)}),
			want: []string{`widgets.fixtures.example.com trial/w: condition Ready has the lastTransitionTime ""`},
		},
		"the zero time": {
			tell: reporting([]any{without("lastTransitionTime", "0001-01-01T00:00:00Z")}),
			want: []string{`widgets.fixtures.example.com trial/w: condition Ready has the lastTransitionTime "0001-01-01T00:00:00Z"`},
		},
		"a time that moves without a transition": {
			tell: reporting([]any{ready("True", clock(3))}, []any{ready("True", clock(6))}),
			want: []string{"widgets.fixtures.example.com trial/w: condition Ready has a new lastTransitionTime though its status is still True"},
		},
		"a time that stays in spite of a transition": {
			tell: reporting([]any{ready("False", clock(3))}, []any{ready("True", clock(3))}),
			want: []string{"widgets.fixtures.example.com trial/w: condition Ready turned from False to True with the lastTransitionTime that it had (2026-03-01T12:00:03Z)"},
		},
		"two transitions within a second": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Puts(w.With("status.conditions", []any{ready("False", clock(0))}), historytest.Status)
				s.Puts(w.With("status.conditions", []any{ready("True", clock(0))}), historytest.Status)
			}),
		},
		"a condition that goes and comes back": {
			tell: reporting([]any{ready("True", clock(3))}, []any{}, []any{ready("True", clock(9))}),
		},
		"the same name with a new object": {
			tell: working(func(s *historytest.Story, _, _ historytest.Object) {
				s.OthersDelete(s.Others(historytest.Widget("v").With("status.conditions", []any{ready("True", clock(1))})))
				s.Others(historytest.Widget("v").With("status.conditions", []any{ready("True", clock(5))}))
			}),
		},
		"versions that the watch shows late": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Puts(w.With("status.conditions", []any{ready("False", clock(0))}), historytest.Status, historytest.Late(9*time.Second))
				w = s.Puts(w.With("status.conditions", []any{ready("True", clock(0))}), historytest.Status, historytest.Late(time.Second))
				s.Puts(w.With("status.phase", "Ready"), historytest.Status)
				s.After(9 * time.Second)
			}),
		},
		"a transition that somebody else reported": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Others(w.With("status.conditions", []any{ready("False", clock(0))}))
				s.After(5 * time.Second).Others(w.With("status.conditions", []any{ready("True", clock(0))}))
			}),
		},
		"a resource without conditions in its schema": {
			tell: func(s *historytest.Story) {
				s.Header.Primary[0].Features = nil
				reporting([]any{without("reason", "")})(s)
			},
		},
		"a resource that the subject file leaves out": {
			tell:    reporting([]any{without("reason", "")}),
			options: trial.CheckOptions{Ignore: []string{"widgets.fixtures.example.com"}},
		},
		"a trial that ended early": {
			tell:    func(s *historytest.Story) { s.Starts().Mark(history.MarkStopped) },
			unclear: "before the operator had been watched at rest",
		},
	})
}
