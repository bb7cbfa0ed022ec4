package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	tests := map[string]struct {
		owned, desired string
		want           []string
	}{
		"equal values differ in nothing":           {`{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":2}]}}`, nil},
		"a changed value":                          {`{"a":{"b":1}}`, `{"a":{"b":2}}`, []string{"a.b: 1 -> 2"}},
		"a value that is no longer ours":           {`{}`, `{"a":"x"}`, []string{`a: (none) -> "x"`}},
		"a value that is no longer wanted":         {`{"a":"x"}`, `{}`, []string{`a: "x" -> (none)`}},
		"an item of a list":                        {`{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":3}]}`, []string{"a[1].b: 2 -> 3"}},
		"a list that has grown":                    {`{"a":[1]}`, `{"a":[1,2]}`, []string{"a: [1] -> [1,2]"}},
		"several, sorted":                          {`{"b":1,"a":1}`, `{"b":2,"a":2}`, []string{"a: 1 -> 2", "b: 1 -> 2"}},
		"a value of another type":                  {`{"a":{"b":1}}`, `{"a":1}`, []string{`a: {"b":1} -> 1`}},
		"an empty struct is more than nothing":     {`{}`, `{"emptyDir":{}}`, []string{"emptyDir: (none) -> {}"}},
		"a long value is cut, never its beginning": {`{}`, `{"a":"` + strings.Repeat("x", 99) + `"}`, []string{`a: (none) -> "` + strings.Repeat("x", 59) + "…"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compare("", decode(t, tc.owned), decode(t, tc.desired))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
