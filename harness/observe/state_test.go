package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/seatrial/seatrial/harness/history"
)

func known(at string, versions map[string]string) *state {
	s := newState()
	s.at = at
	for uid, version := range versions {
		s.note(&history.Change{Type: history.Added, Existing: true, UID: uid, ResourceVersion: version})
	}
	return s
}

func TestReached(t *testing.T) {
	type versions = map[string]string
	for name, tc := range map[string]struct {
		state *state
		goal  goal
		want  bool
	}{
		"the watch has come as far":          {known("9", versions{"a": "3"}), goal{"9", versions{"b": "4"}}, true},
		"the same versions are known":        {known("5", versions{"a": "3"}), goal{"9", versions{"a": "3"}}, true},
		"later versions are known":           {known("5", versions{"a": "4"}), goal{"9", versions{"a": "3"}}, true},
		"an object is not known":             {known("5", versions{}), goal{"9", versions{"a": "3"}}, false},
		"a version is not known":             {known("5", versions{"a": "3"}), goal{"9", versions{"a": "7"}}, false},
		"a deletion is not known":            {known("5", versions{"a": "3", "b": "5"}), goal{"9", versions{"a": "3"}}, false},
		"an object is newer than the list":   {known("5", versions{"a": "12"}), goal{"9", versions{}}, true},
		"nothing was ever there":             {known("5", versions{}), goal{"9", versions{}}, true},
		"the first list has not ended":       {known("", versions{}), goal{"9", versions{"a": "3"}}, false},
		"versions that are no numbers":       {known("x", versions{"a": "p"}), goal{"y", versions{"a": "p"}}, true},
		"other versions that are no numbers": {known("x", versions{"a": "p"}), goal{"y", versions{"a": "q"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.state.reached(tc.goal); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestDifferenceIsInAnOrderThatCouldHaveBeen(t *testing.T) {
	s := known("20", map[string]string{"same": "1", "changed": "9", "gone": "10", "gone before": "8"})
	list := []*history.Change{}
	for _, c := range [][2]string{{"new", "100"}, {"same", "1"}, {"changed", "99"}} {
		list = append(list, &history.Change{Type: history.Added, UID: c[0], ResourceVersion: c[1]})
	}
	var got []string
	for _, c := range s.difference(list) {
		if c.Existing {
			t.Errorf("%s is said to have existed before", c.UID)
		}
		got = append(got, string(c.Type)+" "+c.UID+"@"+c.ResourceVersion)
	}
	want := []string{"DELETED gone before@8", "DELETED gone@10", "MODIFIED changed@99", "ADDED new@100"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheVersionThatDiscoveryPrefers(t *testing.T) {
	var crd apiextensionsv1.CustomResourceDefinition
	for _, name := range []string{"v1alpha1", "v2beta1", "v1", "v1beta3"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true})
	}
	crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v9"})
	if got := definedBy(&crd).Version; got != "v1" {
		t.Errorf("got %s, want v1", got)
	}
}
