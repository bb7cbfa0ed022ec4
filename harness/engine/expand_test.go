package engine

import (
	"errors"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	values := map[string]string{"WORKDIR": "/w", "PORT": "1"}
	tests := map[string]struct{ text, want string }{
		"no variable":                          {"plain", "plain"},
		"a variable alone":                     {"$(WORKDIR)", "/w"},
		"variables amid text":                  {"--a=$(WORKDIR)/x:$(PORT)", "--a=/w/x:1"},
		"two dollar signs are one":             {"$$(WORKDIR) $$", "$(WORKDIR) $"},
		"a shell's own variables are no match": {"$HOME ${HOME}", "$HOME ${HOME}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := expand("f", tc.text, values)
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestExpandNamesAnUnknownVariableAndThoseThatAreKnown(t *testing.T) {
	_, err := expandAll("spec.command", []string{"ok", "$(NOPE)"}, map[string]string{"WORKDIR": "/w", "PORT": "1"})
	if _, ok := errors.AsType[*InputError](err); !ok {
		t.Fatalf("got %v, want an InputError", err)
	}
	if want := "spec.command[1]: unknown variable $(NOPE): known are PORT, WORKDIR"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestPanicScanner(t *testing.T) {
	tests := map[string]struct {
		log  string
		want []int // lines of each panic found
	}{
		"a log without a panic": {"starting\nreconciled panic-free\n{\"msg\":\"no panic: good\"}", nil},
		"a panic that ends the process": {
			"starting\npanic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:5 +0x1d\nexit status 2",
			[]int{5},
		},
		"a panic that was recovered and raised again is one": {
			"panic: boom\n\tpanic: boom [recovered]\n\ngoroutine 7 [running]:\nmain.f()\n\t/src/main.go:9", []int{6},
		},
		"a panic that controller-runtime recovered": {
			`2026-01-01T00:00:00Z ERROR Observed a panic {"controller": "widget", "panic": "boom", "stacktrace": "..."}` + "\nnext line of the log", []int{1},
		},
		"a fatal error of the runtime": {"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()", []int{4}},
		"a panic in Rust, whose message is the second line": {
			"thread 'main' panicked at src/main.rs:12:9:\nindex out of bounds: the len is 0\nnote: run with `RUST_BACKTRACE=1`", []int{2},
		},
		"an exception that ends a thread in Java": {
			"Exception in thread \"main\" java.lang.NullPointerException\n\tat com.example.Operator.main(Operator.java:7)\nbye", []int{2},
		},
		"an exception that Python logs and goes on": {"Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'", nil},
		"two panics with a log line between":        {"panic: a\nrestarting\npanic: b\n", []int{1, 1}},
		"a log that ends amid a trace":              {"panic: a\n\ngoroutine 1 [running]:", []int{3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int
			s := panicScanner{found: func(lines []string) { got = append(got, len(lines)) }}
			for line := range strings.SplitSeq(strings.TrimSuffix(tc.log, "\n"), "\n") {
				s.line(line)
			}
			s.end()
			if len(got) != len(tc.want) {
				t.Fatalf("found %v, want %v", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Errorf("panic %d has %d lines, want %d", i, got[i], tc.want[i])
				}
			}
		})
	}
}
