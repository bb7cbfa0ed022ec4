package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/plan"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// Reasons of Events.
const (
	eventCreated = "Created"
	eventUpdated = "Updated"
)

// apply carries a plan out. One failure does not keep the other children from
// being looked after, except those that need the one that failed.
func (r *Reconciler) apply(ctx context.Context, observed plan.Observation, operations plan.Plan) error {
	target := observed.Target()
	var failed []resource.Role
	var failures []error
	for _, operation := range operations {
		if !operation.Writes() {
			continue
		}
		if slices.ContainsFunc(operation.Child.Needs, func(need resource.Role) bool {
			return slices.Contains(failed, need)
		}) {
			failed = append(failed, operation.Child.Role)
			continue
		}
		err := r.write(ctx, target, operation)
		if namespaceEnds(err) {
			// Nothing can be made there any more, and the RedisCluster goes too.
			log.FromContext(ctx).V(1).Info("The namespace is being deleted")
			return errors.Join(failures...)
		}
		if err != nil {
			failed = append(failed, operation.Child.Role)
			failures = append(failures, fmt.Errorf("applying %s %s: %w", operation.Child.Kind, operation.Name, err))
			continue
		}
		r.announce(target.Cluster, operation)
	}
	return errors.Join(failures...)
}

// write applies one child. A new object is applied without force: if another
// author made one of that name in the meantime, the API server refuses.
func (r *Reconciler) write(ctx context.Context, target resource.Target, operation plan.Operation) error {
	owner := client.FieldOwner(resource.FieldManager)
	if operation.Verb == plan.Create {
		return r.Client.Apply(ctx, operation.Child.Desired(target), owner)
	}
	version := ""
	if operation.Shrinks {
		version = operation.ResourceVersion
	}
	err := r.Client.Apply(ctx, operation.Child.Pinned(target, operation.UID, version), owner, client.ForceOwnership)
	if !apierrors.IsInvalid(err) {
		return err
	}
	if r.replace(ctx, target, operation) != nil {
		return err
	}
	return r.Client.Apply(ctx, operation.Child.Pinned(target, operation.UID, ""), owner, client.ForceOwnership)
}

// replace mends what applying cannot: where somebody changed the key of a
// list's item, such as the number of a port, merging would keep that item
// beside ours, and both together may be invalid. It replaces the lists that we
// set as a whole, but those of the metadata.
func (r *Reconciler) replace(ctx context.Context, target resource.Target, operation plan.Operation) error {
	live := operation.Child.New()
	live.SetNamespace(target.Cluster.Namespace)
	live.SetName(operation.Name)
	desired, err := runtime.DefaultUnstructuredConverter.ToUnstructured(operation.Child.Desired(target))
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", operation.Child.Kind, operation.Name, err)
	}
	desired["metadata"] = map[string]any{"uid": operation.UID, "resourceVersion": operation.ResourceVersion}
	patch, err := json.Marshal(desired)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", operation.Child.Kind, operation.Name, err)
	}
	return r.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(resource.FieldManager))
}

// noteLength is the most that an Event's note may have, in bytes.
const noteLength = 1024

// announce records an Event about the RedisCluster. It names the child as well,
// or Events about several children would count as one that is repeated.
func (r *Reconciler) announce(cluster *redisv1.RedisCluster, operation plan.Operation) {
	reason, action := eventCreated, "Create"
	if operation.Verb == plan.Update {
		reason, action = eventUpdated, "Update"
	}
	note := operation.Child.Kind + " " + operation.Name
	if len(operation.Changes) > 0 {
		note += ": " + strings.Join(operation.Changes, ", ")
	}
	if len(note) > noteLength {
		note = strings.ToValidUTF8(note[:noteLength-len("…")], "") + "…"
	}
	child := &corev1.ObjectReference{
		APIVersion: operation.Child.APIVersion,
		Kind:       operation.Child.Kind,
		Namespace:  cluster.Namespace,
		Name:       operation.Name,
	}
	r.Events.Eventf(cluster, child, corev1.EventTypeNormal, reason, action, "%s", note)
}

// namespaceEnds reports whether a write was refused because the namespace is
// being deleted.
func namespaceEnds(err error) bool {
	return err != nil && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// lasting leaves out failures that say no more than that somebody else was
// quicker: they are gone at the next visit, and no news for the user.
func lasting(failure error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(failure, &joined) {
		return failure
	}
	return errors.Join(slices.DeleteFunc(slices.Clone(joined.Unwrap()), apierrors.IsConflict)...)
}
