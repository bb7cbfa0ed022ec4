package oracle_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

// resting tells a whole trial of one Widget with a ConfigMap and a Deployment,
// in which rest happens while the operator should be at rest.
func resting(rest func(s *historytest.Story, w, config, deployment historytest.Object)) func(s *historytest.Story) {
	return func(s *historytest.Story) {
		s.Starts()
		w := s.Others(historytest.Widget("w"))
		s.Mark(history.MarkApplied, w).Watches(historytest.Deployment("d"))
		config, deployment := s.Creates(historytest.ConfigMap("c")), s.Creates(historytest.Deployment("d"))
		w = s.Puts(w.With("status.phase", "Ready"), historytest.Status)
		s.Rests(func() { rest(s, w, config, deployment) }).Ends(nil, w)
	}
}

func every(d time.Duration, s *historytest.Story, n int, do func(i int)) {
	for i := range n {
		s.After(d)
		do(i)
	}
}

func clock(i int) string { return fmt.Sprintf("2026-03-01T12:00:%02dZ", i) }

func TestQuiescent(t *testing.T) {
	managed := func(by string) []any {
		return []any{
			map[string]any{"manager": "demo", "time": clock(1)},
			map[string]any{"manager": by, "time": clock(2)},
		}
	}
	judge(t, oracle.Quiescent, map[string]judged{
		"an operator that rests": {tell: resting(func(*historytest.Story, historytest.Object, historytest.Object, historytest.Object) {})},
		"one that writes what is there already": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				every(time.Second, s, 5, func(int) { s.Puts(c); s.Applies(c) })
			}),
		},
		"one that reads and dry-runs": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				s.Gets(c)
				s.Puts(c.With("data.key", "x"), historytest.DryRun)
			}),
		},
		"Events and leases": {
			tell: resting(func(s *historytest.Story, _, _, _ historytest.Object) {
				s.Creates(historytest.New("events.k8s.io", "v1", "events", "Event", "trial", "e"))
				lease := s.Creates(historytest.New("coordination.k8s.io", "v1", "leases", "Lease", "trial", "l"))
				every(2*time.Second, s, 3, func(i int) { lease = s.Puts(lease.With("spec.renewTime", clock(i))) })
			}),
		},
		"a lock in an annotation": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				held := func(i int) map[string]any {
					return map[string]any{"control-plane.alpha.kubernetes.io/leader": clock(i)}
				}
				c = s.Others(c.With("metadata.annotations", held(0)))
				every(2*time.Second, s, 4, func(i int) { c = s.Puts(c.With("metadata.annotations", held(i+1))) })
			}),
		},
		"a timestamp in the status": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				every(2*time.Second, s, 4, func(i int) { w = s.Puts(w.With("status.lastSync", clock(i)), historytest.Status) })
			}),
			want: []string{"widgets.fixtures.example.com trial/w was changed 4 times within 10s at rest: only timestamps change (.status.lastSync)"},
		},
		"a timestamp as Go prints it": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				every(2*time.Second, s, 4, func(i int) {
					w = s.Puts(w.With("status.at", fmt.Sprintf("2026-12-01 14:16:2%d.727114565 +0000 UTC m=+15.4", i)), historytest.Status)
				})
			}),
			want: []string{"widgets.fixtures.example.com trial/w was changed 4 times within 10s at rest: only timestamps change (.status.at)"},
		},
		"a counter in the status": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				every(2*time.Second, s, 2, func(i int) { w = s.Puts(w.With("status.visits", i+1), historytest.Status) })
			}),
			want: []string{"widgets.fixtures.example.com trial/w was changed twice within 10s at rest: its status never stays as it is (.status.visits)"},
		},
		"one new timestamp is a heartbeat": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				s.Puts(w.With("status.lastSync", clock(1)), historytest.Status)
			}),
		},
		"a single change that nobody asked for": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) { s.Puts(c.With("data.key", "x")) }),
			want: []string{"configmaps trial/c was changed once within 10s at rest: it does not stay as it is (.data.key)"},
		},
		"two writers within the operator": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				every(time.Second, s, 4, func(i int) { c = s.Patches(c.With("data.key", []string{"a", "value"}[i%2])) })
			}),
			want: []string{"configmaps trial/c was changed 4 times within 10s at rest: values alternate (.data.key)"},
		},
		"a fight with another controller": {
			tell: resting(func(s *historytest.Story, _, _, d historytest.Object) {
				every(time.Second, s, 3, func(int) {
					d = s.Puts(d.With("spec.replicas", 3))
					d = s.Others(d.With("spec.replicas", 1).With("metadata.managedFields", managed("autoscaler")))
				})
			}),
			want: []string{"deployments.apps trial/d was changed 3 times within 10s at rest: somebody else puts back what each write changes: autoscaler (.spec.replicas)"},
		},
		"a field that others fill in, dropped each time": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				every(time.Second, s, 3, func(int) {
					c = s.Others(c.With("data.filled", "x"))
					c = s.Puts(c.With("data.filled", nil))
				})
			}),
			want: []string{"configmaps trial/c was changed 3 times within 10s at rest: it drops fields that somebody else fills in again (.data.filled)"},
		},
		"a list rendered from a map": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				c = s.Others(c.With("data.list", []any{"a", "b"}))
				every(time.Second, s, 3, func(i int) {
					c = s.Puts(c.With("data.list", [][]any{{"b", "a"}, {"a", "b"}}[i%2]))
				})
			}),
			want: []string{"configmaps trial/c was changed 3 times within 10s at rest: only the order of a list changes (.data.list)"},
		},
		"an object that is made and deleted again and again": {
			tell: resting(func(s *historytest.Story, _, _, _ historytest.Object) {
				every(time.Second, s, 3, func(int) { s.Deletes(s.Creates(historytest.ConfigMap("temporary"))) })
			}),
			want: []string{"configmaps trial/temporary was made or deleted 6 times within 10s at rest: it is made and deleted again and again"},
		},
		"objects with generated names": {
			tell: resting(func(s *historytest.Story, _, _, _ historytest.Object) {
				every(time.Second, s, 3, func(i int) {
					o := historytest.ConfigMap(fmt.Sprintf("job-%d", i))
					s.Creates(o, historytest.Generated, historytest.Body(o.With("metadata.name", nil).With("metadata.generateName", "job-").Content))
				})
			}),
			want: []string{"configmaps trial/job-* was made or deleted 3 times within 10s at rest: one after another is made"},
		},
		"an object that is made late": {
			tell: resting(func(s *historytest.Story, _, _, _ historytest.Object) { s.Creates(historytest.ConfigMap("late")) }),
			want: []string{"configmaps trial/late was made or deleted once within 10s at rest: it is made only now"},
		},
		"an object that is deleted late": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) { s.Deletes(c) }),
			want: []string{"configmaps trial/c was made or deleted once within 10s at rest: it is deleted only now"},
		},
		"objects of one name that others make, deleted each time": {
			tell: resting(func(s *historytest.Story, _, _, _ historytest.Object) {
				every(time.Second, s, 3, func(int) { s.Deletes(s.Others(historytest.ConfigMap("theirs"))) })
			}),
			want: []string{"configmaps trial/theirs was made or deleted 3 times within 10s at rest: one after another is deleted"},
		},
		"a status that is late": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				s.Puts(w.With("status.phase", "Late"), historytest.Status)
			}),
			want: []string{"widgets.fixtures.example.com trial/w was changed once within 10s at rest: it does not stay as it is (.status.phase)"},
		},
		"the same on two objects is one finding": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				other := s.Others(historytest.ConfigMap("b"))
				every(time.Second, s, 3, func(i int) {
					other = s.Puts(other.With("data.key", fmt.Sprint(i)))
					c = s.Puts(c.With("data.key", fmt.Sprint(i)))
				})
			}),
			want: []string{"configmaps trial/b was changed 3 times within 10s at rest: it does not stay as it is (.data.key) (the same on configmaps trial/c)"},
		},
		"an answer to a change from outside": {
			tell: resting(func(s *historytest.Story, w, _, d historytest.Object) {
				s.Others(d.With("status.readyReplicas", 0))
				w = s.Puts(w.With("status.phase", "Degraded"), historytest.Status)
				s.Others(d.With("status.readyReplicas", 1))
				s.Puts(w.With("status.phase", "Ready"), historytest.Status)
			}),
		},
		"a change from outside of something that the operator does not read": {
			tell: resting(func(s *historytest.Story, _, c, _ historytest.Object) {
				s.Others(historytest.New("", "v1", "nodes", "Node", "", "n"))
				s.Puts(c.With("data.key", "x"))
			}),
			want: []string{"configmaps trial/c was changed once within 10s at rest: it does not stay as it is (.data.key)"},
		},
		"a loop that something from outside set off": {
			tell: resting(func(s *historytest.Story, w, _, d historytest.Object) {
				s.Others(d.With("status.readyReplicas", 0))
				every(time.Second, s, 3, func(i int) { w = s.Puts(w.With("status.visits", i), historytest.Status) })
			}),
			want: []string{"widgets.fixtures.example.com trial/w was changed 3 times within 10s at rest: its status never stays as it is (.status.visits)"},
		},
		"a loop whose own echoes come late": {
			tell: resting(func(s *historytest.Story, w, _, _ historytest.Object) {
				every(50*time.Millisecond, s, 3, func(i int) {
					w = s.Puts(w.With("status.visits", i), historytest.Status, historytest.Late(200*time.Millisecond))
				})
			}),
			want: []string{"widgets.fixtures.example.com trial/w was changed 3 times within 10s at rest: its status never stays as it is (.status.visits)"},
		},
		"a no-op just after the Deployment controller, which the watch shows late": {
			tell: resting(func(s *historytest.Story, _, _, d historytest.Object) {
				s.Puts(s.OthersLate(d.With("status.readyReplicas", 1), 80*time.Millisecond))
			}),
		},
		"a resource that the subject file leaves out": {
			tell:    resting(func(s *historytest.Story, _, c, _ historytest.Object) { s.Puts(c.With("data.key", "x")) }),
			options: trial.CheckOptions{Ignore: []string{"configmaps"}},
		},
		"changes after the rest": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w"))
				s.Rests(nil).Ends(func() { s.Creates(historytest.ConfigMap("late")) }, w)
			},
		},
		"an API that never got quiet, with all samples ready": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w").With("status.visits", -1))
				s.Mark(history.MarkUnsettled)
				every(time.Second, s, 3, func(i int) { w = s.Puts(w.With("status.visits", i), historytest.Status) })
				s.Mark(history.MarkObserved)
			},
			want: []string{"widgets.fixtures.example.com trial/w was changed 3 times within 3s at rest: its status never stays as it is (.status.visits)"},
		},
		"samples that never got ready": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w"))
				s.Mark(history.MarkUnsettled, w).Mark(history.MarkObserved)
			},
			unclear: "the samples did not get ready",
		},
		"a trial that ended before convergence": {
			tell:    func(s *historytest.Story) { s.Starts() },
			unclear: "before the samples had converged",
		},
		"a trial that ended during the rest": {
			tell:    func(s *historytest.Story) { s.Starts().Mark(history.MarkConverged) },
			unclear: "before the operator had been watched at rest",
		},
	})
}

func TestQuiescentBoundsTheEvidence(t *testing.T) {
	s := historytest.Tell()
	resting(func(s *historytest.Story, w, _, _ historytest.Object) {
		every(20*time.Millisecond, s, 200, func(i int) { w = s.Puts(w.With("status.visits", i), historytest.Status) })
	})(s)
	findings, err := oracle.Quiescent(s.History(), trial.CheckOptions{})
	if err != nil || len(findings) != 1 {
		t.Fatalf("got %d findings and error %v, want one finding", len(findings), err)
	}
	if n := len(findings[0].Evidence); n != 12 {
		t.Errorf("got %d numbers of evidence, want 12", n)
	}
	if _, err := json.Marshal(findings); err != nil {
		t.Error(err)
	}
}
