package version_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/internal/historytest"
)

// effects returns the effects of the story's writes, in order.
func effects(s *historytest.Story) []version.EffectKind {
	h := s.History()
	x := version.NewIndex(h)
	var found []version.EffectKind
	for seq, r := range h.Requests() {
		if r.Verb.Mutates() {
			found = append(found, x.Effect(seq).Kind)
		}
	}
	return found
}

func TestEffect(t *testing.T) {
	lag := 80 * time.Millisecond
	config, deployment := historytest.ConfigMap("c"), historytest.Deployment("d")
	tests := map[string]struct {
		tell func(s *historytest.Story)
		want []version.EffectKind
	}{
		"a create makes a version": {
			func(s *historytest.Story) { s.Creates(config) },
			[]version.EffectKind{version.Created},
		},
		"a create with a generated name makes a version": {
			func(s *historytest.Story) { s.Creates(config, historytest.Generated) },
			[]version.EffectKind{version.Created},
		},
		"an apply that creates, then one that changes nothing": {
			func(s *historytest.Story) { s.Applies(s.Applies(config)) },
			[]version.EffectKind{version.Created, version.NoOp},
		},
		"an update that the API server elides": {
			func(s *historytest.Story) { s.Puts(s.Creates(config)) },
			[]version.EffectKind{version.Created, version.NoOp},
		},
		"an elided update of an object that only the watch has shown": {
			func(s *historytest.Story) { s.Puts(s.Others(config)) },
			[]version.EffectKind{version.NoOp},
		},
		"an update that changes something": {
			func(s *historytest.Story) { s.Puts(s.Others(config).With("data.key", "other")) },
			[]version.EffectKind{version.Changed},
		},
		"an update whose version the watch shows before the response ends": {
			func(s *historytest.Story) {
				s.Puts(s.Others(config).With("data.key", "other"), historytest.Took(50*time.Millisecond), historytest.Late(-20*time.Millisecond))
			},
			[]version.EffectKind{version.Changed},
		},
		"two changes, the first of which the watch shows after the second began": {
			func(s *historytest.Story) {
				o := s.Puts(s.Others(config).With("data.key", "b"), historytest.Late(lag))
				s.Puts(o.With("data.key", "c"))
			},
			[]version.EffectKind{version.Changed, version.Changed},
		},
		"a change and an elided repeat of it, before the watch shows the change": {
			func(s *historytest.Story) {
				s.Puts(s.Puts(s.Others(config).With("data.key", "b"), historytest.Late(lag)))
			},
			[]version.EffectKind{version.Changed, version.NoOp},
		},
		"an elided write of the spec, just after a status that the watch shows late": {
			func(s *historytest.Story) {
				s.Puts(s.OthersLate(s.Others(deployment).With("status.readyReplicas", 1), lag))
			},
			[]version.EffectKind{version.NoOp},
		},
		"an elided write of the status, just after a spec that the watch shows late": {
			func(s *historytest.Story) {
				s.Puts(s.OthersLate(s.Others(deployment).With("spec.replicas", 2), lag), historytest.Status)
			},
			[]version.EffectKind{version.NoOp},
		},
		"an elided write that insists on a version that the watch shows late": {
			func(s *historytest.Story) {
				o := s.OthersLate(s.Others(config).With("data.key", "b"), lag)
				s.Puts(o, historytest.Insisting(o))
			},
			[]version.EffectKind{version.NoOp},
		},
		"a change that insists on a version": {
			func(s *historytest.Story) {
				o := s.Others(config)
				s.Puts(o.With("data.key", "b"), historytest.Insisting(o))
			},
			[]version.EffectKind{version.Changed},
		},
		"an elided write of a version that is shown late, when a newer one of another object was shown": {
			func(s *historytest.Story) {
				o := s.OthersLate(s.Others(config).With("data.key", "b"), lag)
				s.Others(historytest.ConfigMap("newer"))
				s.Puts(o)
			},
			[]version.EffectKind{version.NoOp},
		},
		"two writes at a time that are answered with one version": {
			func(s *historytest.Story) {
				o := s.Others(config).With("data.key", "b")
				s.After(time.Second)
				s.Puts(o, historytest.Took(60*time.Millisecond), historytest.Late(lag))
				s.Puts(o, historytest.Took(60*time.Millisecond))
			},
			[]version.EffectKind{version.Changed, version.NoOp},
		},
		"two writes at a time, the later of which insisted on the version before": {
			func(s *historytest.Story) {
				old := s.Others(config)
				s.After(time.Second)
				s.Puts(old.With("data.key", "b"), historytest.Took(60*time.Millisecond), historytest.Late(lag))
				s.Puts(old.With("data.key", "b"), historytest.Insisting(old), historytest.Took(60*time.Millisecond))
			},
			[]version.EffectKind{version.NoOp, version.Changed},
		},
		"a status that changes": {
			func(s *historytest.Story) {
				s.Puts(s.Others(historytest.Widget("w")).With("status.phase", "Ready"), historytest.Status)
			},
			[]version.EffectKind{version.Changed},
		},
		"a dry run": {
			func(s *historytest.Story) { s.Puts(s.Others(config).With("data.key", "b"), historytest.DryRun) },
			[]version.EffectKind{version.None},
		},
		"a write that is refused": {
			func(s *historytest.Story) { s.Fails(history.VerbUpdate, config, 409, "conflict") },
			[]version.EffectKind{version.None},
		},
		"a review, which makes no object": {
			func(s *historytest.Story) {
				s.Asks(history.Request{
					Verb: history.VerbCreate, Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews",
					Response: history.Response{Code: 201},
				})
			},
			[]version.EffectKind{version.None},
		},
		"a deletion that is answered with a Status": {
			func(s *historytest.Story) { s.Deletes(s.Others(config)) },
			[]version.EffectKind{version.Deleted},
		},
		"a deletion that a finalizer holds up, its repeat, and the release": {
			func(s *historytest.Story) {
				o := s.Terminates(s.Others(config.With("metadata.finalizers", []any{"demo/hold"})))
				s.Releases(s.Terminates(o))
			},
			[]version.EffectKind{version.Changed, version.NoOp, version.Deleted},
		},
		"a deletion that is answered with the object": {
			func(s *historytest.Story) {
				o := s.Others(config)
				s.Deletes(o, historytest.Answer(o))
			},
			[]version.EffectKind{version.Deleted},
		},
		"a deletion of a pod, which takes its time, and its repeat": {
			func(s *historytest.Story) {
				pod := historytest.New("", "v1", "pods", "Pod", "trial", "p")
				s.Terminates(s.Terminates(s.Others(pod)))
			},
			[]version.EffectKind{version.Changed, version.NoOp},
		},
		"a status that is written with the object, where it is not apart": {
			func(s *historytest.Story) {
				s.Header.Primary[0].Features = nil
				s.Puts(s.Others(historytest.Widget("w")).With("status.phase", "Ready"))
			},
			[]version.EffectKind{version.Changed},
		},
		"a status of a resource that nobody knows": {
			func(s *historytest.Story) {
				s.Puts(s.Others(historytest.New("example.org", "v1", "things", "Thing", "trial", "t")).With("status.phase", "Ready"))
			},
			[]version.EffectKind{version.Changed},
		},
		"an elided patch that insists on a version that the watch shows late": {
			func(s *historytest.Story) {
				o := s.OthersLate(s.Others(config).With("data.key", "b"), lag)
				s.Patches(o, historytest.Insisting(o))
			},
			[]version.EffectKind{version.NoOp},
		},
		"a change of nothing but managedFields": {
			func(s *historytest.Story) {
				s.Puts(s.Others(config).With("metadata.managedFields", []any{"x"}))
			},
			[]version.EffectKind{version.Changed},
		},
		"an object that was recreated under its name": {
			func(s *historytest.Story) {
				o := s.Creates(config)
				s.Deletes(o)
				s.Puts(s.Creates(config))
			},
			[]version.EffectKind{version.Created, version.Deleted, version.Created, version.NoOp},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := historytest.Tell()
			tc.tell(s)
			if diff := cmp.Diff(tc.want, effects(s)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEffectSaysWhatChanged(t *testing.T) {
	s := historytest.Tell()
	o := s.Others(historytest.ConfigMap("c"))
	o = s.Others(o.With("data.other", "x"))
	s.Puts(o.With("data.key", "new").With("data.other", nil))
	h := s.History()
	x := version.NewIndex(h)
	var got []string
	for seq := range h.Requests() {
		for _, d := range x.Effect(seq).Differences() {
			got = append(got, string(d.Op)+" "+d.Path)
		}
	}
	if diff := cmp.Diff([]string{"replace .data.key", "remove .data.other"}, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestEffectFallsBackOnBookkeeping(t *testing.T) {
	s := historytest.Tell()
	s.Puts(s.Others(historytest.ConfigMap("c")).With("metadata.managedFields", []any{"x"}))
	h := s.History()
	for seq := range h.Requests() {
		differences := version.NewIndex(h).Effect(seq).Differences()
		if len(differences) != 1 || differences[0].Path != ".metadata.managedFields" {
			t.Errorf("got %+v, want managedFields alone", differences)
		}
	}
}

func TestAuthorTellsTheOperatorFromOthers(t *testing.T) {
	s := historytest.Tell()
	o := s.Others(historytest.ConfigMap("c"))
	o = s.Puts(o.With("data.key", "b"))
	o = s.Others(o.With("data.key", "c"))
	s.Deletes(o)
	h := s.History()
	x := version.NewIndex(h)
	var got []bool
	for _, c := range h.Changes() {
		_, own := x.Author(c)
		got = append(got, own)
	}
	if diff := cmp.Diff([]bool{false, true, false, true}, got); diff != "" {
		t.Errorf("made by the operator (-want +got):\n%s", diff)
	}
}

func TestVersionsAreInTheOrderInWhichTheyWereMade(t *testing.T) {
	s := historytest.Tell()
	o := s.Others(historytest.ConfigMap("c"))
	o = s.OthersLate(o.With("data.key", "b"), time.Second)
	o = s.Others(o.With("data.key", "c"))
	s.After(2 * time.Second)
	var got []string
	for _, v := range version.NewIndex(s.History()).Versions(o.UID()) {
		data := v.Object()["data"].(map[string]any)
		got = append(got, data["key"].(string))
	}
	if diff := cmp.Diff([]string{"value", "b", "c"}, got); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

func TestObjectsAreOfOneResource(t *testing.T) {
	s := historytest.Tell()
	s.Others(historytest.Widget("b"))
	s.Others(historytest.New("example.org", "v1", "widgets", "Widget", "trial", "x"))
	s.Others(historytest.New("fixtures.example.com", "v1", "gadgets", "Gadget", "trial", "x"))
	s.OthersDelete(s.Others(historytest.Widget("a")))
	s.Others(historytest.Widget("a"))
	var got []string
	for _, object := range version.NewIndex(s.History()).Objects("fixtures.example.com", "widgets") {
		got = append(got, object[0].Ref.UID)
	}
	if diff := cmp.Diff([]string{"a-104", "a-106", "b-101"}, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
