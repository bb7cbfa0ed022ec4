package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// listsAtOnce bounds how many resources Sync asks for side by side.
const listsAtOnce = 8

// Sync returns when everything that was committed before the call is recorded.
// It lists what is there, from the API server itself, and waits until the
// streams have seen those versions, or later ones, and the end of what is not
// there any more.
func (o *Observer) Sync(ctx context.Context) error {
	o.mu.Lock()
	streams := slices.Collect(maps.Values(o.streams))
	o.mu.Unlock()
	lists, ctx := errgroup.WithContext(ctx)
	lists.SetLimit(listsAtOnce)
	for _, s := range streams {
		lists.Go(func() error { return o.syncStream(ctx, s) })
	}
	if err := lists.Wait(); err != nil {
		return fmt.Errorf("waiting for the watches to catch up: %w", err)
	}
	return nil
}

func (o *Observer) syncStream(ctx context.Context, s *stream) error {
	before := s.uids()
	present := map[string]string{}
	list, err := o.metadata.Resource(s.gvr).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil // its CRD was deleted, and its objects with it
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", s.gvr, err)
	}
	for i := range list.Items {
		present[string(list.Items[i].UID)] = list.Items[i].ResourceVersion
	}
	for {
		o.mu.Lock()
		changed := o.changed
		o.mu.Unlock()
		behind := s.behind(before, present)
		if behind == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %s: %w", s.gvr, behind, context.Cause(ctx))
		case <-o.ctx.Done():
			return fmt.Errorf("%s: the observer was stopped", s.gvr)
		case <-changed:
		}
	}
}

// uids returns the objects that the stream knows to be there.
func (s *stream) uids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.alive))
}

// behind says what the stream has not seen yet, or nothing. before are the
// objects that it knew when those present were listed.
func (s *stream) behind(before []string, present map[string]string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.synced {
		return "its first list has not ended"
	}
	for uid, version := range present {
		known, found := s.alive[uid]
		if !found && !s.ever[uid] {
			return "object " + uid + " has not been seen"
		}
		if !found {
			continue // it has been deleted since
		}
		order, err := resourceversion.CompareResourceVersion(known.GetResourceVersion(), version)
		if err == nil && order < 0 {
			return "object " + uid + " has not been seen at version " + version
		}
	}
	for _, uid := range before {
		_, there := present[uid]
		if _, alive := s.alive[uid]; alive && !there {
			return "the end of object " + uid + " has not been seen"
		}
	}
	return ""
}
