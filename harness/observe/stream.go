package observe

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/redact"
)

// stream records the versions of the objects of one resource. It is the store
// that a reflector fills.
type stream struct {
	observer *Observer
	gvr      schema.GroupVersionResource
	kind     string

	mu sync.Mutex
	// synced is true once the first list has been recorded.
	synced bool
	// alive are the objects that are there, by UID.
	alive map[string]*unstructured.Unstructured
	// ever are the UIDs of all that have ever been seen.
	ever map[string]bool
}

func newStream(o *Observer, gvr schema.GroupVersionResource, kind string) *stream {
	return &stream{observer: o, gvr: gvr, kind: kind, alive: map[string]*unstructured.Unstructured{}, ever: map[string]bool{}}
}

// run lists and watches until the context ends.
func (s *stream) run(ctx context.Context) {
	resource := s.observer.client.Resource(s.gvr)
	source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return resource.Watch(ctx, options)
		},
	}, s.observer.client)
	quiet := klog.Logger{}
	cache.NewReflectorWithOptions(source, &unstructured.Unstructured{}, s, cache.ReflectorOptions{
		Name: "seatrial", TypeDescription: s.gvr.String(), Logger: &quiet,
	}).RunWithContext(ctx)
}

// Add implements cache.ReflectorStore.
func (s *stream) Add(object any) error { return s.seen(history.Added, object) }

// Update implements cache.ReflectorStore.
func (s *stream) Update(object any) error { return s.seen(history.Modified, object) }

// Delete implements cache.ReflectorStore.
func (s *stream) Delete(object any) error { return s.seen(history.Deleted, object) }

// Resync implements cache.ReflectorStore.
func (s *stream) Resync() error { return nil }

// Replace implements cache.ReflectorStore: the first list, or the one after a
// watch that could not be taken up again. What changed in between is recorded
// as far as it shows; versions that came and went are lost, as they are to
// every client.
func (s *stream) Replace(list []any, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.observer.progressed()
	present := map[string]bool{}
	for _, item := range list {
		u, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("the list of %s holds a %T", s.gvr, item)
		}
		uid := string(u.GetUID())
		present[uid] = true
		known, found := s.alive[uid]
		switch {
		case !found:
			s.record(history.Added, u, !s.synced)
		case known.GetResourceVersion() != u.GetResourceVersion():
			s.record(history.Modified, u, false)
		}
	}
	for uid, u := range s.alive {
		if !present[uid] {
			s.record(history.Deleted, u, false)
		}
	}
	s.synced = true
	return nil
}

func (s *stream) seen(what history.ChangeType, object any) error {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("the watch of %s delivered a %T", s.gvr, object)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, found := s.alive[string(u.GetUID())]
	if what != history.Deleted && found && known.GetResourceVersion() == u.GetResourceVersion() {
		return nil // a watch that was taken up again may repeat itself
	}
	s.record(what, u, false)
	s.observer.progressed()
	return nil
}

// record is called with the lock held, so that versions are recorded in the
// order in which they came.
func (s *stream) record(what history.ChangeType, u *unstructured.Unstructured, existing bool) {
	s.ever[string(u.GetUID())] = true
	if what == history.Deleted {
		delete(s.alive, string(u.GetUID()))
	} else {
		s.alive[string(u.GetUID())] = u
	}
	raw, err := u.MarshalJSON()
	if err == nil {
		raw, err = s.observer.options.Redactor.JSON(redact.Target{Group: s.gvr.Group, Resource: s.gvr.Resource}, raw)
	}
	if err != nil {
		// What came from the API server as JSON is JSON.
		raw = []byte("{}")
	}
	change := &history.Change{
		Type: what, Existing: existing, Group: s.gvr.Group, Version: s.gvr.Version, Kind: s.kind, Resource: s.gvr.Resource,
		Object: raw, Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()),
		ResourceVersion: u.GetResourceVersion(), Generation: u.GetGeneration(),
	}
	s.observer.options.Recorder.Record(history.Entry{Change: change})
	if s.observer.options.OnChange != nil {
		s.observer.options.OnChange(change)
	}
	if s.gvr.Resource == "customresourcedefinitions" && !existing {
		select {
		case s.observer.found <- struct{}{}:
		default:
		}
	}
}
