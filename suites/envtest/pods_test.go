//go:build envtest

package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("With pods", levelControlPlane, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.controlplane)
		w.manage(ctx)
	})

	pods := func(ctx context.Context) []corev1.Pod {
		GinkgoHelper()
		found := &corev1.PodList{}
		Expect(w.client.List(ctx, found, client.InNamespace(w.namespace))).To(Succeed())
		return found.Items
	}

	// ready waits until theName is ready as it is now asked for.
	ready := func(ctx context.Context) *redisv1.RedisCluster {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			cluster := w.cluster(ctx)
			g.Expect(cluster.Status.ObservedGeneration).To(Equal(cluster.Generation))
			g.Expect(condition(cluster, redisv1.ConditionReady)).To(HaveField("Status", metav1.ConditionTrue))
		}).WithContext(ctx).WithTimeout(readyWithin).Should(Succeed())
		return w.cluster(ctx)
	}

	It("gets ready, and then writes nothing any more", func(ctx SpecContext) {
		w.create(ctx)
		cluster := ready(ctx)
		Expect(cluster.Status.Phase).To(Equal(redisv1.PhaseReady))
		Expect(cluster.Status.ReadyReplicas).To(Equal(int32(3)))
		Expect(pods(ctx)).To(HaveLen(3))
		w.quiet(ctx)
		w.wire.forget()
		before := w.versions(ctx)
		Consistently(w.wire.sent).Should(BeEmpty())
		Expect(w.versions(ctx)).To(Equal(before))
	})

	It("scales out and in", func(ctx SpecContext) {
		w.create(ctx)
		ready(ctx)
		w.edit(ctx, replicas(5))
		Expect(ready(ctx).Status.Replicas).To(Equal(int32(5)))
		Expect(pods(ctx)).To(HaveLen(5))
		w.edit(ctx, replicas(2))
		Expect(ready(ctx).Status.Replicas).To(Equal(int32(2)))
		Expect(pods(ctx)).To(HaveLen(2))
	})

	It("replaces every pod for a new image", func(ctx SpecContext) {
		w.create(ctx)
		ready(ctx)
		before := pods(ctx)
		w.edit(ctx, image("redis:7.2"))
		ready(ctx)
		after := pods(ctx)
		Expect(after).To(HaveLen(len(before)))
		for _, pod := range after {
			Expect(pod.Spec.Containers[0].Image).To(Equal("redis:7.2"))
			Expect(before).NotTo(ContainElement(HaveField("UID", pod.UID)))
		}
	})

	It("says that pods which crash are not ready, and does not fuss", func(ctx SpecContext) {
		cluster := w.create(ctx, func(c *redisv1.RedisCluster) { c.Name = crashing })
		Eventually(func() []corev1.Pod { return pods(ctx) }).WithContext(ctx).Should(And(HaveLen(3), HaveEach(
			HaveField("Status.ContainerStatuses", ContainElement(HaveField("RestartCount", BeNumerically(">", 0)))))))
		w.quiet(ctx)
		Expect(w.client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(condition(cluster, redisv1.ConditionAvailable).Status).To(Equal(metav1.ConditionFalse))
		Expect(condition(cluster, redisv1.ConditionReady).Message).To(Equal("0 of 3 Redis pods are ready"))
	})

	It("lets one pod be evicted, and no second one at the same time", func(ctx SpecContext) {
		w.create(ctx)
		ready(ctx)
		Eventually(func() int32 {
			return read[*policyv1.PodDisruptionBudget](ctx, w, budget).Status.DisruptionsAllowed
		}).WithContext(ctx).WithTimeout(readyWithin).Should(Equal(int32(1)))
		// The first pod stays while it ends, as a real one does for seconds.
		all := pods(ctx)
		all[0].Finalizers = []string{"example.org/hold"}
		Expect(w.client.Update(ctx, &all[0])).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(w.client.Patch(ctx, &all[0], client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		})
		evict := func(pod *corev1.Pod) error {
			return w.client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
		}
		Expect(evict(&all[0])).To(Succeed())
		Expect(evict(&all[1])).To(Satisfy(apierrors.IsTooManyRequests))
	})
})
