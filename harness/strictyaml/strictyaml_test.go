package strictyaml

import (
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	tests := map[string]struct{ content, want string }{
		"a right document":              {"name: a\nsize: 1\n", ""},
		"a document after a comment":    {"# hello\n---\nname: a\n", ""},
		"nothing":                       {"", "is empty"},
		"a comment alone":               {"# hello\n", "is empty"},
		"a second document":             {"name: a\n---\nname: b\n", "holds more than one document"},
		"an unknown field":              {"name: a\ncolour: red\n", `line 2: unknown field "colour"`},
		"a duplicate field":             {"name: a\nname: b\n", `line 2: mapping key "name" already defined at line 1`},
		"a list where a word belongs":   {"name: [a]\n", "line 1: a seq cannot stand here"},
		"a word where a number belongs": {"size: large\n", "line 1: a str `large` cannot stand here"},
		"YAML that is not closed":       {"name: [", "line 1: did not find"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var v struct {
				Name string `yaml:"name"`
				Size int    `yaml:"size"`
			}
			err := Decode([]byte(tc.content), &v)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("got error %v", err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("got error %v, want one line that begins with %q", err, tc.want)
			}
		})
	}
}
