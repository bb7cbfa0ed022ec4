//go:build envtest

package envtest

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("Creation", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	It("makes every child and one status in one visit, and nothing else", func(ctx SpecContext) {
		w.create(ctx)
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(Equal([]string{
			"PATCH services/demo-nodes",
			"PATCH configmaps/demo-config",
			"PATCH statefulsets/demo",
			"PATCH services/demo",
			"PATCH poddisruptionbudgets/demo",
			"PATCH redisclusters/demo/status",
		}))
	})

	It("gives pods names of their own before they are ready", func(ctx SpecContext) {
		w.settled(ctx)
		service := read[*corev1.Service](ctx, w, nodesService)
		Expect(service.Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		Expect(service.Spec.PublishNotReadyAddresses).To(BeTrueBecause("nodes find each other before they are ready"))
		Expect(service.Spec.Ports).To(ConsistOf(
			MatchFields(IgnoreExtras, Fields{"Name": Equal("redis"), "Port": Equal(int32(6379))}),
			MatchFields(IgnoreExtras, Fields{"Name": Equal("bus"), "Port": Equal(int32(16379))}),
		))
		Expect(w.set(ctx).Spec.ServiceName).To(Equal(service.Name))
	})

	It("gives clients an address of ready pods only", func(ctx SpecContext) {
		w.settled(ctx)
		service := read[*corev1.Service](ctx, w, clientService)
		Expect(service.Spec.Type).To(Equal(corev1.ServiceTypeClusterIP))
		Expect(service.Spec.ClusterIP).NotTo(Or(BeEmpty(), Equal(corev1.ClusterIPNone)))
		Expect(service.Spec.PublishNotReadyAddresses).To(BeFalseBecause("clients need ready pods"))
		Expect(service.Spec.Ports).To(ConsistOf(
			MatchFields(IgnoreExtras, Fields{"Port": Equal(int32(6379)), "TargetPort": Equal(intstr.FromString("redis"))}),
		))
	})

	It("turns cluster mode on in the configuration that pods mount", func(ctx SpecContext) {
		w.settled(ctx)
		config := read[*corev1.ConfigMap](ctx, w, configMap)
		Expect(strings.Split(config.Data["redis.conf"], "\n")).To(ContainElements("cluster-enabled yes", "appendonly yes"))
		Expect(w.set(ctx).Spec.Template.Spec.Volumes).To(ContainElement(HaveField("VolumeSource.ConfigMap.Name", config.Name)))
	})

	It("runs the pods in a StatefulSet that starts them all at once", func(ctx SpecContext) {
		w.settled(ctx, replicas(6), image("example.org/redis:7.2"))
		set := w.set(ctx)
		Expect(set.Spec.Replicas).To(HaveValue(Equal(int32(6))))
		Expect(set.Spec.PodManagementPolicy).To(Equal(appsv1.ParallelPodManagement))
		Expect(set.Spec.UpdateStrategy.Type).To(Equal(appsv1.RollingUpdateStatefulSetStrategyType))
		Expect(set.Spec.Template.Spec.Containers).To(ConsistOf(HaveField("Image", "example.org/redis:7.2")))
		Expect(set.Spec.Template.Annotations).To(HaveKey("cache.example.com/config-hash"))
	})

	It("allows one pod at a time to be evicted, and any that is not ready", func(ctx SpecContext) {
		w.settled(ctx)
		pdb := read[*policyv1.PodDisruptionBudget](ctx, w, budget)
		Expect(pdb.Spec.MaxUnavailable).To(HaveValue(Equal(intstr.FromInt32(1))))
		Expect(pdb.Spec.UnhealthyPodEvictionPolicy).To(HaveValue(Equal(policyv1.AlwaysAllow)))
		Expect(pdb.Spec.Selector).To(Equal(w.set(ctx).Spec.Selector))
	})

	DescribeTable("makes the RedisCluster the controller of its", func(ctx SpecContext, k kind) {
		cluster := w.settled(ctx)
		child := w.get(ctx, k)
		Expect(child.GetOwnerReferences()).To(ConsistOf(metav1.OwnerReference{
			APIVersion:         "cache.example.com/v1",
			Kind:               "RedisCluster",
			Name:               theName,
			UID:                cluster.UID,
			Controller:         new(true),
			BlockOwnerDeletion: new(true),
		}))
		Expect(child.GetLabels()).To(And(
			HaveKeyWithValue("app.kubernetes.io/name", "redis"),
			HaveKeyWithValue("app.kubernetes.io/instance", theName),
			HaveKeyWithValue("app.kubernetes.io/managed-by", "rediscluster-operator"),
		))
	}, forEachKind())

	It("fills in three shards of redis:7.0", func(ctx SpecContext) {
		cluster := w.settled(ctx)
		Expect(cluster.Spec.Topology).To(Equal(redisv1.Topology{Shards: 3}))
		Expect(cluster.Spec.Image.Reference()).To(Equal("redis:7.0"))
		Expect(w.set(ctx).Spec.Replicas).To(HaveValue(Equal(int32(3))))
	})

	It("reports a selector that finds exactly its own pods", func(ctx SpecContext) {
		cluster := w.settled(ctx)
		selector, err := labels.Parse(cluster.Status.Selector)
		Expect(err).NotTo(HaveOccurred())
		pod := labels.Set(w.set(ctx).Spec.Template.Labels)
		Expect(selector.Matches(pod)).To(BeTrueBecause("%s must match %s", selector, pod))
		other := labels.Merge(pod, labels.Set{"app.kubernetes.io/instance": "other"})
		Expect(selector.Matches(other)).To(BeFalseBecause("%s must not match %s", selector, other))
	})

	It("works with the longest name that is allowed", func(ctx SpecContext) {
		name := strings.Repeat("a", redisv1.MaxNameLength)
		w.create(ctx, func(c *redisv1.RedisCluster) { c.Name = name })
		Expect(w.visitNamed(ctx, name)).To(Succeed())
		Expect(w.wire.sent()).To(HaveLen(6))
	})

	It("does nothing about a RedisCluster that is gone", func(ctx SpecContext) {
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(BeEmpty())
	})

	It("tells the user what it made by Events", func(ctx SpecContext) {
		w.create(ctx)
		Expect(w.visit(ctx)).To(Succeed())
		for _, k := range []kind{nodesService, configMap, statefulSet, clientService, budget} {
			Expect(w.events.Events).To(Receive(Equal("Normal Created " + k.String())))
		}
		Expect(w.events.Events).NotTo(Receive())
	})
})
