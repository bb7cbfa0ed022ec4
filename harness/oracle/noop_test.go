package oracle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

// working tells a whole trial in which work happens while the samples
// converge, and nothing later.
func working(work func(s *historytest.Story, w, config historytest.Object)) func(s *historytest.Story) {
	return func(s *historytest.Story) {
		s.Starts()
		w := s.Others(historytest.Widget("w"))
		s.Mark(history.MarkApplied, w)
		work(s, w, s.Creates(historytest.ConfigMap("c")))
		s.Rests(nil).Ends(nil, w)
	}
}

func TestNoOpWrites(t *testing.T) {
	judge(t, oracle.NoOpWrites, map[string]judged{
		"an operator that writes only what differs": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				s.Puts(w.With("status.phase", "Ready"), historytest.Status)
			}),
		},
		"an update every two seconds at rest": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				every(2*time.Second, s, 4, func(int) { s.Puts(c) })
			}),
			want: []string{"configmaps trial/c was written 4 times within 10s at rest without a change, by PUT"},
			hint: "write only when they differ",
		},
		"an update that leaves out what the API server fills in": {
			tell: resting(func(s *historytest.Story, _, _, d historytest.Object) {
				d = s.Others(d.With("spec.strategy", "RollingUpdate"))
				every(2*time.Second, s, 3, func(int) {
					s.Puts(d, historytest.Body(d.With("spec.strategy", nil).With("metadata.uid", nil).Content))
				})
			}),
			want: []string{"deployments.apps trial/d was written 3 times within 10s at rest without a change, by PUT"},
			hint: ".spec.strategy",
		},
		"a server-side apply every two seconds at rest": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				every(2*time.Second, s, 4, func(int) { s.Applies(c) })
			}),
			want: []string{"configmaps trial/c was written 4 times within 10s at rest without a change, by server-side apply"},
			hint: "managedFields",
		},
		"a status every second at rest": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				every(time.Second, s, 4, func(int) { s.Puts(w, historytest.Status) })
			}),
			want: []string{"widgets.fixtures.example.com trial/w was written 4 times within 10s at rest without a change, by PUT of its status"},
			hint: "compare the new status with the old one",
		},
		"twice at rest is no rhythm": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) { s.Puts(c); s.Puts(c) }),
		},
		"once in ten seconds at rest": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w, c := s.Others(historytest.Widget("w")), s.Creates(historytest.ConfigMap("c"))
				s.Mark(history.MarkApplied, w).Mark(history.MarkConverged)
				every(9980*time.Millisecond, s, 4, func(int) { s.Puts(c) })
				s.Mark(history.MarkObserved).Ends(nil, w)
			},
		},
		"Events, leases, dry runs, failures and repeated deletions": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				lease := s.Creates(historytest.New("coordination.k8s.io", "v1", "leases", "Lease", "trial", "l"))
				doomed := s.Creates(historytest.ConfigMap("doomed").With("metadata.finalizers", []any{"x"}))
				every(time.Second, s, 8, func(int) {
					s.Puts(lease)
					s.Puts(c, historytest.DryRun)
					s.Fails(history.VerbUpdate, c, 409, "conflict")
					doomed = s.Terminates(doomed.With("metadata.deletionTimestamp", "x"))
				})
			}),
		},
		"changes and echoes at a time": {
			tell: working(func(s *historytest.Story, _, c historytest.Object) {
				every(time.Millisecond, s, 20, func(i int) {
					c = s.Puts(c.With("data.key", clock(i)), historytest.Took(50*time.Millisecond), historytest.Late(300*time.Millisecond))
				})
			}),
		},
		"most writes of an object": {
			tell: working(func(s *historytest.Story, _, c historytest.Object) {
				every(time.Millisecond, s, 11, func(int) { s.Puts(c) })
			}),
			want: []string{"11 of 11 writes of configmaps trial/c by PUT changed nothing"},
		},
		"most writes of an object, by merge patch": {
			tell: working(func(s *historytest.Story, _, c historytest.Object) {
				every(time.Millisecond, s, 11, func(int) { s.Patches(c) })
			}),
			want: []string{"11 of 11 writes of configmaps trial/c by PATCH changed nothing"},
		},
		"most writes of an object, by server-side apply": {
			tell: working(func(s *historytest.Story, _, c historytest.Object) {
				every(time.Millisecond, s, 30, func(int) { s.Applies(c) })
			}),
		},
		"most writes of a trial, few to any object": {
			tell: working(func(s *historytest.Story, _, _ historytest.Object) {
				for i := range 4 {
					c := s.Creates(historytest.ConfigMap(fmt.Sprint("c", i)))
					every(time.Millisecond, s, 3, func(int) { s.Puts(c) })
				}
			}),
			want: []string{"12 of 17 writes (70%) changed nothing; most of them, 3, are of configmaps trial/c0, by PUT"},
		},
		"a status that is written each time that it is looked at, and often says something new": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				every(time.Millisecond, s, 4, func(i int) {
					w = s.Puts(w.With("status.phase", clock(i)), historytest.Status)
					s.Puts(w, historytest.Status)
				})
				s.Puts(w, historytest.Status)
			}),
		},
		"a status that hardly ever says something new": {
			tell: working(func(s *historytest.Story, w, _ historytest.Object) {
				w = s.Puts(w.With("status.phase", "Ready"), historytest.Status)
				every(time.Millisecond, s, 5, func(int) { s.Puts(w, historytest.Status) })
			}),
			want: []string{"5 of 6 writes of widgets.fixtures.example.com trial/w by PUT of its status changed nothing"},
		},
		"half of all writes": {
			tell: working(func(s *historytest.Story, _, c historytest.Object) {
				every(time.Millisecond, s, 12, func(i int) { c = s.Puts(s.Puts(c.With("data.key", clock(i)))) })
			}),
		},
		"few writes": {
			tell: working(func(s *historytest.Story, _, c historytest.Object) {
				every(time.Millisecond, s, 4, func(int) { s.Puts(c) })
			}),
		},
		"a resource that the subject file leaves out": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				every(time.Second, s, 5, func(int) { s.Puts(c) })
			}),
			options: trial.CheckOptions{Ignore: []string{"configmaps"}},
		},
		"the same on two objects is one finding": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				other := s.Creates(historytest.ConfigMap("b"))
				every(time.Second, s, 5, func(int) { s.Puts(other); s.Puts(c) })
			}),
			want: []string{"configmaps trial/b was written 5 times within 10s at rest without a change, by PUT (the same on configmaps trial/c)"},
		},
		"samples that never got ready, with few writes": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w"))
				s.Mark(history.MarkApplied, w).Mark(history.MarkUnsettled, w).Mark(history.MarkObserved).Ends(nil, w)
			},
			unclear: "the samples did not get ready",
		},
		"samples that never got ready, with many writes": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w, c := s.Others(historytest.Widget("w")), s.Creates(historytest.ConfigMap("c"))
				every(time.Second, s, 11, func(int) { s.Puts(c) })
				s.Mark(history.MarkUnsettled, w)
			},
			want: []string{"11 of 11 writes of configmaps trial/c by PUT changed nothing"},
		},
		"a trial that ended early": {
			tell:    func(s *historytest.Story) { s.Starts() },
			unclear: "before the samples had converged",
		},
	})
}
