package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs seatrial and returns its exit code and what it wrote.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

const widgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 5}}}}}}}
`

// subjectFile lays out a subject that is right but for the changes: file names
// and what to put in them, nothing meaning to leave the file out.
func subjectFile(t *testing.T, changes map[string]string) string {
	t.Helper()
	files := map[string]string{
		"seatrial.yaml": `apiVersion: seatrial.dev/v1alpha1
kind: Operator
metadata: {name: demo}
spec:
  crds: [crd.yaml]
  manifests: [account.yaml]
  samples: [sample.yaml]
  command: [/bin/sh, -c, "echo no such flag; exit 2"]
`,
		"crd.yaml":     widgetCRD,
		"account.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: demo, namespace: demo}}\n",
		"sample.yaml":  "{apiVersion: example.com/v1, kind: Widget, metadata: {name: sample}, spec: {size: 1}}\n",
	}
	dir := t.TempDir()
	maps.Copy(files, changes)
	for name, content := range files {
		if content == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "seatrial.yaml")
}

func TestWrongUsageIsOneLineAndExitsWithTwo(t *testing.T) {
	right := subjectFile(t, nil)
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown command":            {[]string{"runn"}, `unknown command "runn" for "seatrial" (see seatrial --help)`},
		"an unknown flag":               {[]string{"run", "--fiel", "x"}, "unknown flag: --fiel (see seatrial run --help)"},
		"an argument too many":          {[]string{"run", "x"}, "see seatrial run --help"},
		"a check that does not exist":   {[]string{"explain", "quiet"}, `no check is named "quiet": the checks are `},
		"no check to explain":           {[]string{"explain"}, "see seatrial explain --help"},
		"a form that does not exist":    {[]string{"list", "-o", "xml"}, `unknown form "xml"`},
		"no subject file":               {[]string{"run"}, "-f must name a subject file"},
		"a subject file that is absent": {[]string{"run", "-f", "/nonexistent.yaml"}, "/nonexistent.yaml: no such file"},
		"an unknown Kubernetes version": {[]string{"run", "-f", right, "--kubernetes", "1.2"}, `unknown Kubernetes version "1.2": known are v1.34`},
		"an unknown level":              {[]string{"run", "-f", right, "--level", "moon"}, `--level: unknown level "moon": must be one of apiserver, controlplane`},
		"a level that cannot be run":    {[]string{"run", "-f", right, "--level", "kind"}, "--level kind cannot be run yet"},
		"a check that cannot be judged": {[]string{"run", "-f", right, "--check", "quiet"}, `--check: no check is named "quiet"`},
		"a source that does not exist":  {[]string{"run", "-f", right, "--source", "moon"}, "--source: "},
		"pod life that is absent":       {[]string{"run", "-f", right, "--pod-life", "/nonexistent.yaml"}, "--pod-life: "},
		"pod life without pods":         {[]string{"run", "-f", right, "--pod-life", "x", "--level", "apiserver"}, "--pod-life needs --level controlplane"},
		"no time to watch":              {[]string{"run", "-f", right, "--observe-for", "0s"}, "--observe-for 0s must be more than nothing"},
		"several releases":              {[]string{"run", "-f", right, "--kubernetes", "all"}, `--kubernetes "all" must name one release`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, tc.args...)
			if code != ExitUsage || stdout != "" {
				t.Errorf("exit code %d and output %q, want %d and none", code, stdout, ExitUsage)
			}
			if !strings.HasPrefix(stderr, "seatrial: ") || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("got %q, want one line with %q", stderr, tc.want)
			}
		})
	}
}

func TestAWrongSubjectFileIsOneLineAndExitsWithTwo(t *testing.T) {
	t.Chdir(t.TempDir())
	tests := map[string]struct {
		changes map[string]string
		want    string
	}{
		"an unknown field": {
			map[string]string{"seatrial.yaml": "apiVersion: seatrial.dev/v1alpha1\nkind: Operator\nnanme: x\n"}, `line 3: unknown field "nanme"`,
		},
		"a CRD file that is absent": {map[string]string{"crd.yaml": ""}, "spec.crds[0]: "},
		"a sample of another kind": {
			map[string]string{"sample.yaml": "{apiVersion: other.io/v1, kind: Gadget, metadata: {name: x}}\n"}, `Gadget.other.io "x" is not of the subject's kinds (Widget.example.com)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := command(t, "run", "-f", subjectFile(t, tc.changes))
			if code != ExitUsage || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d and %q, want %d and one line with %q", code, stderr, ExitUsage, tc.want)
			}
		})
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestProgramsThatAreNowhereToBeHadExitWithTwo(t *testing.T) {
	t.Setenv("SEATRIAL_CACHE", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := command(t, "run", "-q", "-f", subjectFile(t, nil), "--source", "cache", "-o", out)
	if code != ExitUsage || stdout != "" || !strings.Contains(stderr, "no source has ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the output directory is left behind: %v", err)
	}
}

func TestHelpExitsWithZeroAndGoesToStandardOutput(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"run", "--help"}, {"assets"}, {"explain", "--help"}} {
		code, stdout, stderr := command(t, args...)
		if code != ExitOK || !strings.Contains(stdout, "Usage:") || stderr != "" {
			t.Errorf("%v: exit code %d, output %q, errors %q", args, code, stdout, stderr)
		}
	}
}

func TestListAndExplainShowEveryCheck(t *testing.T) {
	_, list, _ := command(t, "list")
	_, asJSON, _ := command(t, "list", "-o", "json")
	for _, c := range checks() {
		_, explained, _ := command(t, "explain", c.ID)
		for where, text := range map[string]string{"list": list, "list -o json": asJSON, "explain": explained} {
			if !strings.Contains(text, c.ID) || !strings.Contains(text, c.Sentence) {
				t.Errorf("%s does not show %s", where, c.ID)
			}
		}
	}
}
