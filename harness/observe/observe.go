// Package observe watches everything in a cluster and records every version of
// every object: the ground truth of a history, whoever caused it.
//
// It does not go through the proxy. Listing, watching, and coming back after a
// lost watch are client-go's reflectors'.
package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/redact"
)

// Excluded are the resources that are not recorded by default: Events are
// notes, Leases heartbeats.
var Excluded = []schema.GroupResource{
	{Group: "", Resource: "events"},
	{Group: "events.k8s.io", Resource: "events"},
	{Group: "coordination.k8s.io", Resource: "leases"},
}

// Options say what to watch and where to record it.
type Options struct {
	// Config reaches the API server with all rights.
	Config *rest.Config
	// Recorder gets every version.
	Recorder history.Recorder
	// OnChange is told of each after it was recorded, by the goroutine of its
	// resource; nil means nobody. It must not block.
	OnChange func(*history.Change)
	// Redactor keeps the values of Secrets out of the record; nil means a new
	// one.
	Redactor *redact.Redactor
	// Exclude are resources that are not watched; nil means Excluded.
	Exclude []schema.GroupResource
}

// Observer watches until Stop.
type Observer struct {
	options   Options
	discovery discovery.DiscoveryInterface
	client    dynamic.Interface
	metadata  metadata.Interface

	ctx    context.Context //nolint:containedctx // the observer's own life, ended by Stop
	cancel context.CancelFunc
	work   sync.WaitGroup
	// found has room for one: CRDs changed, look for new resources.
	found chan struct{}

	mu      sync.Mutex
	streams map[schema.GroupVersionResource]*stream
	// changed is closed, and made anew, whenever a stream got on.
	changed chan struct{}
}

// Start returns when every resource's objects are recorded. The context bounds
// the start, not the observer.
func Start(ctx context.Context, options Options) (*Observer, error) {
	if options.Exclude == nil {
		options.Exclude = Excluded
	}
	if options.Redactor == nil {
		options.Redactor = redact.New()
	}
	o := &Observer{
		options: options, found: make(chan struct{}, 1),
		streams: map[schema.GroupVersionResource]*stream{}, changed: make(chan struct{}),
	}
	config := rest.CopyConfig(options.Config)
	// Some hundred watches begin at once.
	config.QPS, config.Burst = -1, 0
	// Deprecated resources are watched like all others.
	config.WarningHandler = rest.NoWarnings{}
	var err1, err2, err3 error
	o.discovery, err1 = discovery.NewDiscoveryClientForConfig(config)
	o.client, err2 = dynamic.NewForConfig(config)
	o.metadata, err3 = metadata.NewForConfig(config)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("preparing to watch: %w", err)
	}
	o.ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := o.refresh(); err != nil {
		o.Stop()
		return nil, err
	}
	o.work.Go(o.followCRDs)
	if err := o.Sync(ctx); err != nil {
		o.Stop()
		return nil, err
	}
	return o, nil
}

// Stop ends the watches and returns when nothing more will be recorded.
func (o *Observer) Stop() {
	o.cancel()
	o.work.Wait()
}

// followCRDs looks for new resources whenever a CRD changed.
func (o *Observer) followCRDs() {
	for {
		select {
		case <-o.ctx.Done():
			return
		case <-o.found:
			// A failure is one of discovery; the next CRD change tries again,
			// and Sync reports what it cannot see.
			_ = o.refresh()
		}
	}
}

// refresh starts to watch what is not watched yet.
func (o *Observer) refresh() error {
	lists, err := discovery.ServerPreferredResources(o.discovery)
	if err != nil && len(lists) == 0 {
		return fmt.Errorf("asking the API server for its resources: %w", err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return fmt.Errorf("asking the API server for its resources: %w", err)
		}
		for _, r := range list.APIResources {
			gvr := version.WithResource(r.Name)
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") && !slices.Contains(o.options.Exclude, gvr.GroupResource()) {
				o.watch(gvr, r.Kind)
			}
		}
	}
	return nil
}

func (o *Observer) watch(gvr schema.GroupVersionResource, kind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.streams[gvr]; known || o.ctx.Err() != nil {
		return
	}
	s := newStream(o, gvr, kind)
	o.streams[gvr] = s
	o.work.Go(func() { s.run(o.ctx) })
}

// progressed wakes whoever waits for the streams.
func (o *Observer) progressed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
}
