package oracle

import (
	"errors"
	"fmt"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// ObservedGeneration finds statuses that do not say truly for which generation
// they hold (class E1): ahead of the generation in any version, or behind it
// once the operator is at rest. A condition need not have an
// observedGeneration, but the same holds for one that has.
func ObservedGeneration(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	objects := customs(h, o, version.NewIndex(h), trial.FeatureStatus, trial.FeatureObservedGeneration)
	var found causes
	for _, object := range objects {
		for _, c := range object {
			ahead(&found, c)
		}
	}
	w, err := rest(h)
	if err == nil {
		err = errors.New("there was no custom resource with status.observedGeneration to judge")
		for _, object := range objects {
			if last, there := at(h, object, w.to.Seq); there {
				err = nil
				behind(&found, last)
			}
		}
	}
	if findings := found.findings(); len(findings) > 0 {
		return findings, nil
	}
	return nil, err
}

func ahead(found *causes, c custom) {
	resource := resourceName(c.Ref.Group, c.Ref.Resource)
	note := func(path string, observed *int64) {
		if observed == nil || *observed <= c.Metadata.Generation {
			return
		}
		found.add("ahead "+resource+path, trial.Finding{
			Summary: fmt.Sprintf("%s has %s %d at generation %d, which is ahead of what there is to observe",
				c.Ref, path, *observed, c.Metadata.Generation),
			Object: c.Ref, Paths: []string{path}, Evidence: []int64{c.Seq},
			Expected: "observedGeneration is the metadata.generation of the object that the status was worked out from",
			Hint:     "copy metadata.generation of the object that was reconciled; do not count",
		})
	}
	note(".status.observedGeneration", c.Status.ObservedGeneration)
	for _, condition := range c.Status.Conditions {
		note(conditionPath(condition, "observedGeneration"), condition.ObservedGeneration)
	}
}

func behind(found *causes, c custom) {
	resource := resourceName(c.Ref.Group, c.Ref.Resource)
	note := func(path, state string) {
		found.add("behind "+resource+path, trial.Finding{
			Summary: fmt.Sprintf("%s is at generation %d, yet %s %s", c.Ref, c.Metadata.Generation, path, state),
			Object:  c.Ref, Paths: []string{path}, Evidence: []int64{c.Seq},
			Expected: fmt.Sprintf("at rest, %s is metadata.generation", path),
			Hint:     "set it in every write of the status, also when nothing else in the status changes",
		})
	}
	switch observed := c.Status.ObservedGeneration; {
	case observed == nil:
		note(".status.observedGeneration", "is not set")
	case *observed < c.Metadata.Generation:
		note(".status.observedGeneration", fmt.Sprintf("is still %d", *observed))
	}
	for _, condition := range c.Status.Conditions {
		if observed := condition.ObservedGeneration; observed != nil && *observed < c.Metadata.Generation {
			note(conditionPath(condition, "observedGeneration"), fmt.Sprintf("is still %d", *observed))
		}
	}
}

func conditionPath(c condition, field string) string {
	return fmt.Sprintf(".status.conditions[type=%s].%s", c.Type, field)
}
