package observe

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/redact"
)

// Options are what an observer needs.
type Options struct {
	// Config reaches the API server with the right to list and watch all.
	Config *rest.Config
	// Recorder is handed every change.
	Recorder history.Recorder
	// OnChange is called after a change was recorded, from any goroutine but
	// for one change of a resource at a time. The resource's watch waits for
	// it.
	OnChange func(*history.Change)
	// Warn is told, in one line, of what makes the record incomplete. It is
	// called from any goroutine.
	Warn func(string)
	// Exclude are resources that are not watched; nil means Excluded.
	Exclude []schema.GroupResource
	// Redactor makes symbols of the values of Secrets. Default: one of its
	// own, whose symbols compare with no other's.
	Redactor *redact.Redactor
}

// Excluded are the resources that are not watched by default: Events are
// notes, Leases heartbeats.
var Excluded = []schema.GroupResource{
	{Group: "", Resource: "events"},
	{Group: "events.k8s.io", Resource: "events"},
	{Group: "coordination.k8s.io", Resource: "leases"},
}

// Observer watches a cluster.
type Observer struct {
	options Options
	client  rest.Interface

	// life ends with Stop.
	life   context.Context //nolint:containedctx // the life of the observer, not of a call
	end    context.CancelFunc
	living sync.WaitGroup

	mu       sync.Mutex
	watchers map[schema.GroupResource]*watcher
	// started: what is found from now on is new.
	started bool
}

// Start starts to watch. It returns when every object that is there is
// recorded. ctx bounds the start; Stop ends the observer.
func Start(ctx context.Context, options Options) (*Observer, error) {
	options = withDefaults(options)
	config := configFor(options.Config)
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client to watch with: %w", err)
	}
	o := &Observer{options: options, client: client, watchers: map[schema.GroupResource]*watcher{}}
	o.life, o.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := o.start(ctx, discovery.NewDiscoveryClient(client)); err != nil {
		o.Stop()
		return nil, err
	}
	return o, nil
}

func withDefaults(o Options) Options {
	if o.OnChange == nil {
		o.OnChange = func(*history.Change) {}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Exclude == nil {
		o.Exclude = Excluded
	}
	if o.Redactor == nil {
		o.Redactor = redact.New()
	}
	return o
}

// start starts with the definitions of custom resources, of whose watchers
// they then take care.
func (o *Observer) start(ctx context.Context, d discovery.DiscoveryInterface) error {
	o.ensure(definitions)
	if err := o.listed(ctx); err != nil {
		return err
	}
	found, err := o.discover(d)
	if err != nil {
		return err
	}
	for _, r := range found {
		o.ensure(r)
	}
	if err := o.listed(ctx); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.started = true
	return nil
}

// listed waits until every watcher has recorded what was there.
func (o *Observer) listed(ctx context.Context) error {
	for _, w := range o.watching() {
		select {
		case <-w.listed:
		case <-ctx.Done():
			return fmt.Errorf("listing %s: %w: %w", w.name, context.Cause(ctx), w.trouble())
		}
	}
	return nil
}

// watching returns the watchers of those resources that are watched, of all
// when none is named.
func (o *Observer) watching(names ...schema.GroupResource) []*watcher {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []*watcher
	for name, w := range o.watchers {
		if len(names) == 0 || slices.Contains(names, name) {
			found = append(found, w)
		}
	}
	return found
}

// ensure watches a resource, in that version.
func (o *Observer) ensure(r resource) {
	if slices.Contains(o.options.Exclude, r.GroupResource()) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if w, ok := o.watchers[r.GroupResource()]; ok {
		w.revive(r)
		return
	}
	w := newWatcher(o, r, !o.started)
	o.watchers[r.GroupResource()] = w
	o.living.Go(func() { w.run(o.life) })
}

// doom lets the watcher of a resource that was removed end.
func (o *Observer) doom(r schema.GroupResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w, ok := o.watchers[r]; ok {
		w.doom()
	}
}

// forget drops a watcher that wants to end, unless it is wanted again.
func (o *Observer) forget(w *watcher) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !w.isDoomed() {
		return false
	}
	delete(o.watchers, w.name)
	return true
}

// syncAtOnce bounds how many resources are listed at the same time.
const syncAtOnce = 8

// Sync returns when everything that was committed before the call is recorded.
//
// It lists all objects, by their versions only, and waits until the watches
// have seen these versions. One thing can escape it: an object that was
// created and deleted just before, while the watch still lags, leaves nothing
// to wait for. Its changes are recorded all the same, only later.
func (o *Observer) Sync(ctx context.Context) error {
	// The definitions first: they say what else there is to wait for.
	if err := syncAll(ctx, o.watching(definitions.GroupResource())); err != nil {
		return err
	}
	return syncAll(ctx, o.watching())
}

func syncAll(ctx context.Context, watchers []*watcher) error {
	together, ctx := errgroup.WithContext(ctx)
	together.SetLimit(syncAtOnce)
	for _, w := range watchers {
		together.Go(func() error {
			if err := w.sync(ctx); err != nil {
				return fmt.Errorf("waiting for the watch of %s: %w", w.name, err)
			}
			return nil
		})
	}
	return together.Wait()
}

// Stop ends the watches, and returns when nothing more will be recorded.
// Calling it again does nothing.
func (o *Observer) Stop() {
	o.end()
	o.living.Wait()
}
