package subject

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/strictyaml"
	"github.com/seatrial/seatrial/harness/trial"
)

// summaries are the condition types that by convention sum up the others, in
// the order in which they are looked for where the subject file names none.
var summaries = []string{"Ready", "Available", "Succeeded", "Complete"}

// Readiness tells whether a custom resource has reached what its author
// wanted, and if not, what is missing.
type Readiness func(resource *unstructured.Unstructured) (ready bool, missing string)

// checkReady compiles the readiness once, so that a wrong expression is found
// before anything starts.
func (r *Resolved) checkReady() error {
	if r.Spec.Ready == nil && len(r.Samples) > 0 {
		r.inferf("a sample counts as ready when its first condition out of %v is True; one that has none, when the API is quiet", summaries)
	}
	_, err := r.Readiness()
	return err
}

// Readiness returns the subject's rule.
func (r *Resolved) Readiness() (Readiness, error) {
	switch spec := r.Spec.Ready; {
	case spec == nil:
		return readyByConvention, nil
	case spec.Condition != "":
		return func(u *unstructured.Unstructured) (bool, string) { return conditionTrue(u, spec.Condition) }, nil
	default:
		return readyByCEL(*spec)
	}
}

func readyByConvention(u *unstructured.Unstructured) (bool, string) {
	for _, name := range summaries {
		if _, found := condition(u, name); found {
			return conditionTrue(u, name)
		}
	}
	return true, ""
}

// conditionTrue reports whether the condition holds for the current spec: a
// condition or a status that was computed for an older generation does not
// count (API conventions, "observedGeneration").
func conditionTrue(u *unstructured.Unstructured, name string) (bool, string) {
	c, found := condition(u, name)
	if !found {
		return false, fmt.Sprintf("condition %s is absent", name)
	}
	if status, _ := c["status"].(string); status != "True" {
		return false, fmt.Sprintf("condition %s is %q: %v: %v", name, status, c["reason"], c["message"])
	}
	observed, found := c["observedGeneration"].(int64)
	if !found {
		observed, found, _ = unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	}
	if found && observed < u.GetGeneration() {
		return false, fmt.Sprintf("condition %s is True for generation %d, the resource is at %d", name, observed, u.GetGeneration())
	}
	return true, ""
}

func condition(u *unstructured.Unstructured, name string) (map[string]any, bool) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	i := slices.IndexFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == name
	})
	if i < 0 {
		return nil, false
	}
	return conditions[i].(map[string]any), true
}

// readyByCEL compiles an expression over self. An expression that cannot be
// evaluated yet, because a field is absent, is not ready.
func readyByCEL(spec trial.Ready) (Readiness, error) {
	env, err := cel.NewEnv(cel.Variable("self", cel.DynType), cel.OptionalTypes(), ext.Strings(), ext.Lists(), ext.Sets())
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(spec.CEL)
	if issues.Err() != nil {
		return nil, fmt.Errorf("spec.ready.cel: %w", strictyaml.OneLine(issues.Err()))
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("spec.ready.cel: must yield a bool, not %s", t)
	}
	program, err := env.Program(ast)
	if err != nil {
		return nil, fmt.Errorf("spec.ready.cel: %w", err)
	}
	return func(u *unstructured.Unstructured) (bool, string) {
		result, _, err := program.Eval(map[string]any{"self": u.Object})
		if err != nil {
			return false, fmt.Sprintf("%s: %v", spec.CEL, err)
		}
		if ready, ok := result.Value().(bool); ok && ready {
			return true, ""
		}
		return false, fmt.Sprintf("%s is %v", spec.CEL, result.Value())
	}, nil
}
