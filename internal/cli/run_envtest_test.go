//go:build envtest

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/trial"
)

// watched is an output that calls back when a text has been written to it.
type watched struct {
	bytes.Buffer
	until string
	then  func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.then != nil && strings.Contains(w.String(), w.until) {
		w.then()
		w.then = nil
	}
	return n, err
}

// nothingLeft fails the test when a trial left a directory behind. TMPDIR must
// be short: the paths of unix sockets are.
func nothingLeft(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "st") //nolint:usetesting // short
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(dir, "seatrial-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
}

func TestInputThatIsFoundWrongOnTheWayExitsWithTwo(t *testing.T) {
	nothingLeft(t)
	right := `apiVersion: seatrial.dev/v1alpha1
kind: Operator
metadata: {name: demo}
spec:
  crds: [crd.yaml]
  manifests: [account.yaml]
  samples: [sample.yaml]
  command: [/bin/sh, -c, "echo no such flag; exit 2"]
`
	tests := map[string]struct {
		changes map[string]string
		want    []string
	}{
		"a command that ends at once": {nil, []string{"the operator ended (exit code 2) before it made a request", "no such flag"}},
		"a program that is not there": {
			map[string]string{"seatrial.yaml": strings.Replace(right, "/bin/sh", "/nonexistent/manager", 1)}, []string{"/nonexistent/manager"},
		},
		"a build that fails": {
			map[string]string{"seatrial.yaml": right + "  build: {command: [/bin/sh, -c, 'echo syntax error; exit 1']}\n"},
			[]string{"spec.build.command", "exit code 1", "syntax error"},
		},
		"a variable that does not exist": {
			map[string]string{"seatrial.yaml": right + "  env: [{name: A, value: $(NOPE)}]\n"}, []string{"spec.env.A: unknown variable $(NOPE)"},
		},
		"a CRD that the server refuses": {
			map[string]string{"crd.yaml": strings.Replace(widgetCRD, "name: widgets.example.com", "name: gadgets.example.com", 1)},
			[]string{"crd.yaml: the API server refuses CustomResourceDefinition \"gadgets.example.com\"", "metadata.name"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, stdout, stderr := command(t, "run", "-q", "-f", subjectFile(t, tc.changes))
			if code != ExitUsage || stdout != "" || !strings.HasPrefix(stderr, "seatrial: ") {
				t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q does not say %q", stderr, want)
				}
			}
		})
	}
}

// healthySubject writes a subject file for the healthy operator of the
// fixtures, with one sample of its own.
func healthySubject(t *testing.T, sample string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	fixtures := filepath.Join(root, "fixtures/mutant")
	return subjectFile(t, map[string]string{"sample.yaml": sample, "seatrial.yaml": `apiVersion: seatrial.dev/v1alpha1
kind: Operator
metadata: {name: healthy}
spec:
  crds: [` + fixtures + `/internal/config/crd]
  manifests: [` + fixtures + `/internal/config/rbac]
  build: {command: [go, build, -o, $(WORKDIR)/operator, .], directory: ` + fixtures + `/healthy}
  command: [$(WORKDIR)/operator]
  samples: [sample.yaml]
`})
}

func TestASampleThatTheServerRefusesExitsWithTwo(t *testing.T) {
	nothingLeft(t)
	const widget = "apiVersion: fixtures.seatrial.dev/v1alpha1\nkind: Widget\nmetadata: {name: w}\nspec: "
	for name, tc := range map[string]struct{ sample, want string }{
		"a field that the schema lacks": {widget + "{colour: red}\n", ".spec.colour: field not declared in schema"},
		"a value out of bounds":         {widget + "{size: 99}\n", "spec.size: Invalid value: 99"},
		"a value of another type":       {widget + "{size: many}\n", ".spec.size"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, "run", "-q", "-f", healthySubject(t, tc.sample), "-o", t.TempDir())
			if code != ExitUsage || stdout != "" || !strings.Contains(stderr, `sample.yaml: the API server refuses Widget "w": `) || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit code %d, output %q, errors %q; want %q", code, stdout, stderr, tc.want)
			}
		})
	}
}

func TestASampleWhoseNameTheServerMakesUpIsDeletedToo(t *testing.T) {
	nothingLeft(t)
	file := healthySubject(t, "apiVersion: fixtures.seatrial.dev/v1alpha1\nkind: Widget\nmetadata: {generateName: w-}\nspec: {}\n")
	code, stdout, stderr := command(t, "run", "-q", "-f", file, "-o", t.TempDir(), "--observe-for", "1s")
	if code != ExitOK {
		t.Errorf("exit code %d, output %s, errors %s", code, stdout, stderr)
	}
}

// TestAnInterruptEndsATrialWithAPartialReport interrupts a trial in each of its
// phases.
func TestAnInterruptEndsATrialWithAPartialReport(t *testing.T) {
	nothingLeft(t)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"prepare", "install", "start", "converge", "observe", "delete"} {
		t.Run(phase, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			errs := &watched{until: "\n" + phase + " ", then: cancel}
			errs.WriteString("\n")
			var out bytes.Buffer
			began := time.Now()
			code := Run(ctx, []string{"run", "-f", filepath.Join(root, "fixtures/mutant/healthy/seatrial.yaml"), "-o", dir, "--observe-for", "1s"}, Streams{Out: &out, Err: errs})
			if code != ExitInconclusive {
				t.Fatalf("exit code %d, want %d: %s", code, ExitInconclusive, errs.String())
			}
			t.Logf("ended after %v", time.Since(began))
			checkPartial(t, filepath.Join(dir, "report.json"))
			if !strings.Contains(out.String(), "interrupted") {
				t.Errorf("the summary does not say that it was interrupted: %s", out.String())
			}
		})
	}
}

func checkPartial(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rep report.Report
	if err := json.Unmarshal(content, &rep); err != nil {
		t.Fatal(err)
	}
	if !rep.Partial || !strings.Contains(rep.PartialReason, "interrupted") {
		t.Errorf("partial is %v because %q", rep.Partial, rep.PartialReason)
	}
	if len(rep.Results) != len(checks()) {
		t.Errorf("the report has %d checks, want all %d", len(rep.Results), len(checks()))
	}
	for _, r := range rep.Results {
		if r.Verdict == trial.Pass || r.Verdict == trial.Inconclusive && r.Reason == "" {
			t.Errorf("%s is %s (%q): a trial that was cut short passes nothing, and says why", r.Check.ID, r.Verdict, r.Reason)
		}
	}
}
