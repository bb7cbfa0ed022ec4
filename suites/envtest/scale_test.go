//go:build envtest

package envtest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("Scale and update", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
		w.running(ctx)
	})

	DescribeTable("follows spec.topology.shards", func(ctx SpecContext, n int32) {
		before := w.set(ctx).Spec.Template
		w.edit(ctx, replicas(n))
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(ConsistOf("PATCH statefulsets/demo", "PATCH redisclusters/demo/status"))
		set := w.set(ctx)
		Expect(set.Spec.Replicas).To(HaveValue(Equal(n)))
		Expect(set.Spec.Template).To(Equal(before), "scaling must not touch the pods that are there")
	},
		Entry("down to the least", int32(1)),
		Entry("up to the most", int32(30)),
	)

	It("can be read and scaled through /scale, as autoscalers do", func(ctx SpecContext) {
		cluster := w.cluster(ctx)
		scale := &autoscalingv1.Scale{}
		Expect(w.client.SubResource("scale").Get(ctx, cluster, scale)).To(Succeed())
		Expect(scale.Spec.Replicas).To(Equal(int32(3)))
		Expect(scale.Status.Replicas).To(Equal(cluster.Status.Shards))
		Expect(scale.Status.Selector).To(Equal(cluster.Status.Selector))

		scale.Spec.Replicas = 5
		Expect(w.client.SubResource("scale").Update(ctx, cluster, client.WithSubResourceBody(scale))).To(Succeed())
		w.settle(ctx)
		Expect(w.cluster(ctx).Spec.Topology.Shards).To(Equal(int32(5)))
		Expect(w.set(ctx).Spec.Replicas).To(HaveValue(Equal(int32(5))))
	})

	It("gives pods a new image and nothing else", func(ctx SpecContext) {
		before := w.set(ctx).Spec
		w.edit(ctx, image("redis:7.2"))
		w.settle(ctx)
		want := *before.DeepCopy()
		want.Template.Spec.Containers[0].Image = "redis:7.2"
		Expect(w.set(ctx).Spec).To(Equal(want))
	})

	It("does both in one write", func(ctx SpecContext) {
		w.edit(ctx, func(c *redisv1.RedisCluster) {
			c.Spec.Topology.Shards, c.Spec.Image.Tag = 6, "7.2"
		})
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(ConsistOf("PATCH statefulsets/demo", "PATCH redisclusters/demo/status"))
	})

	It("does not take pods away on an old view of the StatefulSet", func(ctx SpecContext) {
		w.edit(ctx, replicas(1))
		w.wire.before = func(_ int, c call) {
			if c.about() == "PATCH statefulsets/demo" {
				change(ctx, w, statefulSet, func(set *appsv1.StatefulSet) { set.Spec.MinReadySeconds++ })
			}
		}
		Expect(w.visit(ctx)).To(MatchError(ContainSubstring("the object has been modified")))
		Expect(w.set(ctx).Spec.Replicas).To(HaveValue(Equal(int32(3))))

		w.wire.before = nil
		w.settle(ctx)
		Expect(w.set(ctx).Spec.Replicas).To(HaveValue(Equal(int32(1))))
	})
})
