package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/history"
)

func widget(phase string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "namespace": "trial", "uid": "u1"},
		"status":   map[string]any{"phase": phase},
	}}
}

func change(t *testing.T, what history.ChangeType, u *unstructured.Unstructured) *history.Change {
	t.Helper()
	raw, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return &history.Change{Type: what, Group: "example.com", Kind: "Widget", UID: "u1", Name: "w", Object: raw}
}

func running(u *unstructured.Unstructured) (bool, string) {
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	return phase == "Running", "phase is " + phase
}

func TestSamples(t *testing.T) {
	tests := map[string]struct {
		play                func(t *testing.T, s *samples)
		wantReady, wantGone bool
	}{
		"a sample is as it was applied until the watch says more": {
			func(_ *testing.T, s *samples) { s.applied(widget("Pending"), "widgets") }, false, false,
		},
		"a sample is as the watch last saw it": {
			func(t *testing.T, s *samples) {
				t.Helper()
				s.applied(widget("Pending"), "widgets")
				s.changed(change(t, history.Modified, widget("Running")))
			}, true, false,
		},
		"a watch that is faster than the answer to the apply is not forgotten": {
			func(t *testing.T, s *samples) {
				t.Helper()
				s.changed(change(t, history.Added, widget("Running")))
				s.applied(widget("Pending"), "widgets")
			}, true, false,
		},
		"a deleted sample is gone": {
			func(t *testing.T, s *samples) {
				t.Helper()
				s.applied(widget("Pending"), "widgets")
				s.changed(change(t, history.Deleted, widget("Pending")))
			}, true, true,
		},
		"a sample whose end came before the answer to its apply is gone": {
			func(t *testing.T, s *samples) {
				t.Helper()
				s.changed(change(t, history.Deleted, widget("Pending")))
				s.applied(widget("Pending"), "widgets")
			}, true, true,
		},
		"an object that is no sample is not waited for": {
			func(t *testing.T, s *samples) {
				t.Helper()
				s.changed(change(t, history.Added, widget("Pending")))
			}, true, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSamples()
			tc.play(t, s)
			if ready, missing := s.allReady(running)(); ready != tc.wantReady {
				t.Errorf("ready is %v (%s), want %v", ready, missing, tc.wantReady)
			}
			if gone, missing := s.allGone(); gone != tc.wantGone {
				t.Errorf("gone is %v (%s), want %v", gone, missing, tc.wantGone)
			}
		})
	}
}
