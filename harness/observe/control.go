package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// What others ask of a watcher.

// revive has the watcher go on, in the version given if its own is served no
// longer.
func (w *watcher) revive(r resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	moved := r.served != nil && !slices.Contains(r.served, w.resource.Version)
	if !moved && !w.doomed {
		return
	}
	if moved {
		w.resource = r
	}
	w.doomed, w.relist = false, true
	w.cut()
}

// doom lets the watcher end when the last object is gone.
func (w *watcher) doom() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doomed = true
	if len(w.state.known) == 0 {
		w.cut()
	}
}

func (w *watcher) isDoomed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doomed
}

// isDone reports whether the watcher's resource and all its objects are gone,
// and nobody wants it again.
func (w *watcher) isDone() bool {
	w.mu.Lock()
	done := w.doomed && len(w.state.known) == 0
	w.mu.Unlock()
	return done && w.observer.forget(w)
}

// trouble returns the last thing that went wrong.
func (w *watcher) trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		return errors.New("no answer yet")
	}
	return w.err
}

// sync waits until the watcher has recorded all that is there now.
func (w *watcher) sync(ctx context.Context) error {
	r, over := w.current()
	if over {
		return nil
	}
	g, err := look(ctx, w.observer.client, r)
	switch {
	case apierrors.IsNotFound(err):
		return nil // what is not served holds nothing that could be seen
	case err != nil:
		return err
	}
	waiting := w.await(g)
	select {
	case <-waiting:
		return nil
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Errorf("at resource version %q, want %s: %w", w.state.at, g.at, context.Cause(ctx))
	}
}

func (w *watcher) current() (r resource, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.resource, w.over
}

// look lists the versions of all objects.
func look(ctx context.Context, c rest.Interface, r resource) (goal, error) {
	l, err := fetch(ctx, c, r, onlyVersions)
	if err != nil {
		return goal{}, err
	}
	g := goal{at: l.Metadata.ResourceVersion, versions: make(map[string]string, len(l.Items))}
	for _, item := range l.Items {
		var m metadata
		if err := json.Unmarshal(item, &m); err != nil {
			return goal{}, fmt.Errorf("reading the list: %w", err)
		}
		g.versions[m.Metadata.UID] = m.Metadata.ResourceVersion
	}
	return g, nil
}

// await returns what is closed when the goal is reached, or never will be.
func (w *watcher) await(g goal) <-chan struct{} {
	waiting := &waiter{goal: g, reached: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.state.reached(g) {
		close(waiting.reached)
	} else {
		w.waiting[waiting] = true
	}
	return waiting.reached
}
