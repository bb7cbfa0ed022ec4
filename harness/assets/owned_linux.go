package assets

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// waitDelay is how long the output of a killed command is awaited.
const waitDelay = 2 * time.Second

// runOwned runs a command in a process group of its own that ends with the
// context, and whose leader the kernel kills when this process dies.
func runOwned(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	cmd.WaitDelay = waitDelay
	// The signal is sent when the thread that forked ends, so the thread must
	// live as long as the command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
