package version_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history/version"
)

func TestDiff(t *testing.T) {
	tests := map[string]struct {
		before, after string
		want          []string
	}{
		"equal values":                 {`{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, nil},
		"a field of a map":             {`{"spec":{"a":1,"b":2,"c":3}}`, `{"spec":{"a":1,"b":9,"d":4}}`, []string{"replace .spec.b", "remove .spec.c", "add .spec.d"}},
		"a big number":                 {`{"n":9007199254740993}`, `{"n":9007199254740992}`, []string{"replace .n"}},
		"a key that is no word":        {`{"metadata":{"annotations":{"a.b/c":"1"}}}`, `{"metadata":{"annotations":{"a.b/c":"2"}}}`, []string{`replace .metadata.annotations["a.b/c"]`}},
		"another type":                 {`{"a":{"b":1}}`, `{"a":[1]}`, []string{"replace .a"}},
		"null for absent":              {`{"a":null}`, `{}`, []string{"remove .a"}},
		"a list without names":         {`{"l":[1,2]}`, `{"l":[1,3,4]}`, []string{"replace .l[1]", "add .l[2]"}},
		"a list with an element twice": {`{"l":["a","a","b"]}`, `{"l":["a","b","b"]}`, []string{"replace .l[1]"}},
		"names that are exchanged":     {`{"l":[{"name":"a"},{"name":"b"}]}`, `{"l":[{"name":"c"},{"name":"a"}]}`, []string{"remove .l[name=b]", "add .l[name=c]"}},
		"a list that gets short":       {`{"l":[1,2]}`, `{"l":[1]}`, []string{"remove .l[1]"}},
		"a list in another order":      {`{"l":["a","b"]}`, `{"l":["b","a"]}`, []string{"reorder .l"}},
		"a condition by its type": {
			`{"conditions":[{"type":"A","status":"True"},{"type":"B","status":"True"}]}`,
			`{"conditions":[{"type":"B","status":"False"},{"type":"C","status":"True"}]}`,
			[]string{"remove .conditions[type=A]", "replace .conditions[type=B].status", "add .conditions[type=C]"},
		},
		"conditions in another order": {
			`{"conditions":[{"type":"A","status":"1"},{"type":"B"}]}`, `{"conditions":[{"type":"B"},{"type":"A","status":"2"}]}`,
			[]string{"reorder .conditions", "replace .conditions[type=A].status"},
		},
		"two conditions of one type, by their place": {
			`{"conditions":[{"type":"A","status":"1"}]}`, `{"conditions":[{"type":"A","status":"2"},{"type":"A","status":"1"}]}`,
			[]string{"replace .conditions[0].status", "add .conditions[1]"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range version.Diff(version.Decode(json.RawMessage(tc.before)), version.Decode(json.RawMessage(tc.after))) {
				got = append(got, string(d.Op)+" "+d.Path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDifferenceNamesItsEnds(t *testing.T) {
	tests := map[string][2]string{
		".status.conditions[type=Ready].reason": {"status", "reason"},
		`.metadata.annotations["a.b/c"]`:        {"metadata", "a.b/c"},
		".spec.ports[0]":                        {"spec", "ports"},
		".status":                               {"status", "status"},
	}
	for path, want := range tests {
		d := version.Difference{Path: path}
		if got := [2]string{d.Root(), d.Leaf()}; got != want {
			t.Errorf("root and leaf of %s are %v, want %v", path, got, want)
		}
	}
}
