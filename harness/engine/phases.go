package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/proxy"
	"github.com/seatrial/seatrial/harness/trial"
)

// noise are the resources whose traffic says nothing about whether a subject
// is at rest: Events are notes, Leases heartbeats.
var noise = []schema.GroupResource{
	{Group: "", Resource: "events"},
	{Group: "events.k8s.io", Resource: "events"},
	{Group: "coordination.k8s.io", Resource: "leases"},
}

// changed is told of every version of every object.
func (r *run) changed(c *history.Change) {
	if r.Subject.IsPrimary(c.Group, c.Kind) {
		r.samples.changed(c)
	}
	r.family.changed(c)
	if !c.Existing && !slices.Contains(noise, schema.GroupResource{Group: c.Group, Resource: c.Resource}) {
		r.activity.happened()
	}
}

// requested is told of every request of the subject, when it begins and when
// it ends.
func (r *run) requested(s proxy.Summary) {
	r.operator.requested()
	if !s.Mutates() || slices.Contains(noise, schema.GroupResource{Group: s.Group, Resource: s.Resource}) {
		return
	}
	if s.Done {
		r.activity.flight(-1)
		return
	}
	r.activity.flight(+1)
}

// start starts the subject and waits until it talks to the API server.
func (r *run) start(ctx context.Context) error {
	if err := r.operator.start(); err != nil {
		return err
	}
	r.mark(history.MarkStarted, "")
	if err := r.operator.awaitFirstRequest(ctx, r.Deadlines.Start); err != nil {
		return err
	}
	return r.installWebhooks(ctx)
}

// converge applies the samples and waits until they are ready and the API is
// at rest.
func (r *run) converge(ctx context.Context) error {
	r.activity.begin()
	if err := r.apply(ctx); err != nil {
		return err
	}
	r.mark(history.MarkApplied, "", r.samples.refs()...)
	settled, err := r.activity.settle(ctx, r.whileAlive(r.samples.allReady(r.ready)), r.Deadlines.Converge, r.Deadlines.Settle)
	if err != nil {
		return err
	}
	if err := r.sync(ctx); err != nil {
		return err
	}
	if settled.settled {
		r.mark(history.MarkConverged, "")
		return nil
	}
	r.sayf(PhaseConverge, "did not settle: %s", settled.missing)
	r.warnf("the samples did not settle: %s", settled.missing)
	var unready []trial.ObjectRef
	if !settled.reached {
		unready = r.samples.refs()
	}
	r.mark(history.MarkUnsettled, settled.missing, unready...)
	return nil
}

// apply applies the samples in the order of the subject file. Objects of other
// kinds that stand beside them are applied but not waited for.
func (r *run) apply(ctx context.Context) error {
	for _, o := range r.Subject.Samples {
		applied, err := r.installer.Apply(ctx, o)
		if err != nil {
			return inputOf(err)
		}
		if resource, ok := r.primary(o); ok {
			r.made = append(r.made, manifest.Object{Unstructured: applied, Source: o.Source})
			ref := r.samples.applied(applied, resource)
			r.sayf(PhaseConverge, "applied %s", ref)
		}
	}
	return nil
}

func (r *run) primary(o manifest.Object) (string, bool) {
	for _, p := range r.Subject.Primary {
		if p.Group == o.GroupVersionKind().Group && p.Kind == o.GetKind() {
			return p.Resource, true
		}
	}
	return "", false
}

// whileAlive gives up on a goal once the subject has been given up on.
func (r *run) whileAlive(g goal) goal {
	return func() (bool, string) {
		reached, missing := g()
		if why, given := r.operator.givenUp(); given && !reached {
			return false, missing + "; " + why
		}
		return reached, missing
	}
}

// observe watches the subject at rest.
func (r *run) observe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.Deadlines.Observe)
	defer cancel()
	<-ctx.Done()
	if context.Cause(ctx) != context.DeadlineExceeded { //nolint:errorlint // the cause is set by WithTimeout itself
		return context.Cause(ctx)
	}
	r.mark(history.MarkObserved, "")
	return nil
}

// delete deletes the samples, in reverse order, and waits until they are gone
// and the API is at rest again.
func (r *run) delete(ctx context.Context) error {
	doomed := r.samples.refs()
	if len(doomed) == 0 {
		return nil
	}
	r.activity.begin()
	r.mark(history.MarkDeleting, "", doomed...)
	for _, o := range slices.Backward(r.made) {
		if err := r.installer.Delete(ctx, o); err != nil {
			return err
		}
	}
	gone, err := r.activity.settle(ctx, r.whileAlive(r.gone(doomed)), r.Deadlines.Delete, r.Deadlines.Settle)
	if err != nil {
		return err
	}
	if err := r.sync(ctx); err != nil {
		return err
	}
	if gone.reached {
		r.mark(history.MarkDeleted, gone.missing, doomed...)
		return nil
	}
	r.sayf(PhaseDelete, "not gone: %s", gone.missing)
	r.warnf("the samples were not gone: %s", gone.missing)
	r.mark(history.MarkUndeleted, gone.missing, r.samples.refs()...)
	return nil
}

// sync waits until the history holds everything that was committed so far.
func (r *run) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncWithin)
	defer cancel()
	if err := r.proxy.Flush(ctx); err != nil {
		return fmt.Errorf("completing the history: %w", err)
	}
	if err := r.observer.Sync(ctx); err != nil {
		return fmt.Errorf("completing the history: %w", err)
	}
	return nil
}

// syncWithin is how long the record may lag behind what happened.
const syncWithin = 10 * time.Second

// gone is the goal that the objects are gone, and, where there is a garbage
// collector, so is all that they owned.
func (r *run) gone(objects []trial.ObjectRef) goal {
	collected := r.family.noneLeft(objects)
	return func() (bool, string) {
		if gone, missing := r.samples.allGone(); !gone {
			return false, missing
		}
		if !r.cluster.Level().Provides(trial.LevelControlPlane) {
			return true, ""
		}
		return collected()
	}
}
