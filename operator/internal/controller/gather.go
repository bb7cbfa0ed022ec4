package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/plan"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// gather reads a RedisCluster and whatever has the names of its children.
//
// Something is made because it is missing, and a cache that lags cannot tell
// missing from not yet seen, nor an owner that is there from one that has just
// gone. So what the cache lacks is looked for once more at the API server, and
// then the owner is, too.
func (r *Reconciler) gather(ctx context.Context, key types.NamespacedName) (plan.Observation, error) {
	cluster := &redisv1.RedisCluster{}
	if err := r.Client.Get(ctx, key, cluster); err != nil {
		return plan.Observation{}, fmt.Errorf("reading the RedisCluster: %w", err)
	}
	observed := plan.Observation{Cluster: cluster, Live: map[resource.Role]client.Object{}}
	var missing []resource.Child
	for _, child := range resource.Children() {
		found, err := read(ctx, r.Client, observed, child)
		if err != nil {
			return plan.Observation{}, err
		}
		if !found {
			missing = append(missing, child)
		}
	}
	if len(missing) == 0 || !cluster.DeletionTimestamp.IsZero() {
		return observed, nil
	}
	return r.confirm(ctx, observed, missing)
}

func (r *Reconciler) confirm(
	ctx context.Context, observed plan.Observation, missing []resource.Child,
) (plan.Observation, error) {
	for _, child := range missing {
		if _, err := read(ctx, r.Live, observed, child); err != nil {
			return plan.Observation{}, err
		}
	}
	owner := &redisv1.RedisCluster{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(observed.Cluster), owner); err != nil {
		return plan.Observation{}, fmt.Errorf("confirming the RedisCluster: %w", err)
	}
	observed.Cluster = owner
	return observed, nil
}

// read puts the object that has a child's name into the observation, and
// reports whether there is one.
func read(ctx context.Context, from client.Reader, observed plan.Observation, child resource.Child) (bool, error) {
	live := child.New()
	key := types.NamespacedName{Namespace: observed.Cluster.Namespace, Name: child.Name(observed.Cluster.Name)}
	err := from.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s %s: %w", child.Kind, key.Name, err)
	}
	observed.Live[child.Role] = live
	return true, nil
}
