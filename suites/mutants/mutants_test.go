//go:build envtest

package mutants

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/conformance"
	"github.com/seatrial/seatrial/harness/cluster"
	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/engine"
	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/subject"
	"github.com/seatrial/seatrial/harness/trial"
)

// killers returns, for each mutant, the checks that name it.
func killers() map[string][]string {
	found := map[string][]string{}
	for _, check := range conformance.Catalogue() {
		for _, mutant := range check.Mutants {
			found[mutant] = append(found[mutant], check.ID)
		}
	}
	return found
}

func TestEachMutantIsKilledByItsCheckAndByNoOther(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "mutant", "*", "seatrial.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Fatal("KUBEBUILDER_ASSETS must name a directory with the programs: use make mutants")
	}
	templates, want, seen := t.TempDir(), killers(), map[string]bool{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep := try(t, file, assets, templates)
			var failed []string
			for _, result := range rep.Results {
				switch result.Verdict {
				case trial.Fail:
					failed = append(failed, result.Check.ID)
				case trial.Inconclusive:
					t.Errorf("%s is inconclusive: %s", result.Check.ID, result.Reason)
				default:
				}
			}
			if diff := cmp.Diff(want[name], failed); diff != "" {
				t.Errorf("the checks that failed differ (-want +got):\n%s", diff)
			}
			if t.Failed() {
				if err := report.WriteText(t.Output(), rep, report.TextOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("no operator in fixtures/mutant is named %s", name)
		}
	}
	if !slices.Contains(files, filepath.Join("..", "..", "fixtures", "mutant", "healthy", "seatrial.yaml")) {
		t.Error("there is no healthy operator to tell a judge that always fails from one that judges")
	}
}

// try puts one operator on trial.
func try(t *testing.T, file, assets, templates string) *report.Report {
	t.Helper()
	s, err := subject.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp("", "seatrial-") //nolint:usetesting // the engine removes it, with its programs' sockets
	if err != nil {
		t.Fatal(err)
	}
	rep, err := engine.Run(t.Context(), engine.Options{
		Subject:   s,
		Catalogue: conformance.Catalogue(),
		Dir:       t.TempDir(),
		WorkDir:   work,
		StartCluster: func(ctx context.Context) (cluster.Cluster, []report.Program, error) {
			c, err := local.Start(ctx, local.Options{
				Level: trial.LevelControlPlane, Programs: local.ProgramsIn(assets), TemplateDir: templates,
			})
			return c, nil, err
		},
		Progress: func(e engine.Event) {
			if e.Message != "" {
				t.Logf("%s: %s", e.Phase, e.Message)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}
