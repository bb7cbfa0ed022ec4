package oracle_test

import (
	"strings"
	"testing"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
)

const trace = `panic: runtime error: index out of range [0] with length 0

goroutine 214 [running]:
sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller).Reconcile.func1()
	sigs.k8s.io/controller-runtime@v0.25.2/pkg/internal/controller/controller.go:116 +0x1a8
panic({0x1a2b3c0?, 0xc000412000?})
	/usr/local/go/src/runtime/panic.go:792 +0x124
example.com/demo/internal/controller.(*Reconciler).Reconcile(0xc000412000)
	/src/demo/internal/controller/reconciler.go:91 +0x2f0`

const (
	recovered   = `2026-03-01T12:00:00Z	ERROR	Observed a panic	{"controller": "widget", "panic": "runtime error: index out of range [0] with length 0", "panicGoValue": "runtime.boundsError{}", "stacktrace": "goroutine 77 [running]:\nmain.f()\n\t/usr/local/go/src/runtime/panic.go:1 +0x1\nmain.g()\n\t/src/demo/internal/controller/reconciler.go:91 +0x2f0\n"}`
	loggedAgain = `2026-03-01T12:00:00Z	ERROR	Reconciler error	{"controller": "widget", "error": "panic: runtime error: index out of range [0] with length 0 [recovered]"}`
	klogged     = `E0301 12:00:00.000000       1 panic.go:262] "Observed a panic" panic="assignment to entry in nil map" panicGoValue="x"`
)

func TestNoPanics(t *testing.T) {
	started := history.Process{Event: history.ProcessStarted, PID: 7}
	panics := func(lines ...string) history.Process {
		return history.Process{Event: history.ProcessPanicked, Lines: lines}
	}
	during := func(events ...history.Process) func(s *historytest.Story) {
		return func(s *historytest.Story) {
			s.Starts()
			for _, p := range events {
				s.Process(p)
			}
			s.Rests(nil).Stops()
		}
	}
	judge(t, oracle.NoPanics, map[string]judged{
		"an operator that runs until it is asked to end": {tell: during()},
		"a panic that ends the process is one finding": {
			tell: during(panics(strings.Split(trace, "\n")...), history.Process{Event: history.ProcessExited, ExitCode: 2}, started),
			want: []string{"the operator panicked: runtime error: index out of range [0] with length 0"},
			hint: "look at internal/controller/reconciler.go:91",
		},
		"a panic that was recovered, again and again": {
			tell: during(panics(recovered), panics(loggedAgain), panics(recovered), panics(loggedAgain)),
			want: []string{"the operator panicked: runtime error: index out of range [0] with length 0 (seen 4 times)"},
			hint: "look at internal/controller/reconciler.go:91",
		},
		"two panics": {
			tell: during(panics(klogged), panics(recovered)),
			want: []string{
				"the operator panicked: assignment to entry in nil map",
				"the operator panicked: runtime error: index out of range [0] with length 0",
			},
		},
		"the same message from two places": {
			tell: during(panics(recovered), panics(strings.ReplaceAll(recovered, "reconciler.go:91", "status.go:12"))),
			want: []string{
				"the operator panicked: runtime error: index out of range [0] with length 0",
				"the operator panicked: runtime error: index out of range [0] with length 0",
			},
		},
		"one panic at two addresses": {
			tell: during(panics("panic: bad pointer 0xc000412000"), panics("panic: bad pointer 0xc000999999")),
			want: []string{"the operator panicked: bad pointer 0xc000412000 (seen twice)"},
		},
		"a panic without a word":  {tell: during(panics()), want: []string{"the operator panicked: its log does not say why"}},
		"a log that is cut short": {tell: during(panics("  [recovered]")), want: []string{"the operator panicked: [recovered]"}},
		"the exit code of a panic": {
			tell: during(history.Process{Event: history.ProcessExited, ExitCode: 2}, started),
			want: []string{"the operator's process ended by itself, with exit code 2, as a Go program does after a panic"},
		},
		"an exit code of a panic after an earlier panic that was recovered by a restart": {
			tell: during(panics(klogged), history.Process{Event: history.ProcessExited, ExitCode: 2}, started,
				history.Process{Event: history.ProcessExited, ExitCode: 2}, started),
			want: []string{
				"the operator panicked: assignment to entry in nil map",
				"the operator's process ended by itself, with exit code 2, as a Go program does after a panic",
			},
		},
		"a signal that the trial did not send": {
			tell: during(history.Process{Event: history.ProcessExited, ExitCode: -1, Signal: "killed"}, started),
			want: []string{"the operator's process ended by itself, by signal killed"},
		},
		"an operator that ends by its own decision": {
			tell: during(history.Process{Event: history.ProcessExited, ExitCode: 1}, started, history.Process{Event: history.ProcessExited}, started,
				history.Process{Event: history.ProcessExited}, started),
		},
		"an operator that ends with an error again and again": {
			tell: during(history.Process{Event: history.ProcessExited, ExitCode: 1}, started, history.Process{Event: history.ProcessExited, ExitCode: 1}, started),
			want: []string{"the operator's process ended by itself, with exit code 1 (seen twice)"},
		},
		"an exception that ends a program in Python": {
			tell: during(history.Process{Event: history.ProcessExited, ExitCode: 1, Lines: []string{
				"Traceback (most recent call last):", `  File "operator.py", line 41, in <module>`, "KeyError: 'items'",
			}}, started),
			want: []string{"the operator's process ended by itself, with exit code 1, after a traceback: KeyError: 'items'"},
		},
		"a panic in Rust": {
			tell: during(panics("thread 'main' panicked at src/main.rs:12:9:", "index out of bounds: the len is 0 but the index is 0")),
			want: []string{"the operator panicked: index out of bounds: the len is 0 but the index is 0 (src/main.rs:12:9)"},
		},
		"an exception that ends a thread in Java": {
			tell: during(panics(`Exception in thread "main" java.lang.NullPointerException: status is null`, "\tat com.example.Operator.main(Operator.java:7)")),
			want: []string{"the operator panicked: java.lang.NullPointerException: status is null"},
		},
		"a signal that the trial sent": {
			tell: func(s *historytest.Story) {
				s.Starts().Rests(nil).Process(history.Process{Event: history.ProcessExited, ExitCode: -1, Signal: "killed", Asked: true}).
					Mark(history.MarkStopped)
			},
		},
		"an operator that was never started": {
			tell:    func(s *historytest.Story) { s.Mark(history.MarkInstalled) },
			unclear: "the operator was never started",
		},
		"a trial that ended early": {
			tell:    func(s *historytest.Story) { s.Starts().Rests(nil) },
			unclear: "before the operator was stopped",
		},
		"a trial that ended early, after a panic": {
			tell: func(s *historytest.Story) { s.Starts().Process(panics(klogged)) },
			want: []string{"the operator panicked: assignment to entry in nil map"},
		},
	})
}
