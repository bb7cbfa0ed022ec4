package ci

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadReadsTheEmbeddedMatrix(t *testing.T) {
	m, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Releases) < 2 {
		t.Errorf("the matrix has %d releases, want at least an oldest and a newest", len(m.Releases))
	}
}

func TestLookup(t *testing.T) {
	m, err := Parse([]byte("kubernetes: [{version: v1.34.4}, {version: v1.37.2}]\netcd: v3.7.3\nkwok: v0.8.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	oldest := Release{Kubernetes: "v1.34.4", Etcd: "v3.7.3", KWOK: "v0.8.0"}
	newest := Release{Kubernetes: "v1.37.2", Etcd: "v3.7.3", KWOK: "v0.8.0"}
	cases := map[string]struct {
		name string
		want Release
	}{
		"a minor version":            {"1.34", oldest},
		"a minor version with a v":   {"v1.34", oldest},
		"a full version":             {"v1.37.2", newest},
		"a full version without a v": {"1.37.2", newest},
		"the newest by name":         {"newest", newest},
		"the oldest by name":         {"oldest", oldest},
		"nothing means the newest":   {"", newest},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := m.Lookup(c.name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Lookup(%q) (-want +got):\n%s", c.name, diff)
			}
		})
	}
	for _, name := range []string{"1.3", "1.33", "v1.34.5", "latest", "1.37.2.1", "v", "vv1.37"} {
		_, err := m.Lookup(name)
		if _, ok := errors.AsType[*UnknownVersionError](err); !ok {
			t.Fatalf("Lookup(%q) = %v, want an UnknownVersionError", name, err)
		}
		if text := err.Error(); !strings.Contains(text, "v1.34.4, v1.37.2") || strings.Contains(text, "\n") {
			t.Errorf("the error must list the known versions in one line, is %q", text)
		}
	}
}

func TestMinor(t *testing.T) {
	if got := (Release{Kubernetes: "v1.37.2"}).Minor(); got != "1.37" {
		t.Errorf("Minor() = %q, want 1.37", got)
	}
}

func TestParseRefuses(t *testing.T) {
	const tail = "etcd: v3.7.3\nkwok: v0.8.0\n"
	cases := map[string]struct{ content, want string }{
		"an unknown field, with its line":        {"kubernetes: [{version: v1.34.4}]\nnodes: 3\n" + tail, `line 2: unknown field "nodes"`},
		"an unknown field of a release":          {"kubernetes:\n- version: v1.34.4\n  image: x\n" + tail, `line 3: unknown field "image"`},
		"a duplicate field, with its line":       {"kubernetes: [{version: v1.34.4}]\n" + tail + "etcd: v3.7.2\n", `line 4: mapping key "etcd" already defined at line 2`},
		"a version without its patch, with line": {"kubernetes:\n- version: v1.34\n" + tail, `line 2: "v1.34" is not a full version`},
		"a version that is no version":           {"kubernetes:\n- version: v1.34.4\netcd: [1]\nkwok: v0.8.0", "line 3:"},
		"releases out of order, with the line":   {"kubernetes:\n- version: v1.35.1\n- version: v1.34.4\n" + tail, "line 3: v1.34.4 must be of a newer minor version than v1.35.1"},
		"two releases of a minor version":        {"kubernetes:\n- version: v1.34.1\n- version: v1.34.4\n" + tail, "line 3:"},
		"a release without a version":            {"kubernetes: [{}]\n" + tail, "kubernetes[0] must have a version"},
		"no releases":                            {tail, "at least one version"},
		"no etcd":                                {"kubernetes: [{version: v1.34.4}]\nkwok: v0.8.0\n", "etcd must name"},
		"no kwok":                                {"kubernetes: [{version: v1.34.4}]\netcd: v3.7.3\n", "kwok must name"},
		"an empty file":                          {"", "is empty"},
		"two documents":                          {"kubernetes: [{version: v1.34.4}]\n" + tail + "---\n{}\n", "more than one document"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.content))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse() = %v, want an error with %q", err, c.want)
			}
		})
	}
}
