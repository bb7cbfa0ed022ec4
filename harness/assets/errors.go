package assets

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Attempt is a source that was tried in vain.
type Attempt struct {
	Source Source
	Err    error
}

// UnavailableError says that no source that may be used has the programs.
type UnavailableError struct {
	// Programs are those that are missing.
	Programs []Program
	// Version is theirs.
	Version string
	// Attempts are the sources that were tried, in order.
	Attempts []Attempt
}

// Error names each source and why it failed, in one line. The last lines of a
// failed build follow it.
func (e *UnavailableError) Error() string {
	why := make([]string, 0, len(e.Attempts))
	for _, a := range e.Attempts {
		why = append(why, fmt.Sprintf("%s: %s", a.Source, firstLine(a.Err)))
	}
	text := fmt.Sprintf("no source has %s %s: %s", join(e.Programs, ", "), e.Version, strings.Join(why, "; "))
	var build *BuildError
	if errors.As(e, &build) && len(build.Output) > 0 {
		text += "\n" + strings.Join(build.Output, "\n")
	}
	return text
}

// Unwrap returns why each source failed.
func (e *UnavailableError) Unwrap() []error {
	errs := make([]error, 0, len(e.Attempts))
	for _, a := range e.Attempts {
		errs = append(errs, a.Err)
	}
	return errs
}

// DamagedError says that a file of the cache is not what was put there. The
// cache is not mended behind its owner's back: the reason for the damage may
// be a failing disk.
type DamagedError struct {
	// Path is the file that is damaged.
	Path string
	// Problem is what is wrong with it.
	Problem string
	// Repair is the command that replaces it.
	Repair string
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("the cache is damaged: %s %s; repair it with: %s", e.Path, e.Problem, e.Repair)
}

// VersionError says that a program reports another version than it should.
type VersionError struct {
	Program Program
	// Origin is where the program is from: a directory, a URL or a module.
	Origin         string
	Reported, Want string
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s from %s reports version %s, not %s", e.Program, e.Origin, e.Reported, e.Want)
}

// BuildError says that the go command failed.
type BuildError struct {
	// Command is the go command's verb.
	Command string
	Err     error
	// Output is what it said last, at most 20 lines.
	Output []string
}

// Error implements error.
func (e *BuildError) Error() string {
	text := fmt.Sprintf("go %s failed: %v", e.Command, e.Err)
	if len(e.Output) > 0 {
		text += ":\n" + strings.Join(e.Output, "\n")
	}
	return text
}

// Unwrap returns how the command ended.
func (e *BuildError) Unwrap() error { return e.Err }

// errNoGo says what to do where there is no compiler.
var errNoGo = errors.New("there is no go command; install Go 1.26 or newer from https://go.dev/dl and put it in PATH")

// ended says that a context ended and why, for a context that has ended. The
// error is context.Canceled or context.DeadlineExceeded, also where the cause
// is another, such as a signal.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w (%w)", err, cause)
}

// firstLine says an error in one line.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, ":")
}
