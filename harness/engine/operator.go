package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/process"
)

// restartDelays are how long a subject that ended by itself waits for its next
// start, as a kubelet would have it wait, though shorter. After the last one
// it is given up on.
var restartDelays = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// tailKept is how many of the last log lines an error carries.
const tailKept = 20

// operator keeps the subject's process running: it starts it again when it
// ends by itself, and notes each start, exit and panic in the history.
type operator struct {
	spec   process.Spec
	group  *process.Group
	record func(*history.Process)
	// wake tells whoever waits that something has changed.
	wake func()

	mu       sync.Mutex
	process  *process.Process
	stopping bool
	gaveUp   string
	tail     []string
	talked   bool
	// first is closed at the first request, over when the subject is given up
	// on or was stopped.
	first, over chan struct{}
	// stopped is closed when the subject is asked to end.
	stopped chan struct{}
}

func newOperator(group *process.Group, spec process.Spec, record func(*history.Process), wake func()) *operator {
	o := &operator{
		spec: spec, group: group, record: record, wake: wake,
		first: make(chan struct{}), over: make(chan struct{}), stopped: make(chan struct{}),
	}
	panics := &panicScanner{found: func(lines []string) {
		record(&history.Process{Event: history.ProcessPanicked, Lines: lines})
	}}
	o.spec.OnLine = panics.line
	o.spec.OnEnd = panics.end
	return o
}

// start starts the process and keeps it running until stop.
func (o *operator) start() error {
	p, err := o.launch()
	if err != nil {
		return &InputError{fmt.Errorf("starting the operator: %w", err)}
	}
	go o.keep(p)
	return nil
}

// launch returns nil once the subject was asked to end.
func (o *operator) launch() (*process.Process, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopping {
		return nil, nil
	}
	p, err := o.group.Start(o.spec)
	if err != nil {
		return nil, err
	}
	o.process = p
	o.record(&history.Process{Event: history.ProcessStarted, PID: p.PID()})
	return p, nil
}

// keep waits for the process to end, and starts it again unless it was asked
// to end or has ended too often.
func (o *operator) keep(p *process.Process) {
	defer close(o.over)
	for restarts := 0; ; restarts++ {
		<-p.Done()
		if o.ended(p, restarts) {
			return
		}
		select {
		case <-time.After(restartDelays[restarts]):
		case <-o.stopped:
			return
		}
		next, err := o.launch()
		switch {
		case err != nil:
			o.giveUp(fmt.Sprintf("the operator cannot be started again: %v", err), nil)
			return
		case next == nil:
			return
		}
		p = next
	}
}

// ended notes an exit and reports whether it was the last.
func (o *operator) ended(p *process.Process, restarts int) bool {
	exit := p.Exit()
	o.mu.Lock()
	asked, talked := o.stopping, o.talked
	o.mu.Unlock()
	o.record(&history.Process{
		Event: history.ProcessExited, PID: p.PID(), ExitCode: exit.Code, Signal: exit.Signal,
		Asked: asked, Lines: p.Tail(tailKept),
	})
	switch {
	case asked:
		return true
	case !talked:
		o.giveUp(fmt.Sprintf("the operator ended (%s) before it made a request", exit), p.Tail(tailKept))
		return true
	case restarts == len(restartDelays):
		o.giveUp(fmt.Sprintf("the operator ended by itself %d times, at last with %s", restarts+1, exit), p.Tail(tailKept))
		return true
	}
	return false
}

func (o *operator) giveUp(why string, tail []string) {
	o.mu.Lock()
	if o.gaveUp == "" {
		o.gaveUp, o.tail = why, tail
	}
	o.mu.Unlock()
	o.wake()
}

// givenUp reports why the subject is no longer started again, if so.
func (o *operator) givenUp() (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gaveUp, o.gaveUp != ""
}

// requested notes that the subject talks to the API server.
func (o *operator) requested() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.talked {
		o.talked = true
		close(o.first)
	}
}

// awaitFirstRequest waits until the subject talks to the API server. One that
// ends or stays silent instead is wrong input: nothing can be judged of it.
func (o *operator) awaitFirstRequest(ctx context.Context, within time.Duration) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-o.first:
		return nil
	case <-o.over:
		o.mu.Lock()
		defer o.mu.Unlock()
		return inputErrorf("%s%s", o.gaveUp, logLines(o.tail))
	case <-timer.C:
		o.mu.Lock()
		defer o.mu.Unlock()
		return inputErrorf("the operator made no request to the API server within %v: does it read KUBECONFIG?%s",
			within, logLines(o.process.Tail(tailKept)))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// logLines sets the last lines of a log under an error.
func logLines(lines []string) string {
	if len(lines) == 0 {
		return "; its log is empty"
	}
	return "; its last log lines:\n" + strings.Join(lines, "\n")
}

// stop asks the subject to end and kills it after grace. It does nothing where
// it was never started.
func (o *operator) stop(ctx context.Context, grace time.Duration) error {
	o.mu.Lock()
	if !o.stopping {
		o.stopping = true
		close(o.stopped)
	}
	p := o.process
	o.mu.Unlock()
	if p == nil {
		return nil
	}
	err := p.Stop(ctx, grace)
	select {
	case <-o.over:
	case <-ctx.Done():
	}
	return err
}
