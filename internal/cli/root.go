// Package cli is the seatrial command: one file a verb. Results go to standard
// output, progress and errors to standard error.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// Main runs the command with these arguments, without the program's name, and
// returns its exit code. SIGINT, SIGTERM and SIGHUP end it in order; a second
// one ends it at once.
func Main(args []string, streams Streams) int {
	// What the Kubernetes libraries log is not for the user of a command.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, args, streams)
}

// Run runs the command until it is done or the context ends.
func Run(ctx context.Context, args []string, streams Streams) int {
	root := newRootCommand(streams) //nolint:contextcheck // cobra hands it to the verbs
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(streams.Err, "seatrial: %s\n", oneLine(err.Error()))
	}
	return exitCode(err)
}

func newRootCommand(streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "seatrial",
		Short: "Put a Kubernetes operator on trial against a real API server",
		Long: `Seatrial puts Kubernetes operators through sea trials.

Describe an operator in a subject file; seatrial starts a real control plane,
runs the operator behind a proxy that records its API traffic, and reports
which promises it breaks, with evidence.

Exit codes: 0 all checks passed, 1 a check failed, 2 wrong usage or input,
3 not all checks could be judged.`,
		Example: `  seatrial run -f operator/seatrial.yaml
  seatrial list
  seatrial explain quiescent
  seatrial assets get --kubernetes 1.37`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &UsageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
	})
	root.AddCommand(
		newRunCommand(streams),
		newListCommand(streams),
		newExplainCommand(streams),
		newAssetsCommand(streams),
	)
	wrapArgs(root)
	return root
}

// wrapArgs makes errors about positional arguments usage errors.
func wrapArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &UsageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
			}
			return nil
		}
	} else if cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &UsageError{fmt.Errorf("unknown command %q for %q (see %s --help)", args[0], cmd.CommandPath(), cmd.CommandPath())}
			}
			return nil
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

// oneLine keeps an error message to one line, as errors are promised to be;
// log lines of a program that failed follow it indented.
func oneLine(message string) string {
	head, rest, more := strings.Cut(strings.TrimSpace(message), "\n")
	if !more {
		return head
	}
	return head + "\n    " + strings.ReplaceAll(strings.TrimSpace(rest), "\n", "\n    ")
}
