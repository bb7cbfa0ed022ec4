package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// VisitDeadline is how long one reconciliation may take. It ends one that
// waits for an API server that does not answer.
const VisitDeadline = time.Minute

// SetupWithManager makes a manager run the reconciler, concurrency
// RedisClusters at a time.
//
// Children are watched by name rather than by owner: an object that has the
// name of a child concerns the RedisCluster whoever owns it, since its removal
// is what a RedisCluster whose name is taken waits for.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&redisv1.RedisCluster{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			ReconciliationTimeout:   VisitDeadline,
		})
	known := mgr.GetCache()
	for _, watched := range kinds() {
		b = b.Watches(watched, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []ctrl.Request {
			return concerned(ctx, known, o)
		}))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	return nil
}

// kinds returns an empty object of each kind that children are of.
func kinds() []client.Object {
	var objects []client.Object
	seen := map[string]bool{}
	for _, child := range resource.Children() {
		if !seen[child.Kind] {
			seen[child.Kind] = true
			objects = append(objects, child.New())
		}
	}
	return objects
}

// concerned returns the RedisClusters for which an object has the name of a
// child.
func concerned(ctx context.Context, known client.Reader, o client.Object) []ctrl.Request {
	var requests []ctrl.Request
	for _, name := range claimants(o.GetName()) {
		key := types.NamespacedName{Namespace: o.GetNamespace(), Name: name}
		// A RedisCluster that the cache does not show yet is looked after when
		// it appears there.
		if err := known.Get(ctx, key, &redisv1.RedisCluster{}); err == nil {
			requests = append(requests, ctrl.Request{NamespacedName: key})
		}
	}
	return requests
}

// claimants returns the names that a RedisCluster can have if a child of it
// has the given name.
func claimants(child string) []string {
	names := []string{child}
	for _, suffix := range []string{resource.NodesServiceName(""), resource.ConfigMapName("")} {
		if name, cut := strings.CutSuffix(child, suffix); cut && name != "" {
			names = append(names, name)
		}
	}
	return names
}
