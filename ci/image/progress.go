package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

const (
	// quiet is how long something may take before it is mentioned.
	quiet = 2 * time.Second
	// again is how often it is mentioned after that.
	again = 15 * time.Second
)

// stages tells, in lines, what takes long.
type stages struct{ out io.Writer }

// do runs the work, and says what it is if it takes long.
func (s stages) do(ctx context.Context, what string, work func() error) error {
	ctx, done := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		s.tell(ctx, what)
	}()
	err := work()
	done()
	<-told
	return err
}

func (s stages) tell(ctx context.Context, what string) {
	start := time.Now()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			fmt.Fprintf(s.out, "%s (%v so far)\n", what, time.Since(start).Round(time.Second))
			timer.Reset(again)
		}
	}
}
