//go:build !linux

package assets

import (
	"os/exec"
	"time"
)

// waitDelay is how long the output of a killed command is awaited.
const waitDelay = 2 * time.Second

// runOwned runs a command that ends with its context.
func runOwned(cmd *exec.Cmd) error {
	cmd.WaitDelay = waitDelay
	return cmd.Run()
}
