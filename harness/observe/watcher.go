package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/seatrial/seatrial/harness/history"
)

// The pauses before the next attempt at a list or a watch.
const (
	pauseFirst = 20 * time.Millisecond
	pauseLast  = time.Second
)

// watcher watches one resource. Its goroutine alone changes the state and
// records; others look on under the lock.
type watcher struct {
	observer *Observer
	name     schema.GroupResource
	// existing: what the first list holds was there before the observer.
	existing bool
	// listed is closed when the first list is recorded, or will never be.
	listed chan struct{}

	mu       sync.Mutex
	resource resource
	state    *state
	// relist: the next step is a list, not a watch.
	relist bool
	// cut ends the step that is under way.
	cut context.CancelFunc
	// doomed: the resource was removed. The watcher ends when all objects are
	// gone.
	doomed bool
	// over: it has ended. err is the last thing that went wrong.
	over bool
	err  error
	// waiting are told when their goal is reached.
	waiting map[*waiter]bool
}

// waiter waits for a goal.
type waiter struct {
	goal    goal
	reached chan struct{}
}

func newWatcher(o *Observer, r resource, existing bool) *watcher {
	return &watcher{
		observer: o, name: r.GroupResource(), existing: existing, listed: make(chan struct{}),
		resource: r, state: newState(), relist: true, cut: func() {}, waiting: map[*waiter]bool{},
	}
}

// run lists and watches until the observer's life ends, or the resource's.
func (w *watcher) run(life context.Context) {
	defer w.finish()
	pause := pauseFirst
	for life.Err() == nil && !w.isDone() {
		err := w.step(life)
		if err == nil {
			pause = pauseFirst
		} else if w.hopeless(err) {
			w.observer.options.Warn(fmt.Sprintf("%s is not watched: %v", w.name, err))
			return
		}
		idle(life, pause)
		if err != nil {
			pause = min(2*pause, pauseLast)
		}
	}
}

// idle pauses for d, or until the life ends.
func idle(life context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-life.Done():
	}
}

// step lists once, or watches until the watch ends.
func (w *watcher) step(life context.Context) error {
	ctx, r, relist, cancel := w.begin(life)
	defer cancel()
	var err error
	if relist {
		if err = w.list(ctx, r); err == nil {
			err = w.watch(ctx, r)
		}
	} else {
		err = w.watch(ctx, r)
	}
	switch {
	case ctx.Err() != nil:
		return nil // cut: what to do next was set by who did that
	case expired(err):
		w.expire()
		return nil
	case apierrors.IsNotFound(err) && w.isDoomed():
		w.record(w.state.gone(nil)...)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	return err
}

func (w *watcher) begin(life context.Context) (ctx context.Context, r resource, relist bool, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(life)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cancel
	return ctx, w.resource, w.relist, cancel
}

// hopeless reports whether a resource cannot be watched at all, which shows at
// the first list. One that a definition defines may yet be served.
func (w *watcher) hopeless(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, custom := w.state.at == "", w.resource.served != nil
	return first && (apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err) && !custom)
}

// list records what differs from what is known.
func (w *watcher) list(ctx context.Context, r resource) error {
	l, err := fetch(ctx, w.observer.client, r, runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	first := w.state.at == ""
	items := make([]*history.Change, 0, len(l.Items))
	for _, item := range l.Items {
		c, err := change(history.Added, r, item, w.observer.options.Redactor)
		if err != nil {
			return err
		}
		c.Existing = first && w.existing
		items = append(items, c)
	}
	w.record(w.state.difference(items)...)
	w.reach(l.Metadata.ResourceVersion)
	w.mu.Lock()
	w.relist = false
	w.mu.Unlock()
	if first {
		close(w.listed)
	}
	return nil
}

// watch records what happens after what is known, until the watch ends.
func (w *watcher) watch(ctx context.Context, r resource) error {
	stream, err := open(ctx, w.observer.client, r, w.state.at)
	if err != nil {
		return err
	}
	defer stream.Close()
	events := json.NewDecoder(stream)
	for {
		var e event
		if err := events.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) {
				return nil // a watch ends after a while: it is resumed
			}
			return fmt.Errorf("reading the watch: %w", err)
		}
		if err := w.take(r, e); err != nil {
			return err
		}
	}
}

// take takes in one event.
func (w *watcher) take(r resource, e event) error {
	if e.Type == typeError {
		return failure(e.Object)
	}
	c, err := change(history.ChangeType(e.Type), r, e.Object, w.observer.options.Redactor)
	if err != nil {
		return err
	}
	if e.Type != typeBookmark && w.state.isNews(c) {
		w.record(c)
	}
	w.reach(c.ResourceVersion)
	return nil
}

// record records changes and tells those concerned.
func (w *watcher) record(changes ...*history.Change) {
	for _, c := range changes {
		w.observer.options.Recorder.Record(history.Entry{Change: c})
		w.observer.options.OnChange(c)
		if w.name == definitions.GroupResource() {
			w.observer.defined(c)
		}
		w.mu.Lock()
		w.state.note(c)
		if w.doomed && len(w.state.known) == 0 {
			w.cut()
		}
		w.mu.Unlock()
	}
}

// reach notes how far the watch has come, and tells who waited for it.
func (w *watcher) reach(version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.at = version
	for waiting := range w.waiting {
		if w.state.reached(waiting.goal) {
			close(waiting.reached)
			delete(w.waiting, waiting)
		}
	}
}

// expire has everything listed anew.
func (w *watcher) expire() {
	w.mu.Lock()
	at := w.state.at
	w.relist = true
	w.mu.Unlock()
	w.observer.options.Warn(fmt.Sprintf(
		"the watch of %s fell behind at resource version %s: versions that were replaced meanwhile are not recorded", w.name, at))
}

// finish lets nobody wait for a watcher that has ended.
func (w *watcher) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.state.at == "" {
		close(w.listed)
	}
	for waiting := range w.waiting {
		close(waiting.reached)
	}
	clear(w.waiting)
}
