//go:build envtest

package envtest

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("Deletion", levelControlPlane, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.controlplane)
		w.manage(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
	})

	gone := func(ctx context.Context, o client.Object) {
		GinkgoHelper()
		Eventually(func() error { return w.client.Get(ctx, client.ObjectKeyFromObject(o), o) }).
			WithContext(ctx).WithTimeout(readyWithin).Should(Satisfy(apierrors.IsNotFound), "%T %s", o, o.GetName())
	}

	childrenGone := func(ctx context.Context) {
		GinkgoHelper()
		for _, k := range kinds() {
			o := k.new()
			o.SetNamespace(w.namespace)
			o.SetName(k.name)
			gone(ctx, o)
		}
	}

	It("takes the children and their pods along", func(ctx SpecContext) {
		Expect(w.client.Delete(ctx, w.cluster(ctx))).To(Succeed())
		childrenGone(ctx)
		Eventually(func() []corev1.Pod {
			pods := &corev1.PodList{}
			Expect(w.client.List(ctx, pods, client.InNamespace(w.namespace))).To(Succeed())
			return pods.Items
		}).WithContext(ctx).WithTimeout(readyWithin).Should(BeEmpty())
		w.quiet(ctx)
		childrenGone(ctx)
	})

	It("in the foreground ends with the RedisCluster, after its children", func(ctx SpecContext) {
		cluster := w.cluster(ctx)
		// The StatefulSet cannot go yet, so neither can its owner.
		change(ctx, w, statefulSet, func(o client.Object) { o.SetFinalizers([]string{"example.org/hold"}) })
		Expect(w.client.Delete(ctx, cluster, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		Eventually(func() *metav1.Time { return w.set(ctx).DeletionTimestamp }).WithTimeout(readyWithin).ShouldNot(BeNil())
		Consistently(func() error { return w.client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster) }).Should(Succeed())
		change(ctx, w, statefulSet, func(o client.Object) { o.SetFinalizers(nil) })
		gone(ctx, cluster)
		childrenGone(ctx)
	})

	It("that somebody holds up is said in the status, and nothing is made anew", func(ctx SpecContext) {
		w.edit(ctx, func(c *redisv1.RedisCluster) { c.Finalizers = []string{"example.org/hold"} })
		Expect(w.client.Delete(ctx, w.cluster(ctx))).To(Succeed())
		Eventually(func(g Gomega) {
			cluster := w.cluster(ctx)
			g.Expect(cluster.Status.Phase).To(Equal(redisv1.PhaseTerminating))
			g.Expect(cluster.Status.ObservedGeneration).To(Equal(cluster.Generation))
		}).WithContext(ctx).Should(Succeed())

		service := w.get(ctx, clientService)
		Expect(w.client.Delete(ctx, service)).To(Succeed())
		gone(ctx, service)
		w.quiet(ctx)
		Expect(w.client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Satisfy(apierrors.IsNotFound))

		cluster := w.cluster(ctx)
		Expect(cluster.Finalizers).To(ConsistOf("example.org/hold"))
		w.edit(ctx, func(c *redisv1.RedisCluster) { c.Finalizers = nil })
		gone(ctx, cluster)
		childrenGone(ctx)
	})

	It("of the namespace is not held up, and nothing is made anew", func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		Expect(w.client.Delete(ctx, namespace)).To(Succeed())
		gone(ctx, namespace)
		w.quiet(ctx)
	})

	It("that leaves orphans lets them be", func(ctx SpecContext) {
		before := w.set(ctx)
		cluster := w.cluster(ctx)
		Expect(w.client.Delete(ctx, cluster, client.PropagationPolicy(metav1.DeletePropagationOrphan))).To(Succeed())
		gone(ctx, cluster)
		Expect(w.set(ctx).UID).To(Equal(before.UID))
		Expect(w.set(ctx).OwnerReferences).To(BeEmpty())
	})

	It("and making it anew at once gives the new one children of its own", func(ctx SpecContext) {
		first := w.cluster(ctx)
		Expect(w.client.Delete(ctx, first)).To(Succeed())
		second := w.create(ctx)
		Eventually(func(g Gomega) {
			for _, k := range kinds() {
				o := k.new()
				g.Expect(w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: k.name}, o)).To(Succeed())
				g.Expect(o.GetOwnerReferences()).To(ConsistOf(HaveField("UID", second.UID)))
				g.Expect(o.GetDeletionTimestamp()).To(BeNil())
			}
		}).WithContext(ctx).WithTimeout(readyWithin).Should(Succeed())
		for _, write := range w.wire.sent() {
			Expect(strings.HasPrefix(write, "DELETE")).To(BeFalseBecause("the garbage collector deletes, not the operator"))
		}
	})
})
