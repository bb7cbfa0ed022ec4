package oracle_test

import (
	"maps"
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

// owning tells a whole trial of Widget w in which the operator makes things,
// and in which the deletion goes as told.
func owning(work func(s *historytest.Story, w historytest.Object), deletion func(s *historytest.Story, w historytest.Object)) func(s *historytest.Story) {
	return func(s *historytest.Story) {
		s.Starts()
		w := s.Others(historytest.Widget("w"))
		s.Mark(history.MarkApplied, w)
		work(s, w)
		s.Rests(nil).Ends(func() {
			if deletion != nil {
				deletion(s, w)
			}
		}, w)
	}
}

func reference(to historytest.Object, changes map[string]any) map[string]any {
	r := map[string]any{"apiVersion": "fixtures.example.com/v1", "kind": "Widget", "name": to.Name(), "uid": to.UID(), "controller": true}
	maps.Copy(r, changes)
	return r
}

func TestOwnerReferencesValid(t *testing.T) {
	config := historytest.ConfigMap("w-config")
	collect := func(s *historytest.Story, w historytest.Object) {
		s.OthersDelete(w)
		s.OthersDelete(config)
	}
	role := historytest.New("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", "", "w-role")
	judge(t, oracle.OwnerReferencesValid, map[string]judged{
		"a child with its controller": {
			tell: owning(func(s *historytest.Story, w historytest.Object) { s.Creates(config.Owned(w)) }, collect),
		},
		"a child that is applied with its controller, and again": {
			tell: owning(func(s *historytest.Story, w historytest.Object) { s.Applies(s.Applies(config.Owned(w))) }, collect),
		},
		"a child with a generated name": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.Owned(w), historytest.Generated)
			}, collect),
		},
		"an owner that is not marked as the controller": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"controller": false})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget w, which is not marked as its controller"},
			hint: "SetControllerReference",
		},
		"two owners that share a child": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				v := s.Others(historytest.Widget("v"))
				s.Creates(config.OwnedBy(reference(w, map[string]any{"controller": false})).OwnedBy(reference(v, map[string]any{"controller": nil})))
			}, collect),
		},
		"two controllers": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.Owned(w).Owned(s.Others(historytest.Widget("v"))))
			}, collect),
			want: []string{"configmaps trial/w-config has 2 owners that are its controller"},
		},
		"the UID of nothing": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"uid": "u", "name": "x"})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget x with the UID u, which does not exist"},
		},
		"the UID of an earlier owner of that name, which nobody saw": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"uid": "u"})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget w, but by another UID than that object has"},
		},
		"another kind": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"kind": "Gadget"})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Gadget w of fixtures.example.com/v1, but what has that UID is widgets.fixtures.example.com trial/w"},
		},
		"another group": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"apiVersion": "v1"})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget w of v1, but what has that UID is widgets.fixtures.example.com trial/w"},
		},
		"the UID of the owner under another name": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"name": "x"})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget x, but what has that UID is widgets.fixtures.example.com trial/w"},
			hint: "looks the owner up by its name",
		},
		"an owner with a generated name, of which the watch shows nothing": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				owner := historytest.ConfigMap("c-x").With("metadata.uid", "u").With("metadata.resourceVersion", "1")
				s.Asks(history.Request{
					Verb: history.VerbCreate, Method: "POST", Version: "v1", Resource: "configmaps", Namespace: "trial",
					Response: history.Response{Code: 201, UID: owner.UID(), ResourceVersion: owner.ResourceVersion()},
				})
				s.Creates(config.Owned(owner))
			}, collect),
		},
		"a version that is not served": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(config.OwnedBy(reference(w, map[string]any{"apiVersion": "fixtures.example.com/v1alpha1"})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget w of fixtures.example.com/v1alpha1, a version that is not served"},
		},
		"a served version that the watch does not use": {
			tell: func(s *historytest.Story) {
				s.Header.Primary[0].Versions = []string{"v1alpha1", "v1"}
				owning(func(s *historytest.Story, w historytest.Object) {
					s.Creates(config.OwnedBy(reference(w, map[string]any{"apiVersion": "fixtures.example.com/v1alpha1"})))
				}, collect)(s)
			},
		},
		"a version of a resource whose versions are not known": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				d := s.Others(historytest.Deployment("d"))
				s.Creates(config.OwnedBy(reference(d, map[string]any{"apiVersion": "apps/v1beta2", "kind": "Deployment"})))
			}, collect),
		},
		"an owner in another namespace": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Deletes(s.Creates(historytest.New("", "v1", "configmaps", "ConfigMap", "elsewhere", "w-config").Owned(w)))
			}, nil),
			want: []string{"configmaps elsewhere/w-config is owned by Widget w in another namespace, trial"},
		},
		"a cluster-scoped child of a namespaced owner": {
			tell: owning(func(s *historytest.Story, w historytest.Object) { s.Deletes(s.Creates(role.Owned(w))) }, nil),
			want: []string{"clusterroles.rbac.authorization.k8s.io w-role belongs to no namespace, yet is owned by Widget w in namespace trial"},
			hint: "never deletes it",
		},
		"a cluster-scoped owner that was there before": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				s.Creates(config.Owned(s.Was(role)))
			}, collect),
		},
		"a reference that an update breaks": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				c := s.Creates(config.Owned(w))
				s.Puts(c.With("metadata.ownerReferences", nil).OwnedBy(reference(w, map[string]any{"controller": nil})))
			}, collect),
			want: []string{"configmaps trial/w-config is owned by Widget w, which is not marked as its controller"},
		},
		"references that others wrote": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				c := s.Creates(config.Owned(w))
				s.Others(c.OwnedBy(reference(w, map[string]any{"uid": "u"})))
				s.Others(historytest.ConfigMap("theirs").OwnedBy(reference(w, map[string]any{"uid": "u"})))
			}, collect),
		},
		"a child of a custom resource that was recreated under its name": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				old := s.Others(historytest.Widget("v"))
				s.OthersDelete(old)
				s.Creates(config.Owned(s.Others(historytest.Widget("v"))))
			}, collect),
		},
		"a child of the earlier custom resource of that name": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				old := s.Others(historytest.Widget("v"))
				s.OthersDelete(old)
				s.Others(historytest.Widget("v"))
				s.Creates(config.Owned(old))
			}, func(s *historytest.Story, w historytest.Object) { s.OthersDelete(w) }),
			want: []string{"configmaps trial/w-config was written when its owner Widget v was gone, and is still there"},
		},
		"a child that was made too late, and collected": {
			tell: owning(func(*historytest.Story, historytest.Object) {}, func(s *historytest.Story, w historytest.Object) {
				s.OthersDelete(w)
				s.Creates(config.Owned(w))
				s.OthersDelete(config)
			}),
		},
		"a child that was made too late, where nobody collects": {
			tell: func(s *historytest.Story) {
				s.Header.Level = trial.LevelAPIServer
				owning(func(*historytest.Story, historytest.Object) {}, func(s *historytest.Story, w historytest.Object) {
					s.OthersDelete(w)
					s.Creates(config.Owned(w))
				})(s)
			},
		},
		"an owner whose end the watch shows before the write ends": {
			tell: owning(func(*historytest.Story, historytest.Object) {}, func(s *historytest.Story, w historytest.Object) {
				s.OthersDelete(w)
				s.Creates(config.Owned(w), historytest.Took(time.Second))
			}),
		},
		"a child without an owner that is left behind": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) { s.Creates(config) }, nil),
			want: []string{"configmaps trial/w-config, made for widgets.fixtures.example.com trial/w, has no owner and is still there after the deletion"},
		},
		"one that only a label tells": {
			tell: owning(func(s *historytest.Story, w historytest.Object) {
				s.Creates(historytest.ConfigMap("x").With("metadata.labels", map[string]any{"widget": w.UID()}))
			}, nil),
			want: []string{"configmaps trial/x, made for widgets.fixtures.example.com trial/w, has no owner and is still there after the deletion"},
		},
		"a child without an owner that a finalizer removes": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) { s.Creates(config) }, func(s *historytest.Story, _ historytest.Object) {
				s.Deletes(config)
			}),
		},
		"something of the operator's own": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) { s.Creates(historytest.ConfigMap("window")) }, nil),
		},
		"something that was made before the samples": {
			tell: func(s *historytest.Story) {
				s.Starts().Creates(config)
				w := s.Others(historytest.Widget("w"))
				s.Mark(history.MarkApplied, w).Rests(nil).Ends(nil, w)
			},
		},
		"a claim for data": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				s.Creates(historytest.New("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "trial", "w-data"))
			}, nil),
		},
		"a custom resource that is still there": {
			tell: func(s *historytest.Story) {
				s.Starts()
				w := s.Others(historytest.Widget("w"))
				s.Mark(history.MarkApplied, w).Creates(config)
				s.Rests(nil).Mark(history.MarkDeleting, w).Mark(history.MarkUndeleted, w).Stops()
			},
		},
		"Events and reviews have no owner": {
			tell: owning(func(s *historytest.Story, _ historytest.Object) {
				s.Creates(historytest.New("events.k8s.io", "v1", "events", "Event", "trial", "w-event"))
			}, nil),
		},
		"a resource that the subject file leaves out": {
			tell:    owning(func(s *historytest.Story, _ historytest.Object) { s.Creates(config) }, nil),
			options: trial.CheckOptions{Ignore: []string{"configmaps"}},
		},
		"a trial that ended early, with an owner that nobody saw yet": {
			tell: func(s *historytest.Story) {
				s.Starts()
				s.Creates(config.OwnedBy(reference(s.Others(historytest.Widget("w")), map[string]any{"uid": "u"})))
			},
			unclear: "before the operator had been watched at rest",
		},
	})
}
