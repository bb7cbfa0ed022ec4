package engine

import (
	"regexp"
	"strings"
)

// tracesKept bounds how many lines of a panic are kept.
const tracesKept = 60

// panicStart matches the first line of a Go panic, of a fatal error of the Go
// runtime, of a panic that apimachinery or controller-runtime recovered and
// logged, and of what a thread died of in Rust, Java and .NET. The traceback
// of Python is none: it is logged for errors that were handled, too.
var panicStart = regexp.MustCompile(`^(panic: |fatal error: )|Observed a panic|\[recovered\]|panic: .*\[recovered` +
	`|` + rustPanic + `|^Exception in thread "|^Unhandled exception\. `)

// rustPanic matches the first line of a panic in Rust. Its message is the next.
const rustPanic = `^thread '.*' (\(\d+\) )?panicked at `

var rustStart = regexp.MustCompile(rustPanic)

// traceLine matches the lines that follow a panic.
var traceLine = regexp.MustCompile(`^(goroutine \d+ |\s|$|created by |main\.|runtime\.|panic\(|[\w./\-@]+\(|\[signal )`)

// panicScanner finds panics in a log, line by line. It is not safe for
// concurrent use.
type panicScanner struct {
	lines []string
	// found is called with each panic's lines once it has ended.
	found func(lines []string)
}

// line takes in one line of the log.
func (s *panicScanner) line(text string) {
	switch {
	case panicStart.MatchString(text) && !s.continues(text):
		s.end()
		s.lines = []string{text}
	case len(s.lines) > 0 && len(s.lines) < tracesKept && (traceLine.MatchString(text) || len(s.lines) == 1 && rustStart.MatchString(s.lines[0])):
		s.lines = append(s.lines, text)
	default:
		s.end()
	}
}

// continues tells a re-panic, which Go prints under the first, from a new one.
func (s *panicScanner) continues(text string) bool {
	return len(s.lines) > 0 && strings.HasPrefix(text, "\t")
}

// end closes the panic that is being read, if any.
func (s *panicScanner) end() {
	if len(s.lines) > 0 {
		s.found(s.lines)
		s.lines = nil
	}
}
