package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seatrial/seatrial/conformance"
	"github.com/seatrial/seatrial/harness/engine"
	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/subject"
)

// runFlags are the flags of seatrial run.
type runFlags struct {
	file, outDir string
	checks       []string
	cluster      clusterFlags
	deadlines    engine.Deadlines
	quiet        bool
}

func newRunCommand(streams Streams) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run -f SUBJECT",
		Short: "Put an operator on trial and report which promises it breaks",
		Long: `Run puts the operator that a subject file describes on trial: it starts a
control plane, builds and installs the operator, runs it as its own
ServiceAccount behind a recording proxy, applies its samples, waits until they
are ready and the API is at rest, watches it rest, deletes the samples, and
judges what it saw.

It writes report.json, report.html, junit.xml, history.jsonl and operator.log
to the output directory, and a summary to standard output.`,
		Example: `  seatrial run -f operator/seatrial.yaml
  seatrial run -f seatrial.yaml --kubernetes 1.34 --check quiescent,no-panics`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTrial(cmd.Context(), streams, flags) },
	}
	f := cmd.Flags()
	f.StringVarP(&flags.file, "file", "f", "", "the subject file (required)")
	f.StringVarP(&flags.outDir, "output-dir", "o", "", "where the reports go (default out/NAME of the subject)")
	f.StringSliceVar(&flags.checks, "check", nil, "judge only these checks; the others are reported as skipped")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "no progress on standard error")
	flags.cluster.register(f)
	defaults := engine.DefaultDeadlines()
	f.DurationVar(&flags.deadlines.Converge, "converge-within", defaults.Converge, "how long the samples may take to get ready")
	f.DurationVar(&flags.deadlines.Settle, "settle-within", defaults.Settle, "how long the API may stay busy once they are")
	f.DurationVar(&flags.deadlines.Observe, "observe-for", defaults.Observe, "for how long the operator is watched at rest")
	f.DurationVar(&flags.deadlines.Delete, "delete-within", defaults.Delete, "how long the samples may take to be gone")
	return cmd
}

func runTrial(ctx context.Context, streams Streams, flags runFlags) error {
	progress := newRunProgress(streams.Err, flags.quiet)
	defer progress.close()
	options, err := flags.options()
	if err != nil {
		return err
	}
	plan, err := flags.cluster.plan(progress)
	if err != nil {
		return err
	}
	options.StartCluster, options.Progress = plan.start, progress.event
	options.WorkDir, err = os.MkdirTemp("", "seatrial-")
	if err != nil {
		return &UsageError{fmt.Errorf("making a directory to work in: TMPDIR: %w", err)}
	}
	defer os.RemoveAll(options.WorkDir)
	output, err := openOutputDir(options.Dir)
	if err != nil {
		return err
	}
	defer output.close()
	rep, cause := engine.Run(ctx, options)
	progress.close()
	if rep == nil {
		if _, wrong := errors.AsType[*engine.InputError](cause); wrong {
			return &UsageError{cause}
		}
		return cause
	}
	if err := output.write(rep, streams.Out); err != nil {
		return err
	}
	if cause != nil && !errors.Is(cause, engine.ErrInterrupted) {
		fmt.Fprintf(streams.Err, "seatrial: %s\n", oneLine(cause.Error()))
	}
	if code := report.ExitCode(rep); code != ExitOK {
		return &exitError{code}
	}
	return nil
}

// options turns the flags into the inputs of a trial; what can be wrong with
// them is found before anything starts.
func (f *runFlags) options() (engine.Options, error) {
	if f.file == "" {
		return engine.Options{}, &UsageError{errors.New("-f must name a subject file (see seatrial run --help)")}
	}
	if err := errors.Join(knownChecks("--check", f.checks), f.checkDeadlines()); err != nil {
		return engine.Options{}, &UsageError{err}
	}
	s, err := subject.Load(f.file)
	if err != nil {
		return engine.Options{}, &UsageError{err}
	}
	var configured []string
	for _, o := range s.Spec.Checks {
		configured = append(configured, o.ID)
	}
	if err := knownChecks("subject file "+f.file+": spec.checks", configured); err != nil {
		return engine.Options{}, &UsageError{err}
	}
	if f.outDir == "" {
		f.outDir = filepath.Join("out", s.Metadata.Name)
	}
	return engine.Options{
		Subject: s, Catalogue: conformance.Catalogue(), Only: f.checks, Deadlines: f.deadlines, CatalogueVersion: conformance.Version,
		Dir: f.outDir, Command: append([]string{"seatrial"}, os.Args[1:]...),
	}, nil
}

// checkDeadlines refuses times in which nothing can happen.
func (f *runFlags) checkDeadlines() error {
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{
		{"converge-within", f.deadlines.Converge},
		{"settle-within", f.deadlines.Settle},
		{"observe-for", f.deadlines.Observe},
		{"delete-within", f.deadlines.Delete},
	} {
		if flag.value <= 0 {
			return fmt.Errorf("--%s %v must be more than nothing", flag.name, flag.value)
		}
	}
	return nil
}

// knownChecks refuses names of checks that do not exist.
func knownChecks(where string, ids []string) error {
	known := checkIDs()
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return fmt.Errorf("%s: no check is named %q: the checks are %s", where, id, strings.Join(known, ", "))
		}
	}
	return nil
}
