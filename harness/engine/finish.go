package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/trial"
)

// finish ends everything that the trial started and reports on what was seen.
// cause is why the trial ended early, nil if it did not. There is no report on
// wrong input: nothing was put on trial.
func (r *run) finish(ctx context.Context, cause error) (*report.Report, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Deadlines.CleanUp+r.Deadlines.Stop)
	defer cancel()
	if err := r.in(ctx, PhaseStop, r.stop); err != nil {
		r.warnf("cleaning up: %v", err)
		if cause == nil {
			cause = err
		}
	}
	if _, ok := errors.AsType[*InputError](cause); ok {
		return nil, cause
	}
	return r.report(cause), cause
}

// stop ends the subject first, then the recorders, the cluster last: an API
// server waits for open watches.
func (r *run) stop(ctx context.Context) error {
	var errs []error
	if r.operator != nil {
		errs = append(errs, r.operator.stop(ctx, r.Deadlines.Stop))
		r.mark(history.MarkStopped, "")
	}
	if r.proxy != nil {
		errs = append(errs, r.proxy.Close(ctx))
	}
	if r.observer != nil {
		r.observer.Stop()
	}
	if r.cluster != nil {
		errs = append(errs, r.cluster.Stop(ctx))
	}
	errs = append(errs, r.group.Close())
	if r.log != nil {
		errs = append(errs, r.log.Flush(), r.logFile.Close())
	}
	return errors.Join(errs...)
}

func (r *run) warnf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// lost notes that the direct watch missed something.
func (r *run) lost(warning string) { r.warnf("%s", warning) }

// judge judges what was seen. What a trial that ended early did not find to be
// broken was not judged to the end: such a pass is inconclusive.
func (r *run) judge(cause error) []trial.Result {
	results := r.evaluate()
	if cause == nil {
		return results
	}
	reason, _, _ := strings.Cut(cause.Error(), "\n")
	for i := range results {
		if results[i].Verdict == trial.Pass {
			results[i].Verdict, results[i].Reason = trial.Inconclusive, "the trial ended early: "+strings.TrimSuffix(reason, "; its last log lines:")
		}
	}
	return results
}

func (r *run) history() history.History {
	if r.log == nil {
		// Nothing was seen; no check is to be called not applicable for it.
		return history.History{Header: history.Header{Subject: r.Subject.Metadata.Name, Level: trial.LevelExisting, Primary: r.Subject.Primary}}
	}
	return r.log.History()
}

// report says how the trial went.
func (r *run) report(cause error) *report.Report {
	in := report.Input{
		ToolVersion: r.Version, CatalogueVersion: r.CatalogueVersion, Command: r.Command,
		Subject: report.Subject{Name: r.Subject.Metadata.Name, File: r.Subject.File},
		Started: r.started, Finished: time.Now(), Phases: r.phases,
		Inferred: r.Subject.Inferred, Warnings: r.warnings,
		Results: r.judge(cause), History: r.history(),
	}
	if r.cluster != nil {
		in.Cluster = report.Cluster{Level: r.cluster.Level(), Version: r.cluster.Version(), Programs: r.programs}
	}
	if cause != nil {
		in.Partial, in.PartialReason = true, cause.Error()
	}
	return report.New(in)
}

// evaluate has every check of the catalogue judged on what was seen so far.
func (r *run) evaluate() []trial.Result {
	return oracle.Evaluate(oracle.Evaluation{
		Catalogue: r.Catalogue, History: r.history(), Features: r.Subject.Features(),
		Checks: r.Subject.Spec.Checks, Only: r.Only, Now: time.Now,
	})
}
