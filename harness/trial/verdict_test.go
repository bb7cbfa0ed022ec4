package trial_test

import (
	"testing"

	"github.com/seatrial/seatrial/harness/trial"
)

func TestObjectRefString(t *testing.T) {
	tests := map[string]trial.ObjectRef{
		"":                                    {},
		"configmaps demo/redis":               {Kind: "ConfigMap", Resource: "configmaps", Namespace: "demo", Name: "redis"},
		"StatefulSet.apps demo/redis":         {Group: "apps", Kind: "StatefulSet", Namespace: "demo", Name: "redis"},
		"events.events.k8s.io demo/*":         {Group: "events.k8s.io", Resource: "events", Namespace: "demo"},
		"nodes":                               {Resource: "nodes"},
		"clusterroles.rbac.example.com redis": {Group: "rbac.example.com", Resource: "clusterroles", Name: "redis"},
		"redis":                               {Name: "redis"},
	}
	for want, ref := range tests {
		if got := ref.String(); got != want {
			t.Errorf("%+v is written %q, want %q", ref, got, want)
		}
	}
}
