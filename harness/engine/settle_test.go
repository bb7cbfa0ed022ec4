package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func reached() (bool, string) { return true, "" }

// pulse disturbs the API every so often, n times or until the context ends.
func pulse(ctx context.Context, a *activity, n int, every time.Duration) {
	for range n {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
			a.happened()
		}
	}
}

func TestSettle(t *testing.T) {
	const within, settleWithin = time.Minute, 15 * time.Second
	tests := map[string]struct {
		goal goal
		// play disturbs the API while settle waits.
		play     func(ctx context.Context, a *activity)
		want     outcome
		wantTook time.Duration
	}{
		"a goal that is there and an API that is quiet settle after the floor": {
			goal:     reached,
			play:     func(context.Context, *activity) {},
			want:     outcome{settled: true, reached: true},
			wantTook: quietFloor,
		},
		"each activity starts the quiet time anew, and a slow rhythm asks for a longer one": {
			goal:     reached,
			play:     func(ctx context.Context, a *activity) { pulse(ctx, a, 3, 800*time.Millisecond) },
			want:     outcome{settled: true, reached: true},
			wantTook: 3*800*time.Millisecond + quietFactor*800*time.Millisecond,
		},
		"a request in flight keeps the API from being quiet": {
			goal: reached,
			play: func(_ context.Context, a *activity) {
				a.flight(+1)
				time.AfterFunc(4*time.Second, func() { a.flight(-1) })
			},
			want:     outcome{settled: true, reached: true},
			wantTook: 4*time.Second + quietCeiling,
		},
		"an API that never gets quiet is given up on once the goal has been there for long": {
			goal:     reached,
			play:     func(ctx context.Context, a *activity) { pulse(ctx, a, 100, 500*time.Millisecond) },
			want:     outcome{reached: true, missing: "the API did not get quiet within 15s"},
			wantTook: settleWithin,
		},
		"a goal that is never reached ends at the deadline and says what is missing": {
			goal:     func() (bool, string) { return false, "condition Ready is absent" },
			play:     func(context.Context, *activity) {},
			want:     outcome{missing: "condition Ready is absent"},
			wantTook: within,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newActivity()
				start := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go tc.play(ctx, a)
				got, err := a.settle(t.Context(), tc.goal, within, settleWithin)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(outcome{})); diff != "" {
					t.Error(diff)
				}
				if took := time.Since(start); took != tc.wantTook {
					t.Errorf("took %v, want %v", took, tc.wantTook)
				}
			})
		})
	}
}

func TestSettleEndsAtOnceWhenItsContextDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		start := time.Now()
		time.AfterFunc(3*time.Second, func() { cancel(cause) })
		_, err := newActivity().settle(ctx, func() (bool, string) { return false, "" }, time.Minute, time.Minute)
		if !errors.Is(err, cause) || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %v, want %v after 3s", err, time.Since(start), cause)
		}
	})
}

func TestGoalLostAndReachedAgainStartsTheBusyTimeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newActivity()
		start := time.Now()
		lost := func() bool { d := time.Since(start); return d > 10*time.Second && d < 12*time.Second }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go pulse(ctx, a, 200, 500*time.Millisecond)
		got, err := a.settle(t.Context(), func() (bool, string) { return !lost(), "gone" }, time.Minute, 15*time.Second)
		if err != nil || !got.reached || got.settled {
			t.Fatalf("got %+v, %v", got, err)
		}
		if took := time.Since(start); took != 27*time.Second {
			t.Errorf("took %v, want 15s from when the goal was reached again", took)
		}
	})
}
