//go:build envtest

package envtest

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// kind is a kind of child, with the name that theName's has.
type kind struct {
	text string
	name string
	new  func() client.Object
}

// The children of theName.
var (
	nodesService  = kind{"Service", theName + "-nodes", func() client.Object { return &corev1.Service{} }}
	clientService = kind{"Service", theName, func() client.Object { return &corev1.Service{} }}
	configMap     = kind{"ConfigMap", theName + "-config", func() client.Object { return &corev1.ConfigMap{} }}
	statefulSet   = kind{"StatefulSet", theName, func() client.Object { return &appsv1.StatefulSet{} }}
	budget        = kind{"PodDisruptionBudget", theName, func() client.Object { return &policyv1.PodDisruptionBudget{} }}
)

func kinds() []kind { return []kind{nodesService, clientService, configMap, statefulSet, budget} }

// String is "StatefulSet demo".
func (k kind) String() string { return k.text + " " + k.name }

// forEachKind makes a table entry of each kind of child.
func forEachKind() []TableEntry {
	entries := make([]TableEntry, 0, len(kinds()))
	for _, k := range kinds() {
		entries = append(entries, Entry(k.String(), k))
	}
	return entries
}

// newCluster is a RedisCluster of theName, changed by mods.
func (w *world) newCluster(mods ...func(*redisv1.RedisCluster)) *redisv1.RedisCluster {
	cluster := &redisv1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: theName}}
	for _, mod := range mods {
		mod(cluster)
	}
	return cluster
}

// create creates a RedisCluster of theName, changed by mods.
func (w *world) create(ctx context.Context, mods ...func(*redisv1.RedisCluster)) *redisv1.RedisCluster {
	GinkgoHelper()
	cluster := w.newCluster(mods...)
	Expect(w.client.Create(ctx, cluster)).To(Succeed())
	return cluster
}

// settled creates a RedisCluster of theName and lets the operator do all it
// wants to about it. The counts of the wire start after that.
func (w *world) settled(ctx context.Context, mods ...func(*redisv1.RedisCluster)) *redisv1.RedisCluster {
	GinkgoHelper()
	w.create(ctx, mods...)
	w.settle(ctx)
	return w.cluster(ctx)
}

// running is settled, and all pods ready.
func (w *world) running(ctx context.Context, mods ...func(*redisv1.RedisCluster)) *redisv1.RedisCluster {
	GinkgoHelper()
	w.settled(ctx, mods...)
	w.rollOut(ctx)
	w.settle(ctx)
	return w.cluster(ctx)
}

// visit reconciles theName once.
func (w *world) visit(ctx context.Context) error { return w.visitNamed(ctx, theName) }

func (w *world) visitNamed(ctx context.Context, name string) error {
	key := types.NamespacedName{Namespace: w.namespace, Name: name}
	result, err := w.operator.Reconcile(ctx, reconcile.Request{NamespacedName: key})
	if err == nil && result != (reconcile.Result{}) {
		return fmt.Errorf("reconciling asks for another visit: %+v", result)
	}
	return err
}

// settle reconciles theName until that writes nothing. The wire forgets what
// was written.
func (w *world) settle(ctx context.Context) {
	GinkgoHelper()
	const most = 5
	for range most {
		w.wire.forget()
		Expect(w.visit(ctx)).To(Succeed())
		if len(w.wire.sent()) == 0 {
			return
		}
	}
	Fail(fmt.Sprintf("the operator still writes at visit %d: %v", most, w.wire.sent()))
}

// get reads the child of that kind.
func (w *world) get(ctx context.Context, k kind) client.Object {
	GinkgoHelper()
	o := k.new()
	Expect(w.client.Get(ctx, types.NamespacedName{Namespace: w.namespace, Name: k.name}, o)).To(Succeed())
	return o
}

// change reads the child of that kind and updates it; controllers may write it
// at the same time.
func change[T client.Object](ctx context.Context, w *world, k kind, mod func(T)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o := read[T](ctx, w, k)
		mod(o)
		return w.client.Update(ctx, o)
	})).To(Succeed())
}

// read reads the child of that kind in its own type.
func read[T client.Object](ctx context.Context, w *world, k kind) T {
	GinkgoHelper()
	o, ok := w.get(ctx, k).(T)
	Expect(ok).To(BeTrueBecause("%s must be a %T", k, o))
	return o
}

func (w *world) set(ctx context.Context) *appsv1.StatefulSet {
	GinkgoHelper()
	return read[*appsv1.StatefulSet](ctx, w, statefulSet)
}

// cluster reads theName.
func (w *world) cluster(ctx context.Context) *redisv1.RedisCluster {
	GinkgoHelper()
	cluster := &redisv1.RedisCluster{}
	Expect(w.client.Get(ctx, types.NamespacedName{Namespace: w.namespace, Name: theName}, cluster)).To(Succeed())
	return cluster
}

// edit updates theName.
func (w *world) edit(ctx context.Context, mod func(*redisv1.RedisCluster)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cluster := w.cluster(ctx)
		mod(cluster)
		return w.client.Update(ctx, cluster)
	})).To(Succeed())
}

// rollOut says in the StatefulSet's status that all its pods are there, ready
// and of the newest revision, as its controller would.
func (w *world) rollOut(ctx context.Context) {
	GinkgoHelper()
	replicas := *w.set(ctx).Spec.Replicas
	w.pods(ctx, replicas, replicas)
}

// pods says in the StatefulSet's status how many pods there are, and ready.
func (w *world) pods(ctx context.Context, replicas, ready int32) {
	GinkgoHelper()
	set := w.set(ctx)
	set.Status.ObservedGeneration = set.Generation
	set.Status.Replicas, set.Status.ReadyReplicas = replicas, ready
	set.Status.CurrentReplicas, set.Status.UpdatedReplicas = replicas, replicas
	set.Status.CurrentRevision, set.Status.UpdateRevision = theName+"-1", theName+"-1"
	Expect(w.client.Status().Update(ctx, set)).To(Succeed())
}

// condition returns a condition of theName's status.
func condition(cluster *redisv1.RedisCluster, of string) metav1.Condition {
	GinkgoHelper()
	found := meta.FindStatusCondition(cluster.Status.Conditions, of)
	Expect(found).NotTo(BeNil(), "no condition %s", of)
	return *found
}

// versions returns the resource versions of theName and its children.
func (w *world) versions(ctx context.Context) map[string]string {
	GinkgoHelper()
	all := map[string]string{redisv1.Kind: w.cluster(ctx).ResourceVersion}
	for _, k := range kinds() {
		all[k.String()] = w.get(ctx, k).GetResourceVersion()
	}
	return all
}

func replicas(n int32) func(*redisv1.RedisCluster) {
	return func(c *redisv1.RedisCluster) { c.Spec.Topology.Shards = n }
}

func image(name string) func(*redisv1.RedisCluster) {
	return func(c *redisv1.RedisCluster) { c.Spec.Image = redisv1.ParseImage(name) }
}
