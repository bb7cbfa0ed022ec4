package oracle

import (
	"fmt"
	"slices"

	"github.com/seatrial/seatrial/harness/trial"
)

// What a finding shows at most: enough to see what happens, not every time that
// it did.
const (
	firstShown = 10
	lastShown  = 2
	namesShown = 3
	// One crash is as good as the next.
	crashesShown = 3
)

// causes gathers findings so that what has one cause is one finding.
type causes struct {
	order []string
	by    map[string]*cause
}

type cause struct {
	trial.Finding
	// others are the further objects on which the same was found.
	others []string
}

// add notes a finding. The first one of a cause speaks for the others, whose
// objects and evidence are added to it.
func (c *causes) add(key string, f trial.Finding) {
	if c.by == nil {
		c.by = map[string]*cause{}
	}
	known, ok := c.by[key]
	if !ok {
		c.order = append(c.order, key)
		c.by[key] = &cause{Finding: f}
		return
	}
	known.Evidence = append(known.Evidence, f.Evidence...)
	name := f.Object.String()
	if name != known.Object.String() && !slices.Contains(known.others, name) {
		known.others = append(known.others, name)
	}
}

// findings returns one finding a cause, in the order of their first sight.
func (c *causes) findings() []trial.Finding {
	var found []trial.Finding
	for _, key := range c.order {
		known := c.by[key]
		f := known.Finding
		if n := len(known.others); n > 0 {
			f.Summary += fmt.Sprintf(" (the same on %s)", few(known.others))
		}
		f.Evidence = shown(f.Evidence)
		found = append(found, f)
	}
	return found
}

// shown orders evidence and keeps the first and last entries of it.
func shown(evidence []int64) []int64 { return shownOf(evidence, firstShown, lastShown) }

func shownOf(evidence []int64, first, last int) []int64 {
	evidence = slices.Compact(slices.Sorted(slices.Values(evidence)))
	if len(evidence) <= first+last {
		return evidence
	}
	return append(evidence[:first:first], evidence[len(evidence)-last:]...)
}
