package conformance_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/conformance"
	"github.com/seatrial/seatrial/harness/trial"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestCatalogueGolden makes a change of the catalogue, which changes other
// people's verdicts, visible as one.
func TestCatalogueGolden(t *testing.T) {
	golden := filepath.Join("testdata", "catalogue.golden.json")
	checks := []trial.Check{}
	for _, invariant := range conformance.Catalogue() {
		checks = append(checks, invariant.Check)
	}
	got, err := json.MarshalIndent(struct {
		Version string        `json:"version"`
		Checks  []trial.Check `json:"checks"`
	}{conformance.Version, checks}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the catalogue changed; if it should, give it a new Version and run go test ./conformance -update (-want +got):\n%s", diff)
	}
}

var kebab = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func TestEveryCheckIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, invariant := range conformance.Catalogue() {
		t.Run(invariant.ID, func(t *testing.T) {
			if !kebab.MatchString(invariant.ID) {
				t.Errorf("ID %q is not kebab-case", invariant.ID)
			}
			if seen[invariant.ID] {
				t.Errorf("ID %q stands twice", invariant.ID)
			}
			seen[invariant.ID] = true
			if _, err := os.Stat(strings.ReplaceAll(invariant.ID, "-", "_") + ".go"); err != nil {
				t.Errorf("a check stands in the file of its name: %v", err)
			}
			if invariant.Judge == nil {
				t.Error("it has no judge")
			}
			checkWords(t, invariant.Check)
		})
	}
}

func checkWords(t *testing.T, c trial.Check) {
	t.Helper()
	if !strings.Contains(c.Sentence, string(c.Strength)) || !strings.HasSuffix(c.Sentence, ".") {
		t.Errorf("the sentence %q must be one, and have the word %s", c.Sentence, c.Strength)
	}
	if other := map[trial.Strength]trial.Strength{trial.Must: trial.Should, trial.Should: trial.Must}[c.Strength]; strings.Contains(c.Sentence, string(other)) {
		t.Errorf("the sentence %q must not have the word %s", c.Sentence, other)
	}
	if _, err := trial.ParseLevel(string(c.Level)); err != nil {
		t.Error(err)
	}
	for what, text := range map[string]string{"why": c.Why, "fix": c.Fix} {
		if !strings.HasSuffix(text, ".") || strings.Contains(text, "  ") {
			t.Errorf("%s must be sentences, not %q", what, text)
		}
	}
	if len(c.Provenance) == 0 {
		t.Error("it does not say where the rule comes from")
	}
}

// TestEveryCheckHasAMutant holds every check to failing something.
func TestEveryCheckHasAMutant(t *testing.T) {
	for _, invariant := range conformance.Catalogue() {
		t.Run(invariant.ID, func(t *testing.T) {
			if len(invariant.Mutants) == 0 {
				t.Error("a check that kills no mutant is decoration")
			}
			for _, mutant := range invariant.Mutants {
				for _, file := range []string{"main.go", "seatrial.yaml"} {
					if _, err := os.Stat(filepath.Join("..", "fixtures", "mutant", mutant, file)); err != nil {
						t.Errorf("mutant %s: %v", mutant, err)
					}
				}
			}
		})
	}
}

// TestEveryMutantIsNamed keeps a mutant from being forgotten: one that no check
// names proves nothing.
func TestEveryMutantIsNamed(t *testing.T) {
	var named []string
	for _, invariant := range conformance.Catalogue() {
		named = append(named, invariant.Mutants...)
	}
	dirs, err := filepath.Glob(filepath.Join("..", "fixtures", "mutant", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, main := range dirs {
		name := filepath.Base(filepath.Dir(main))
		if name != "healthy" && !slices.Contains(named, name) {
			t.Errorf("no check names the mutant %s", name)
		}
	}
}
