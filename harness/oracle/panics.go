package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// panicExit is the exit code of a Go program that panicked.
const panicExit = 2

// NoPanics finds panics (class H5), whether they ended the process or were
// recovered, and ends of the process that nobody asked for: with the exit code
// of a Go panic, after a traceback of Python, or by a signal. Any other exit may
// be the operator's own decision to start afresh, after it lost its lease, say;
// but not with an error again and again.
func NoPanics(h history.History, _ trial.CheckOptions) ([]trial.Finding, error) {
	var found crashes
	started, panicked := false, false
	for seq, p := range h.Processes() {
		switch p.Event {
		case history.ProcessStarted:
			started, panicked = true, false
		case history.ProcessPanicked:
			panicked = true
			found.add("the operator panicked: "+panicMessage(p.Lines), origin(p.Lines), seq)
		case history.ProcessExited:
			// A panic that ended the process has been noted already.
			if how := violent(p); how != "" && !panicked {
				found.add("the operator's process ended by itself, "+how, "", seq)
			}
		}
	}
	found = append(found, crashLoops(h)...)
	if findings := found.findings(); len(findings) > 0 {
		return findings, nil
	}
	if !started {
		return nil, errors.New("the operator was never started")
	}
	return nil, complete(h)
}

// crashLoops finds ends with an error that do not look violent, but happened
// more than once.
func crashLoops(h history.History) crashes {
	var failures crashes
	for seq, p := range h.Processes() {
		if p.Event == history.ProcessExited && !p.Asked && p.ExitCode != 0 && violent(p) == "" {
			failures.add(fmt.Sprintf("the operator's process ended by itself, with exit code %d", p.ExitCode), "", seq)
		}
	}
	return slices.DeleteFunc(failures, func(c *crash) bool { return len(c.evidence) == 1 })
}

// crashes gathers what has one cause: the same message from the same place. A
// panic that is logged again, further up, has no place of its own.
type crashes []*crash

type crash struct {
	what, where string
	evidence    []int64
}

func (c *crashes) add(what, where string, seq int64) {
	for _, known := range *c {
		if address.ReplaceAllString(known.what, "") != address.ReplaceAllString(what, "") {
			continue
		}
		if known.where == where || known.where == "" || where == "" {
			known.where = cmp.Or(known.where, where)
			known.evidence = append(known.evidence, seq)
			return
		}
	}
	*c = append(*c, &crash{what, where, []int64{seq}})
}

func (c *crashes) findings() []trial.Finding {
	var found []trial.Finding
	for _, crash := range *c {
		f := trial.Finding{
			Summary: crash.what, Evidence: shownOf(crash.evidence, crashesShown, 1),
			Expected: "nothing makes the operator panic or die",
		}
		if n := len(crash.evidence); n > 1 {
			f.Summary += fmt.Sprintf(" (seen %s)", times(n))
		}
		if crash.where != "" {
			f.Hint = "look at " + crash.where
		}
		found = append(found, f)
	}
	return found
}

// violent tells how a process ended that nobody asked to end, where that points
// to a defect.
func violent(p *history.Process) string {
	switch {
	case p.Asked:
		return ""
	case p.Signal != "":
		return "by signal " + p.Signal
	case p.ExitCode == panicExit:
		return fmt.Sprintf("with exit code %d, as a Go program does after a panic", p.ExitCode)
	case p.ExitCode != 0 && slices.ContainsFunc(p.Lines, func(l string) bool { return strings.HasPrefix(l, "Traceback (most recent call last)") }):
		return fmt.Sprintf("with exit code %d, after a traceback: %s", p.ExitCode, strings.TrimSpace(p.Lines[len(p.Lines)-1]))
	default:
		return ""
	}
}

var (
	// panicText finds the message of a panic, as the runtime prints it or as a
	// library that recovered it logs it.
	panicText = regexp.MustCompile(`(?:"panic":\s*|panic=)"((?:[^"\\]|\\.)*)"|panic: (.+?) \[recovered|` +
		`(?:^panic: |^fatal error: |Observed a panic: |^Exception in thread "[^"]*" |^Unhandled exception\. )(.+)`)
	// rustPlace finds where a panic of Rust comes from. Its message is the next
	// line.
	rustPlace = regexp.MustCompile(`^thread '.*' (?:\(\d+\) )?panicked at (.+?):?$`)
	// address matches what differs from one panic to the next of one cause.
	address = regexp.MustCompile(`0x[0-9a-f]+|goroutine \d+|\d{2,}`)
	// frame matches the line of a trace that names a file.
	frame = regexp.MustCompile(`^\s+(\S+\.go:\d+)`)
	// library matches files that are not the operator's own.
	library = regexp.MustCompile(`(^|/)(runtime|net/http|reflect|sync|testing)/[^/]+\.go:|(^|/)(sigs\.k8s\.io|k8s\.io|go\.uber\.org)/`)
	// unescape undoes the escapes of a trace within one line of JSON.
	unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t")
)

func panicMessage(lines []string) string {
	for i, line := range lines {
		if m := rustPlace.FindStringSubmatch(line); m != nil && i+1 < len(lines) {
			return fmt.Sprintf("%s (%s)", strings.TrimSpace(lines[i+1]), m[1])
		}
		if m := panicText.FindStringSubmatch(line); m != nil {
			return cmp.Or(m[1], m[2], m[3])
		}
	}
	if len(lines) > 0 {
		return strings.TrimSpace(lines[0])
	}
	return "its log does not say why"
}

// origin is where the operator's own code is first named in a trace: the file
// with the directories next to it.
func origin(lines []string) string {
	for line := range strings.SplitSeq(unescape.Replace(strings.Join(lines, "\n")), "\n") {
		m := frame.FindStringSubmatch(line)
		if m == nil || library.MatchString(m[1]) {
			continue
		}
		elements := strings.Split(m[1], "/")
		return strings.Join(elements[max(0, len(elements)-originShown):], "/")
	}
	return ""
}

// originShown is how many elements of a path tell a reader which file it is.
const originShown = 3
