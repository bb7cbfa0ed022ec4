package engine

import (
	"slices"
	"time"
)

// The bounds of the time for which nothing may happen before an API counts as
// quiet.
const (
	// quietFloor is long enough for a watch event to travel and be answered.
	quietFloor = time.Second
	// quietCeiling keeps one slow step from stretching every wait.
	quietCeiling = 5 * time.Second
	// quietFactor times the longest usual pause between two activities is how
	// long a pause must be to mean that no activity follows.
	quietFactor = 3
)

// quiet tells when an API that was busy has come to rest. The time it asks for
// adapts to the rhythm that it has seen: an operator that pauses for 0.8 s
// between two steps is not at rest after one second.
type quiet struct {
	last time.Time
	gaps []time.Duration
}

// newQuiet begins a phase at now.
func newQuiet(now time.Time) *quiet { return &quiet{last: now} }

// activity notes that something happened. The pause before the first activity
// of a phase is the phase's own latency, not the subject's rhythm, yet the
// same bound holds for it: it is counted like the others.
func (q *quiet) activity(at time.Time) {
	if at.Before(q.last) {
		return
	}
	q.gaps = append(q.gaps, at.Sub(q.last))
	q.last = at
}

// window is how long nothing may happen for the API to count as quiet.
func (q *quiet) window() time.Duration {
	usual := percentile(q.gaps, 99)
	return min(max(quietFloor, quietFactor*usual), quietCeiling)
}

// due is when the API will count as quiet if nothing happens until then.
func (q *quiet) due() time.Time { return q.last.Add(q.window()) }

// percentile returns the nearest-rank percentile of durations, 0 of none.
func percentile(durations []time.Duration, p int) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[(len(sorted)*p+99)/100-1]
}
