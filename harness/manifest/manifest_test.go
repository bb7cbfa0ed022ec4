package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

func TestRead(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		path  string
		want  []string
	}{
		"a file with several documents, some empty": {
			map[string]string{"a.yaml": "# a comment\n---\n" + configMap("one") + "---\n---\n" + configMap("two")}, "a.yaml", []string{"one", "two"},
		},
		"a JSON file": {
			map[string]string{"a.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}`}, "a.json", []string{"one"},
		},
		"a directory with its subdirectories, by name, other files left alone": {
			map[string]string{"b.yml": configMap("b"), "a/c.yaml": configMap("c"), "README.md": "# no"}, ".", []string{"c", "b"},
		},
		"a kustomization is built, not read": {
			map[string]string{"kustomization.yaml": "namePrefix: pre-\nresources: [a.yaml]\n", "a.yaml": configMap("one"), "ignored.yaml": configMap("two")},
			".",
			[]string{"pre-one"},
		},
		"the items of a List": {
			map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n"},
			"a.yaml",
			[]string{"one", "two"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := Read(filepath.Join(write(t, tc.files), tc.path))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"a directory without objects":   {map[string]string{"README.md": "# no"}, "no .yaml, .yml or .json file holds an object"},
		"a duplicate key":               {map[string]string{"a.yaml": configMap("a") + "kind: Secret\n"}, `a.yaml: document 1: yaml: unmarshal errors: line 4: key "kind" already set in map`},
		"a document without kind":       {map[string]string{"a.yaml": configMap("a") + "---\napiVersion: v1\n"}, "a.yaml: document 2: not a Kubernetes object"},
		"a document without apiVersion": {map[string]string{"a.yaml": "kind: ConfigMap\n"}, "apiVersion is missing"},
		"a list of words":               {map[string]string{"a.yaml": "- a\n- b\n"}, "not a Kubernetes object"},
		"a kustomization that is wrong": {map[string]string{"kustomization.yaml": "resources: [missing.yaml]\n"}, "building the kustomization"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Read(write(t, tc.files))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q must be one line", err)
			}
		})
	}
}
