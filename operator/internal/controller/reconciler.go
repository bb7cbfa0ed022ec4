package controller

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/seatrial/seatrial/operator/internal/plan"
	"github.com/seatrial/seatrial/operator/internal/status"
)

// +kubebuilder:rbac:groups=cache.example.com,resources=redisclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=redisclusters/status,verbs=patch
// +kubebuilder:rbac:groups=cache.example.com,resources=redisclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler brings what is there to what RedisClusters ask for.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server itself. It is asked before something is
	// made: the cache may not show yet what is there.
	Live client.Reader
	// Events records what was done.
	Events events.EventRecorder
	// Clock gives the time of conditions.
	Clock clock.PassiveClock
}

// Reconcile looks after one RedisCluster. It asks for no second visit: all
// that it waits for is watched. An error brings it back after a while.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	observed, err := r.gather(ctx, request.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	operations, err := plan.Make(observed)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("planning: %w", err)
	}
	if len(operations) > 0 {
		log.FromContext(ctx).V(1).Info("Carrying out a plan", "plan", operations.String())
	}
	failure := r.apply(ctx, observed, operations)
	next := status.Of(status.Input{
		Observation: observed,
		Plan:        operations,
		Failure:     lasting(failure),
		Now:         metav1.NewTime(r.Clock.Now()),
	})
	return ctrl.Result{}, errors.Join(failure, r.report(ctx, observed.Cluster, next))
}
