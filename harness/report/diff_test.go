package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history/version"
)

func TestDiff(t *testing.T) {
	long := strings.Repeat("ü", maxValue+10)
	for name, tc := range map[string]struct {
		before, after string
		want          []PathChange
	}{
		"equal objects have no paths": {`{"a":[1,{"b":2}]}`, `{"a":[1,{"b":2}]}`, nil},
		"a value that changed has both sides": {
			`{"spec":{"replicas":3}}`, `{"spec":{"replicas":5}}`,
			[]PathChange{{".spec.replicas", "3", "5"}},
		},
		"what was added or removed has one side": {
			`{"spec":{"old":null}}`, `{"spec":{"new":{"x":"<a>"}}}`,
			[]PathChange{{".spec.new", "", `{"x":"<a>"}`}, {".spec.old", "null", ""}},
		},
		"a type that changed is a change": {`{"a":{"b":1}}`, `{"a":[1]}`, []PathChange{{".a", `{"b":1}`, `[1]`}}},
		"large numbers keep their digits": {
			`{"a":9007199254740993}`, `{"a":9007199254740992}`,
			[]PathChange{{".a", "9007199254740993", "9007199254740992"}},
		},
		"names that are no identifiers are quoted": {
			`{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{"app.kubernetes.io/name":"x"}}}`,
			[]PathChange{{`.metadata.labels["app.kubernetes.io/name"]`, "", `"x"`}},
		},
		"what each write changes is left out": {
			`{"metadata":{"resourceVersion":"1","managedFields":[{"time":"1"}]}}`,
			`{"metadata":{"resourceVersion":"2","managedFields":[{"time":"2"}]}}`, nil,
		},
		"elements are matched by what identifies them": {
			`{"c":[{"type":"Ready","status":"False"}]}`,
			`{"c":[{"type":"Available","status":"True"},{"type":"Ready","status":"True"}]}`,
			[]PathChange{{".c[type=Available]", "", `{"status":"True","type":"Available"}`}, {".c[type=Ready].status", `"False"`, `"True"`}},
		},
		"an order that changed is a change": {
			`{"e":[{"name":"a"},{"name":"b"}]}`, `{"e":[{"name":"b"},{"name":"a"}]}`,
			[]PathChange{{".e", `[{"name":"a"},{"name":"b"}]`, `[{"name":"b"},{"name":"a"}]`}},
		},
		"elements that nothing identifies go by index": {
			`{"a":["x","y"]}`, `{"a":["x"]}`, []PathChange{{".a[1]", `"y"`, ""}},
		},
		"keys that repeat identify nothing": {
			`{"p":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`, `{"p":[{"port":53,"protocol":"TCP"}]}`,
			[]PathChange{{".p[1]", `{"port":53,"protocol":"UDP"}`, ""}},
		},
		"a long value is cut short": {
			`{"a":""}`, `{"a":"` + long + `"}`,
			[]PathChange{{".a", `""`, `"` + strings.Repeat("ü", maxValue-2) + "…"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := version.Decode(json.RawMessage(tc.before)).(map[string]any)
			after, _ := version.Decode(json.RawMessage(tc.after)).(map[string]any)
			got := diff(before, after)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
