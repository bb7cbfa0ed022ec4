package podlife

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files")

func TestParse(t *testing.T) {
	got, err := Parse([]byte(`apiVersion: seatrial.dev/v1alpha1
kind: PodLife
scripts:
- name: slow-first
  namespace: demo
  pods: redis-0*
  labels: {app: redis}
  startDelay: 1m30s
- {name: fails, behaviour: ReadyThenFail, failAfter: 5s}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Script{
		{Name: "slow-first", Namespace: "demo", Pods: "redis-0*", Labels: map[string]string{"app": "redis"}, StartDelay: 90 * time.Second},
		{Name: "fails", Behaviour: ReadyThenFail, FailAfter: 5 * time.Second},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "apiVersion: seatrial.dev/v1alpha1\nkind: PodLife\nscripts:\n"
	tests := map[string]struct{ content, want string }{
		"an empty file":                  {"", "is empty"},
		"an unknown field":               {head + "- {name: a, behavior: Ready}\n", `line 4: unknown field "behavior"`},
		"a duplicate field":              {head + "- name: a\n  name: b\n", `line 5: mapping key "name" already defined at line 4`},
		"another kind":                   {strings.Replace(head, "PodLife", "Operator", 1), "must be seatrial.dev/v1alpha1 and PodLife"},
		"a second document":              {head + "- {name: a}\n---\nkind: PodLife\n", "more than one document"},
		"an unknown behaviour":           {head + "- {name: a, behaviour: Explode}\n", `scripts[0]: behaviour "Explode" must be one of [Ready NeverReady`},
		"a script without a name":        {head + "- {behaviour: Ready}\n", `scripts[0]: name ""`},
		"a name that is no label":        {head + "- {name: A_b}\n", `scripts[0]: name "A_b"`},
		"two scripts of one name":        {head + "- {name: a}\n- {name: a}\n", `scripts[1]: the name "a" is taken`},
		"a delay that is none":           {head + "- {name: a, startDelay: soon}\n", "line 4"},
		"a negative delay":               {head + "- {name: a, startDelay: -1s}\n", "must not be negative"},
		"failing after without its kind": {head + "- {name: a, failAfter: 1s}\n", "failAfter goes with behaviour ReadyThenFail"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.content))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q must be one line", err)
			}
		})
	}
}

func TestStages(t *testing.T) {
	tests := map[string][]Script{
		"default": nil,
		"every-behaviour": {
			{Name: "never", Pods: "a-*", Behaviour: NeverReady},
			{Name: "crash", Namespace: "demo", Behaviour: CrashLoop, StartDelay: time.Second},
			{Name: "image", Labels: map[string]string{"b": `quo"te`, "a": "x"}, Behaviour: ImagePullFailure},
			{Name: "fail", Pods: "c.d", Behaviour: ReadyThenFail, FailAfter: 1500 * time.Millisecond},
		},
	}
	for name, scripts := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Stages(scripts)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden.yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
			names := map[string]bool{}
			for document := range strings.SplitSeq(string(got), "\n---\n") {
				var stage struct {
					Kind     string
					Metadata struct{ Name string }
				}
				if err := yaml.Unmarshal([]byte(document), &stage); err != nil {
					t.Fatalf("%v in %s", err, document)
				}
				if stage.Kind != "Stage" || names[stage.Metadata.Name] {
					t.Errorf("document %+v must be a stage with a name of its own", stage)
				}
				names[stage.Metadata.Name] = true
			}
		})
	}
}

func TestTheFirstScriptThatSelectsAPodCounts(t *testing.T) {
	got, err := Stages([]Script{{Name: "a", Pods: "x"}, {Name: "b", Namespace: "n"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`jq: {key: "(true and (.metadata.name | test(\"^x$\")))"`,
		`jq: {key: "((true and (.metadata.name | test(\"^x$\"))) | not) and (true and .metadata.namespace == \"n\")"`,
		`jq: {key: "((true and (.metadata.name | test(\"^x$\"))) | not) and ((true and .metadata.namespace == \"n\") | not) and (true)"`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no stage has the selector %s", want)
		}
	}
}
