package engine

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// activity gathers, from any goroutine, that something happened at the API,
// and wakes whoever waits for rest.
type activity struct {
	mu       sync.Mutex
	quiet    *quiet
	inFlight int
	// nudge has room for one: a waiter that was nudged looks at everything.
	nudge chan struct{}
}

func newActivity() *activity {
	return &activity{quiet: newQuiet(time.Now()), nudge: make(chan struct{}, 1)}
}

// begin starts a phase: what happened before it says nothing about its rhythm.
func (a *activity) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.quiet = newQuiet(time.Now())
}

// happened notes one activity.
func (a *activity) happened() {
	a.mu.Lock()
	a.quiet.activity(time.Now())
	a.mu.Unlock()
	a.wake()
}

// flight notes that a request that asks for a change began (+1) or ended (-1).
func (a *activity) flight(delta int) {
	a.mu.Lock()
	a.inFlight += delta
	a.quiet.activity(time.Now())
	a.mu.Unlock()
	a.wake()
}

func (a *activity) wake() {
	select {
	case a.nudge <- struct{}{}:
	default:
	}
}

// rest returns when the API will count as quiet, and whether it can: with a
// request in flight it cannot.
func (a *activity) rest() (due time.Time, possible bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.quiet.due(), a.inFlight == 0
}

// outcome is how a wait for rest ended.
type outcome struct {
	// settled: the goal was reached and the API is quiet.
	settled bool
	// reached: the goal was reached, whether or not the API got quiet.
	reached bool
	// missing says what the wait ended without.
	missing string
}

// goal tells whether what is waited for is there, and if not, what is missing.
type goal func() (reached bool, missing string)

// settle waits until the goal is reached and the API is quiet. It ends early
// when it has been reached for settleWithin without the API getting quiet, and
// at the deadline. Its error is the context's.
func (a *activity) settle(ctx context.Context, g goal, within, settleWithin time.Duration) (outcome, error) {
	deadline := time.Now().Add(within)
	var reachedAt time.Time
	for {
		now := time.Now()
		reached, missing := g()
		due, possible := a.rest()
		wake := deadline
		switch {
		case !reached:
			reachedAt = time.Time{}
		case reachedAt.IsZero():
			reachedAt = now
		}
		if reached {
			if possible && !now.Before(due) {
				return outcome{settled: true, reached: true}, nil
			}
			busy := reachedAt.Add(settleWithin)
			if !now.Before(busy) {
				return outcome{reached: true, missing: fmt.Sprintf("the API did not get quiet within %v", settleWithin)}, nil
			}
			wake = earliest(wake, busy)
			if possible {
				wake = earliest(wake, due)
			}
		}
		if !now.Before(deadline) {
			return outcome{reached: reached, missing: missing}, nil
		}
		if err := a.pause(ctx, wake.Sub(now)); err != nil {
			return outcome{missing: missing}, err
		}
	}
}

// pause waits until something happens, but at most for d.
func (a *activity) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.nudge:
	case <-timer.C:
	}
	return nil
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
