package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/cluster"
	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/install"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/observe"
	"github.com/seatrial/seatrial/harness/process"
	"github.com/seatrial/seatrial/harness/proxy"
	"github.com/seatrial/seatrial/harness/redact"
	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/subject"
	"github.com/seatrial/seatrial/harness/trial"
)

// run is one trial under way.
type run struct {
	Options
	ready    subject.Readiness
	started  time.Time
	phases   []report.Phase
	activity *activity
	samples  *samples
	// made are the samples of the subject's kinds as the API server stored them.
	made   []manifest.Object
	family *family

	// mu guards warnings, which the watch adds to as well.
	mu       sync.Mutex
	warnings []string

	group     *process.Group
	cluster   cluster.Cluster
	programs  []report.Program
	log       *history.Log
	logFile   *os.File
	installer *install.Installer
	observer  *observe.Observer
	proxy     *proxy.Proxy
	operator  *operator
	variables map[string]string
	webhooks  *webhookServer
}

// Run puts the subject on trial. The report is nil only when the trial did not
// begin; after an error it is partial and says why. The error is an
// *InputError where the input is wrong, and has ErrInterrupted in it where
// the context ended first.
func Run(ctx context.Context, options Options) (*report.Report, error) {
	ready, err := options.Subject.Readiness()
	if err != nil {
		return nil, &InputError{err}
	}
	options.Deadlines = options.Deadlines.withDefaults()
	group, err := process.NewGroup(options.WorkDir)
	if err != nil {
		return nil, fmt.Errorf("preparing to start programs: %w", err)
	}
	r := &run{
		Options: options, ready: ready, started: time.Now(), activity: newActivity(),
		group: group, samples: newSamples(), family: newFamily(),
	}
	err = r.trial(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("%w while at %s", ErrInterrupted, r.phase())
	}
	return r.finish(ctx, err)
}

// trial goes through the phases. It may be left after any of them; finish puts
// things back.
func (r *run) trial(ctx context.Context) error {
	for _, phase := range []struct {
		name Phase
		do   func(context.Context) error
	}{
		{PhasePrepare, r.prepare},
		{PhaseInstall, r.install},
		{PhaseStart, r.start},
		{PhaseConverge, r.converge},
		{PhaseObserve, r.observe},
		{PhaseDelete, r.delete},
	} {
		if err := r.in(ctx, phase.name, phase.do); err != nil {
			return err
		}
	}
	return nil
}

// in runs one phase and notes how long it took.
func (r *run) in(ctx context.Context, name Phase, do func(context.Context) error) error {
	start := time.Now()
	r.phases = append(r.phases, report.Phase{Name: string(name), Started: start})
	r.sayf(name, "")
	err := do(ctx)
	took := time.Since(start)
	r.phases[len(r.phases)-1].Duration = took
	if err == nil && r.Progress != nil {
		r.Progress(Event{Phase: name, Done: true, Took: took})
	}
	return err
}

func (r *run) phase() string {
	if len(r.phases) == 0 {
		return string(PhasePrepare)
	}
	return r.phases[len(r.phases)-1].Name
}

func (r *run) sayf(phase Phase, format string, args ...any) {
	if r.Progress != nil {
		r.Progress(Event{Phase: phase, Message: fmt.Sprintf(format, args...)})
	}
}

// prepare builds the subject while the cluster starts.
func (r *run) prepare(ctx context.Context) error {
	if err := r.setVariables(); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return r.build(ctx) })
	both.Go(func() error {
		c, programs, err := r.StartCluster(ctx)
		if err != nil {
			return err
		}
		r.cluster, r.programs = c, programs
		r.sayf(PhasePrepare, "%s %s is up after %v", c.Level(), c.Version(), time.Since(r.started).Round(100*time.Millisecond))
		return nil
	})
	return both.Wait()
}

// install puts the subject's objects into the cluster and starts recording.
func (r *run) install(ctx context.Context) error {
	objects, err := r.installObjects(ctx)
	if err != nil {
		return err
	}
	if err := r.openLog(); err != nil {
		return err
	}
	redactor := redact.New()
	r.observer, err = observe.Start(ctx, observe.Options{
		Config: r.cluster.Config(), Recorder: r.log, OnChange: r.changed, Redactor: redactor, Warn: r.lost,
	})
	if err != nil {
		return fmt.Errorf("watching the cluster: %w", err)
	}
	r.proxy, err = proxy.Start(ctx, proxy.Options{
		Upstream: r.cluster.Config(), Recorder: r.log, OnRequest: r.requested, Redactor: redactor,
	})
	if err != nil {
		return fmt.Errorf("starting the proxy: %w", err)
	}
	r.mark(history.MarkInstalled, fmt.Sprintf("%d objects", objects))
	return r.writeKubeconfig(ctx)
}

// installObjects returns how many objects it applied.
func (r *run) installObjects(ctx context.Context) (int, error) {
	var err error
	r.installer, err = install.New(r.cluster.Config(), r.Subject.SampleNamespace())
	if err != nil {
		return 0, err
	}
	crds, manifests, err := r.redirectWebhooks()
	if err != nil {
		return 0, err
	}
	if err := r.installer.CRDs(ctx, crds); err != nil {
		return 0, inputOf(err)
	}
	if aware, ok := r.cluster.(cluster.CRDAware); ok {
		if err := aware.CRDsInstalled(ctx); err != nil {
			return 0, fmt.Errorf("telling the cluster of the CRDs: %w", err)
		}
	}
	if err := r.installer.All(ctx, append(r.namespaces(), manifests...)); err != nil {
		return 0, inputOf(err)
	}
	return len(crds) + len(manifests), nil
}

// namespaces returns those that the manifests take for granted.
func (r *run) namespaces() []manifest.Object {
	var missing []manifest.Object
	for _, name := range []string{r.Subject.Account.Namespace, r.Subject.SampleNamespace()} {
		given := slices.ContainsFunc(r.Subject.Manifests, func(o manifest.Object) bool {
			return o.GetKind() == "Namespace" && o.GetName() == name
		})
		if !given {
			u := &unstructured.Unstructured{}
			u.SetAPIVersion("v1")
			u.SetKind("Namespace")
			u.SetName(name)
			missing = append(missing, manifest.Object{Unstructured: u, Source: "the trial"})
		}
	}
	return missing
}

// inputOf tells a refusal by the API server, which is about the input, from
// an API server that failed.
func inputOf(err error) error {
	if _, ok := errors.AsType[*install.RefusedError](err); ok {
		return &InputError{err}
	}
	return err
}

func (r *run) openLog() error {
	file, err := os.Create(filepath.Join(r.Dir, HistoryFile))
	if err != nil {
		return fmt.Errorf("keeping the history: %w", err)
	}
	r.logFile = file
	r.log = history.NewLog(file, history.Header{
		Subject: r.Subject.Metadata.Name,
		User:    fmt.Sprintf("system:serviceaccount:%s:%s", r.Subject.Account.Namespace, r.Subject.Account.Name),
		Level:   r.cluster.Level(),
		Primary: r.Subject.Primary,
	}, time.Now)
	return nil
}

func (r *run) mark(name history.MarkName, detail string, objects ...trial.ObjectRef) {
	r.log.Record(history.Entry{Mark: &history.Mark{Name: name, Detail: detail, Objects: objects}})
}
