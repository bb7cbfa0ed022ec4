//go:build envtest

package envtest

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// dump is the operator's requests, and the namespace's objects and Events, for
// the report of a spec that failed.
func (w *world) dump(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "writes of the operator:\n  %s\n", strings.Join(w.wire.sent(), "\n  "))
	for _, list := range []client.ObjectList{
		&redisv1.RedisClusterList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &appsv1.StatefulSetList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PodList{}, &eventsv1.EventList{},
	} {
		if err := w.client.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			fmt.Fprintf(&b, "listing %T: %v\n", list, err)
			continue
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error { return describe(&b, o) }); err != nil {
			fmt.Fprintf(&b, "describing %T: %v\n", list, err)
		}
	}
	return b.String()
}

func describe(b *strings.Builder, o runtime.Object) error {
	encoded, err := yaml.Marshal(o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b, "--- %T\n%s", o, encoded)
	return err
}
