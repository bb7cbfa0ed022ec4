package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Spec says how a program is started.
type Spec struct {
	// Command is the program and its arguments. A program without a slash is
	// looked for in PATH.
	Command []string
	// Env is the whole environment, but for a variable by which what the
	// program starts is known.
	Env []string
	// Dir is the working directory; empty means the owner's.
	Dir string
	// LogFile gets what the program writes, stdout and stderr together,
	// appended; empty means no file.
	LogFile string
	// OnLine is told each line of it, by one goroutine; nil means nobody.
	OnLine func(line string)
	// OnEnd is called by the same goroutine after the last line, before Done;
	// nil means nothing is.
	OnEnd func()
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit code, -1 after a signal.
	Code int
	// Signal is the name of the signal that ended it, or empty.
	Signal string
}

// String implements fmt.Stringer.
func (e Exit) String() string {
	if e.Signal != "" {
		return "signal " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Process is a program that was started.
type Process struct {
	cmd  *exec.Cmd
	tail *tail
	done chan struct{}
	exit Exit
}

// Start starts a program in the group.
func (g *Group) Start(spec Spec) (*Process, error) {
	if len(spec.Command) == 0 {
		return nil, errors.New("no program is named")
	}
	cmd := exec.Command(spec.Command[0], spec.Command[1:]...) //nolint:noctx // ended by Stop or by the group
	cmd.Env, cmd.Dir = append(slices.Clone(spec.Env), g.mark()), spec.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.placeholder.cmd.Process.Pid}
	var file *os.File
	if spec.LogFile != "" {
		var err error
		if file, err = os.OpenFile(spec.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, fmt.Errorf("keeping the log of %s: %w", filepath.Base(spec.Command[0]), err)
		}
	}
	p := &Process{cmd: cmd, tail: newTail(file, spec.OnLine), done: make(chan struct{})}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", filepath.Base(spec.Command[0]), err), p.tail.close())
	}
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Start()
	_ = write.Close() // the program holds its own
	if err != nil {
		_ = read.Close()
		return nil, errors.Join(fmt.Errorf("starting %s: %w", spec.Command[0], err), p.tail.close())
	}
	go p.watch(read, spec.OnEnd)
	return p, nil
}

// drainWithin is how long what the program wrote last may take to be read
// after it has ended: a child of its own may hold the pipe open for ever.
const drainWithin = time.Second

// watch reads the log to its end and waits for the program.
func (p *Process) watch(log *os.File, onEnd func()) {
	var reading sync.WaitGroup
	reading.Go(func() { p.tail.readFrom(log) })
	_ = p.cmd.Wait() // how it ended is in ProcessState
	_ = log.SetReadDeadline(time.Now().Add(drainWithin))
	reading.Wait()
	_ = log.Close()
	_ = p.tail.close() // the log file is a convenience: a full disk is no reason to fail
	p.exit = exitOf(p.cmd.ProcessState)
	if onEnd != nil {
		onEnd()
	}
	close(p.done)
}

func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Code: -1}
	}
	exit := Exit{Code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal().String()
	}
	return exit
}

// PID is the program's process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended and its log has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how the program ended. It must not be called before Done.
func (p *Process) Exit() Exit { return p.exit }

// Tail returns the last lines of the log, at most n.
func (p *Process) Tail(n int) []string { return p.tail.last(n) }

// Signal sends a signal to the program. One that has ended is not an error.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to %s: %w", signal, filepath.Base(p.cmd.Path), err)
	}
	return nil
}

// Stop sends SIGTERM, and SIGKILL after grace or when the context ends, and
// returns when the program has ended. A grace of 0 kills it at once.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	if grace > 0 {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
			return nil
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}
