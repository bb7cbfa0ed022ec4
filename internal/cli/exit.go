package cli

import (
	"context"
	"errors"
)

// The exit codes of every command.
const (
	// ExitOK: all that was asked for was done, and no check failed.
	ExitOK = 0
	// ExitFailed: a check failed, or a command could not do what it was asked.
	ExitFailed = 1
	// ExitUsage: the command line or the input is wrong.
	ExitUsage = 2
	// ExitInconclusive: no check failed, but not all could be judged.
	ExitInconclusive = 3
)

// UsageError says that the command line, or the input that it names, is wrong.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// isUsage reports whether the error is about the command line or the input.
func isUsage(err error) bool {
	_, usage := errors.AsType[*UsageError](err)
	return usage
}

// exitError carries the exit code of a command that has said all there is to
// say.
type exitError struct{ code int }

func (e *exitError) Error() string { return "" }

// exitCode returns the exit code that an error stands for.
func exitCode(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.code
	case isUsage(err):
		return ExitUsage
	case errors.Is(err, context.Canceled):
		return ExitInconclusive
	default:
		return ExitFailed
	}
}
