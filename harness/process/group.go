package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// guardian is the script of the shell that outlives the owner for a moment. Its
// arguments are the process group to end and the directories to remove; its
// input ends when the owner does. It kills again after a while, for the sake
// of a program that was just being started.
//
// A daemon that a program made has left the group. Where there is a /proc it is
// known by the mark in the environment that it inherited.
const guardian = `
trap '' HUP INT TERM
exec >/dev/null 2>&1
group=$1
shift
end() {
  kill -s KILL -- "-$group"
  for environment in $(grep -ls "` + mark + `=$group." /proc/[0-9]*/environ); do
    program=${environment#/proc/}
    kill -s KILL "${program%/environ}"
  done
}
read -r word
end
if [ "$word" != done ]; then
  for pause in 0.1 0.2 0.4 0.8; do
    sleep "$pause" </dev/null
    end
  done
fi
rm -rf -- "$@"
`

// mark is the variable that tells which group a program belongs to.
const mark = "SEATRIAL_PROCESS_GROUP"

// placeholder is the script of the leader of the process group into which
// every program is born, so that there is no moment at which a program runs
// and is not known. It waits for the owner's end.
const placeholder = `
trap '' HUP INT TERM
read -r word
`

// Group is a set of programs that end with their owner.
type Group struct {
	placeholder, guardian shell
	directories           []string

	mu     sync.Mutex
	closed bool
}

// shell is one of the two, and the pipe that closes when the owner ends.
type shell struct {
	cmd   *exec.Cmd
	leash io.WriteCloser
}

func startShell(script string, arguments ...string) (shell, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "seatrial-guardian"}, arguments...)...) //nolint:noctx,gosec // outlives every context on purpose; the script is our own
	// A process group of its own: Ctrl-C at the terminal is for the owner.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	leash, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return shell{}, fmt.Errorf("starting the guardian of programs: %w", err)
	}
	return shell{cmd: cmd, leash: leash}, nil
}

// end lets the shell go on and waits for its end.
func (s shell) end() error {
	// A shell that is gone already cannot be written to, which Wait tells.
	_, _ = io.WriteString(s.leash, "done\n")
	_ = s.leash.Close()
	return s.cmd.Wait()
}

// NewGroup returns a group whose guardian removes the directories, once the
// group is closed or its owner has ended.
func NewGroup(directories ...string) (*Group, error) {
	leader, err := startShell(placeholder)
	if err != nil {
		return nil, err
	}
	group := strconv.Itoa(leader.cmd.Process.Pid)
	guard, err := startShell(guardian, append([]string{group}, directories...)...)
	if err != nil {
		return nil, errors.Join(err, leader.end())
	}
	return &Group{placeholder: leader, guardian: guard, directories: directories}, nil
}

// mark marks the environment of a program. The dot ends the number.
func (g *Group) mark() string {
	return mark + "=" + strconv.Itoa(g.placeholder.cmd.Process.Pid) + "."
}

// Close kills what still runs in the group, removes its directories, and
// returns when both is done. Calling it again does nothing.
func (g *Group) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	err := g.guardian.end()
	_ = g.placeholder.end() // killed with its group
	var errs []error
	if err != nil {
		errs = append(errs, fmt.Errorf("the guardian of programs: %w", err))
	}
	// What the guardian could not remove says why when it is tried again.
	for _, directory := range g.directories {
		errs = append(errs, os.RemoveAll(directory))
	}
	return errors.Join(errs...)
}
