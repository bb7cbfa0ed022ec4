package oracle_test

import (
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

// stuck tells a trial whose deletion does not end in time.
func stuck(finalizers []any, while func(s *historytest.Story, w historytest.Object)) func(s *historytest.Story) {
	return func(s *historytest.Story) {
		s.Starts()
		w := s.Others(historytest.Widget("w").With("metadata.finalizers", finalizers))
		s.Mark(history.MarkApplied, w).Rests(nil).Mark(history.MarkDeleting, w)
		if while != nil {
			while(s, w)
		}
		s.After(time.Minute).Mark(history.MarkUndeleted, w).Stops()
	}
}

func TestDeleteCompletes(t *testing.T) {
	config := historytest.ConfigMap("w-config")
	terminating := func(s *historytest.Story, w historytest.Object) {
		s.Others(w.With("metadata.deletionTimestamp", clock(30)))
	}
	atLevel := func(level trial.Level, tell func(s *historytest.Story)) func(s *historytest.Story) {
		return func(s *historytest.Story) {
			s.Header.Level = level
			tell(s)
		}
	}
	child := func(s *historytest.Story, w historytest.Object) { s.Creates(config.Owned(w)) }
	left := owning(child, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w) })
	judge(t, oracle.DeleteCompletes, map[string]judged{
		"a deletion that takes the children along": {
			tell: owning(child, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w); s.OthersDelete(config) }),
		},
		"a finalizer that is released": {
			tell: owning(func(*historytest.Story, historytest.Object) {}, func(s *historytest.Story, w historytest.Object) {
				w = s.Others(w.With("metadata.finalizers", []any{"demo/hold"}).With("metadata.deletionTimestamp", clock(30)))
				s.Releases(w)
			}),
		},
		"a finalizer that stays": {
			tell: stuck([]any{"demo/hold"}, terminating),
			want: []string{"widgets.fixtures.example.com trial/w is still there 1m0s after its deletion was asked for, held by the finalizer demo/hold"},
			hint: "only the garbage collector removes", paths: ".metadata.finalizers",
		},
		"two finalizers that stay": {
			tell: stuck([]any{"a/a", "b/b"}, terminating),
			want: []string{"widgets.fixtures.example.com trial/w is still there 1m0s after its deletion was asked for, held by the finalizers a/a, b/b"},
		},
		"a deletion that did not take": {
			tell: stuck(nil, nil),
			want: []string{"widgets.fixtures.example.com trial/w is still there 1m0s after its deletion was asked for, and not marked as deleted"},
		},
		"a custom resource that is gone, though something else took too long": {
			tell: stuck(nil, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w) }),
		},
		"a child that outlived its owner": {
			tell: left,
			want: []string{"configmaps trial/w-config outlived its owner"},
		},
		"a child that its own finalizer holds": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.Owned(w).With("metadata.finalizers", []any{"demo/child"}))
			}, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w) }),
			want: []string{"configmaps trial/w-config outlived its owner, held by the finalizer demo/child"},
		},
		"a grandchild that outlived its owner": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(historytest.ConfigMap("grandchild").Owned(s.Creates(config.Owned(w))))
			}, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w); s.OthersDelete(config) }),
			want: []string{"configmaps trial/grandchild outlived its owner"},
		},
		"a child where nobody collects": {tell: atLevel(trial.LevelAPIServer, left)},
		"a child at a level of old":     {tell: atLevel("", left)},
		"a finalizer where nobody collects": {
			tell: atLevel(trial.LevelAPIServer, stuck([]any{"demo/hold"}, terminating)),
			want: []string{"widgets.fixtures.example.com trial/w is still there 1m0s after its deletion was asked for, held by the finalizer demo/hold"},
		},
		"a child of two owners, one of which lives": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.Owned(w).OwnedBy(reference(s.Others(historytest.Widget("v")), nil)))
			}, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w) }),
		},
		"a child that others made": {
			tell: owning(func(s *historytest.Story, w historytest.Object) { s.Others(config.Owned(w)) },
				func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w) }),
		},
		"a child that was recreated under its name, and is gone": {
			tell: owning(child, func(s *historytest.Story, w historytest.Object) {
				s.OthersDelete(config)
				s.Creates(config.Owned(w))
				s.OthersDelete(w)
				s.OthersDelete(config)
			}),
		},
		"a custom resource that comes back and is deleted again": {
			tell: owning(func(*historytest.Story, historytest.Object) {}, func(s *historytest.Story, w historytest.Object) {
				s.OthersDelete(w)
				s.Creates(historytest.Widget("w"))
				s.Mark(history.MarkDeleted, w)
			}),
		},
		"a resource that the subject file leaves out": {
			tell:    stuck([]any{"demo/hold"}, terminating),
			options: trial.CheckOptions{Ignore: []string{"widgets.fixtures.example.com"}},
		},
		"a trial that ended before the deletion": {
			tell:    func(s *historytest.Story) { s.Starts().Rests(nil) },
			unclear: "before the samples were deleted",
		},
		"a trial that ended during the deletion": {
			tell: func(s *historytest.Story) {
				w := s.Starts().Others(historytest.Widget("w"))
				s.Rests(nil).Mark(history.MarkDeleting, w)
			},
			unclear: "before the samples' deletion was through",
		},
	})
}

func TestDeleteCompletesNoticesARevival(t *testing.T) {
	s := historytest.Tell().Starts()
	w := s.Others(historytest.Widget("w"))
	s.Mark(history.MarkApplied, w).Rests(nil).Mark(history.MarkDeleting, w)
	s.OthersDelete(w)
	s.Creates(historytest.Widget("w"))
	s.Mark(history.MarkDeleted, w).Stops()
	findings, err := oracle.DeleteCompletes(s.History(), trial.CheckOptions{})
	want := "widgets.fixtures.example.com trial/w was deleted, and the operator made it anew"
	if err != nil || summaries(findings) != want {
		t.Errorf("got %q and error %v, want %q", summaries(findings), err, want)
	}
}
