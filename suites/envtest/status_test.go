//go:build envtest

package envtest

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("Status", levelAPIServer, func() {
	var w *world

	allConditions := []string{
		redisv1.ConditionReady, redisv1.ConditionAvailable,
		redisv1.ConditionProgressing, redisv1.ConditionDegraded,
	}

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	// is expects a condition of theName.
	is := func(ctx SpecContext, of string, status metav1.ConditionStatus, reason string) {
		GinkgoHelper()
		c := condition(w.cluster(ctx), of)
		Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{string(status), reason}), "%s: %s", of, c.Message)
	}

	It("has every condition from the first visit on", func(ctx SpecContext) {
		w.create(ctx)
		Expect(w.visit(ctx)).To(Succeed())
		is(ctx, redisv1.ConditionReady, metav1.ConditionFalse, redisv1.ReasonCreating)
		is(ctx, redisv1.ConditionAvailable, metav1.ConditionFalse, redisv1.ReasonPodsNotReady)
		is(ctx, redisv1.ConditionProgressing, metav1.ConditionTrue, redisv1.ReasonCreating)
		is(ctx, redisv1.ConditionDegraded, metav1.ConditionFalse, redisv1.ReasonAsExpected)
		Expect(w.cluster(ctx).Status.Phase).To(Equal(redisv1.PhaseForming))
	})

	It("is available with the first ready pod, and ready with the last", func(ctx SpecContext) {
		w.settled(ctx)
		w.pods(ctx, 3, 1)
		w.settle(ctx)
		is(ctx, redisv1.ConditionAvailable, metav1.ConditionTrue, redisv1.ReasonPodsReady)
		is(ctx, redisv1.ConditionReady, metav1.ConditionFalse, redisv1.ReasonCreating)
		Expect(w.cluster(ctx).Status.ReadyReplicas).To(Equal(int32(1)))

		w.pods(ctx, 3, 3)
		w.settle(ctx)
		is(ctx, redisv1.ConditionReady, metav1.ConditionTrue, redisv1.ReasonPodsReady)
		is(ctx, redisv1.ConditionProgressing, metav1.ConditionFalse, redisv1.ReasonRolledOut)
		cluster := w.cluster(ctx)
		Expect(cluster.Status.Phase).To(Equal(redisv1.PhaseReady))
		Expect(cluster.Status.Replicas).To(Equal(int32(3)))
		Expect(cluster.Status.ReadyReplicas).To(Equal(int32(3)))
	})

	It("does not believe a StatefulSet's status that is older than its spec", func(ctx SpecContext) {
		w.running(ctx)
		w.edit(ctx, image("redis:7.2"))
		w.settle(ctx)
		is(ctx, redisv1.ConditionReady, metav1.ConditionFalse, redisv1.ReasonUpdating)
		Expect(w.cluster(ctx).Status.Phase).To(Equal(redisv1.PhaseUpdating))
	})

	It("is updating while pods of two revisions are there", func(ctx SpecContext) {
		w.running(ctx)
		w.edit(ctx, image("redis:7.2"))
		w.settle(ctx)
		set := w.set(ctx)
		set.Status.ObservedGeneration, set.Status.UpdateRevision = set.Generation, theName+"-2"
		Expect(w.client.Status().Update(ctx, set)).To(Succeed())
		w.settle(ctx)
		is(ctx, redisv1.ConditionProgressing, metav1.ConditionTrue, redisv1.ReasonUpdating)
		w.rollOut(ctx)
		w.settle(ctx)
		is(ctx, redisv1.ConditionReady, metav1.ConditionTrue, redisv1.ReasonPodsReady)
	})

	It("is scaling until the pods are as many as asked for, and stays available", func(ctx SpecContext) {
		w.running(ctx)
		w.edit(ctx, replicas(5))
		w.settle(ctx)
		is(ctx, redisv1.ConditionProgressing, metav1.ConditionTrue, redisv1.ReasonScaling)
		w.pods(ctx, 5, 3)
		w.settle(ctx)
		is(ctx, redisv1.ConditionProgressing, metav1.ConditionTrue, redisv1.ReasonScaling)
		is(ctx, redisv1.ConditionAvailable, metav1.ConditionTrue, redisv1.ReasonPodsReady)
		is(ctx, redisv1.ConditionDegraded, metav1.ConditionFalse, redisv1.ReasonAsExpected)
		Expect(w.cluster(ctx).Status.Phase).To(Equal(redisv1.PhaseRebalancing))
		w.pods(ctx, 5, 5)
		w.settle(ctx)
		is(ctx, redisv1.ConditionReady, metav1.ConditionTrue, redisv1.ReasonPodsReady)
	})

	It("is degraded when a pod is lost, and recovers", func(ctx SpecContext) {
		w.running(ctx)
		w.pods(ctx, 3, 2)
		w.settle(ctx)
		is(ctx, redisv1.ConditionDegraded, metav1.ConditionTrue, redisv1.ReasonPodsNotReady)
		is(ctx, redisv1.ConditionReady, metav1.ConditionFalse, redisv1.ReasonPodsNotReady)
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Message).To(Equal("2 of 3 Redis pods are ready"))
		Expect(w.cluster(ctx).Status.Phase).To(Equal(redisv1.PhaseDegraded))
		w.pods(ctx, 3, 3)
		w.settle(ctx)
		is(ctx, redisv1.ConditionDegraded, metav1.ConditionFalse, redisv1.ReasonAsExpected)
		is(ctx, redisv1.ConditionReady, metav1.ConditionTrue, redisv1.ReasonPodsReady)
	})

	It("carries the generation that it is about, in each condition", func(ctx SpecContext) {
		w.running(ctx)
		w.edit(ctx, replicas(4))
		w.settle(ctx)
		w.edit(ctx, replicas(3))
		w.settle(ctx)
		cluster := w.cluster(ctx)
		Expect(cluster.Generation).To(Equal(int64(3)))
		Expect(cluster.Status.ObservedGeneration).To(Equal(int64(3)))
		for _, of := range allConditions {
			Expect(condition(cluster, of).ObservedGeneration).To(Equal(int64(3)), of)
		}
	})

	It("moves a transition time exactly when the condition's status changes", func(ctx SpecContext) {
		w.running(ctx)
		times := func() map[string]time.Time {
			GinkgoHelper()
			all := map[string]time.Time{}
			for _, of := range allConditions {
				all[of] = condition(w.cluster(ctx), of).LastTransitionTime.UTC()
			}
			return all
		}
		before := times()

		w.clock.Step(time.Hour)
		w.edit(ctx, replicas(4))
		w.settle(ctx)
		after := times()
		now := w.clock.Now()
		Expect(after).To(Equal(map[string]time.Time{
			redisv1.ConditionReady:       now,
			redisv1.ConditionAvailable:   before[redisv1.ConditionAvailable],
			redisv1.ConditionProgressing: now,
			redisv1.ConditionDegraded:    before[redisv1.ConditionDegraded],
		}))

		w.clock.Step(time.Hour)
		w.pods(ctx, 4, 3)
		w.settle(ctx)
		Expect(times()).To(Equal(after), "only a message has changed")
	})

	It("says that somebody holds up the deletion, while nothing else is written", func(ctx SpecContext) {
		w.running(ctx, func(c *redisv1.RedisCluster) { c.Finalizers = []string{"example.org/hold"} })
		Expect(w.client.Delete(ctx, w.cluster(ctx))).To(Succeed())
		Expect(w.client.Delete(ctx, w.get(ctx, clientService))).To(Succeed())
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(ConsistOf("PATCH redisclusters/demo/status"))
		cluster := w.cluster(ctx)
		Expect(cluster.Status.Phase).To(Equal(redisv1.PhaseTerminating))
		Expect(cluster.Status.ObservedGeneration).To(Equal(cluster.Generation))
		w.edit(ctx, func(c *redisv1.RedisCluster) { c.Finalizers = nil })
	})

	It("is one write a visit", func(ctx SpecContext) {
		w.settled(ctx)
		w.rollOut(ctx)
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(ConsistOf("PATCH redisclusters/demo/status"))
	})

	It("shows in the columns of kubectl get", func(ctx SpecContext) {
		w.running(ctx)
		table := &metav1.Table{}
		config := rest.CopyConfig(w.config)
		config.APIPath, config.GroupVersion = "/apis", &redisv1.GroupVersion
		config.NegotiatedSerializer = serializer.NewCodecFactory(w.client.Scheme()).WithoutConversion()
		raw, err := rest.RESTClientFor(config)
		Expect(err).NotTo(HaveOccurred())
		Expect(raw.Get().Namespace(w.namespace).Resource("redisclusters").Name(theName).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx).Into(table)).To(Succeed())

		shown := map[string]any{}
		for i, column := range table.ColumnDefinitions {
			shown[column.Name] = table.Rows[0].Cells[i]
		}
		Expect(shown).To(And(
			HaveKeyWithValue("Shards", BeEquivalentTo(3)),
			HaveKey("Ready-Shards"),
			HaveKeyWithValue("Phase", "Ready"),
			HaveKeyWithValue("Image", "redis"),
			HaveKeyWithValue("Tag", "7.0"),
			HaveKey("Age"),
		))
	})
})
