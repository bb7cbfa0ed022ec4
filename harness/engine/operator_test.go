package engine

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/process"
)

// recorded collects process events from any goroutine.
type recorded struct {
	mu     sync.Mutex
	events []history.Process
}

func (r *recorded) record(p *history.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, *p)
}

func (r *recorded) all() []history.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]history.Process{}, r.events...)
}

// scripted returns an operator whose program is a shell script.
func scripted(t *testing.T, script string) (*operator, *recorded) {
	t.Helper()
	group, err := process.NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &recorded{}
	spec := process.Spec{Command: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	return newOperator(group, spec, r.record, func() {}), r
}

var ignorePID = cmpopts.IgnoreFields(history.Process{}, "PID")

func TestAnOperatorThatEndsBeforeItsFirstRequestIsWrongInput(t *testing.T) {
	o, r := scripted(t, "echo no such flag: --metrics; exit 2")
	if err := o.start(); err != nil {
		t.Fatal(err)
	}
	err := o.awaitFirstRequest(t.Context(), time.Minute)
	want := "the operator ended (exit code 2) before it made a request; its last log lines:\nno such flag: --metrics"
	var input *InputError
	if !errors.As(err, &input) || err.Error() != want {
		t.Errorf("got %v, want an InputError %q", err, want)
	}
	if got := len(r.all()); got != 2 {
		t.Errorf("recorded %d events, want a start and an exit", got)
	}
}

func TestAnOperatorThatStaysSilentIsWrongInput(t *testing.T) {
	o, _ := scripted(t, "echo waiting for godot; sleep 1000")
	if err := o.start(); err != nil {
		t.Fatal(err)
	}
	err := o.awaitFirstRequest(t.Context(), 300*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "made no request to the API server within 300ms: does it read KUBECONFIG?; its last log lines:\nwaiting for godot") {
		t.Errorf("got %v", err)
	}
	if err := o.stop(t.Context(), time.Second); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatCannotBeStartedIsWrongInput(t *testing.T) {
	o, _ := scripted(t, "")
	o.spec.Command = []string{"/nonexistent/manager"}
	var input *InputError
	if err := o.start(); !errors.As(err, &input) || !strings.Contains(err.Error(), "/nonexistent/manager") {
		t.Errorf("got %v, want an InputError that names the program", err)
	}
}

func TestAnOperatorThatEndsByItselfIsStartedAgainAndAPanicIsRecorded(t *testing.T) {
	marker := t.TempDir() + "/ran"
	o, r := scripted(t, "if [ -e "+marker+" ]; then sleep 1000; fi; touch "+marker+
		"; printf 'panic: boom\\n\\ngoroutine 1 [running]:\\nmain.main()\\n' >&2; exit 2")
	o.requested() // it talked, so its end is not wrong input
	if err := o.start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	for len(r.all()) < 4 {
		select {
		case <-deadline:
			t.Fatalf("recorded only %+v", r.all())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := o.stop(t.Context(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	trace := []string{"panic: boom", "", "goroutine 1 [running]:", "main.main()"}
	want := []history.Process{
		{Event: history.ProcessStarted},
		{Event: history.ProcessPanicked, Lines: trace},
		{Event: history.ProcessExited, ExitCode: 2, Lines: trace},
		{Event: history.ProcessStarted},
		{Event: history.ProcessExited, ExitCode: -1, Signal: "terminated", Asked: true, Lines: []string{}},
	}
	if diff := cmp.Diff(want, r.all(), ignorePID, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestAnOperatorIsStoppedInTheMiddleOfItsBackOff(t *testing.T) {
	o, r := scripted(t, "exit 1")
	o.requested()
	if err := o.start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	for len(r.all()) < 4 { // two starts and exits: now it waits for a second
		select {
		case <-deadline:
			t.Fatalf("recorded only %+v", r.all())
		case <-time.After(5 * time.Millisecond):
		}
	}
	started := time.Now()
	if err := o.stop(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(started); took > 900*time.Millisecond {
		t.Errorf("stopping took %v", took)
	}
}
