// Seatrial puts Kubernetes operators through sea trials.
package main

import (
	"os"

	"github.com/seatrial/seatrial/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
