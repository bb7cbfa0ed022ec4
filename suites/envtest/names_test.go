//go:build envtest

package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("A name that is taken", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	DescribeTable("is left to its owner and named in the status:", func(ctx SpecContext, k kind) {
		stranger := w.stranger(ctx, k)
		w.create(ctx)
		w.settle(ctx)

		Expect(w.get(ctx, k)).To(Equal(stranger))
		degraded := condition(w.cluster(ctx), redisv1.ConditionDegraded)
		Expect(degraded.Reason).To(Equal(redisv1.ReasonNameTaken))
		Expect(degraded.Message).To(ContainSubstring(k.String()))
		Expect(condition(w.cluster(ctx), redisv1.ConditionReady).Status).To(Equal(metav1.ConditionFalse))

		Expect(w.client.Delete(ctx, stranger)).To(Succeed())
		w.settle(ctx)
		Expect(w.get(ctx, k).GetUID()).NotTo(Equal(stranger.GetUID()))
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	}, forEachKind())

	It("keeps pods from starting with a stranger's configuration", func(ctx SpecContext) {
		w.stranger(ctx, configMap)
		w.create(ctx)
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).NotTo(ContainElement("PATCH statefulsets/demo"))
		Expect(w.wire.sent()).To(ContainElements("PATCH services/demo", "PATCH poddisruptionbudgets/demo"))
	})

	It("in the last moment is not taken over either", func(ctx SpecContext) {
		var stranger client.Object
		w.create(ctx)
		w.wire.before = func(_ int, c call) {
			if c.about() == "PATCH configmaps/demo-config" && stranger == nil {
				stranger = w.stranger(ctx, configMap)
			}
		}
		Expect(w.visit(ctx)).To(MatchError(ContainSubstring("applying ConfigMap demo-config")))
		Expect(w.get(ctx, configMap)).To(Equal(stranger))
		w.wire.before = nil
		w.settle(ctx)
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Reason).To(Equal(redisv1.ReasonNameTaken))
	})

	It("by another RedisCluster's child hurts neither", func(ctx SpecContext) {
		w.settled(ctx)
		// The client Service of the second has the name of the first's
		// headless one.
		second := theName + "-nodes"
		w.create(ctx, func(c *redisv1.RedisCluster) { c.Name = second })
		Expect(w.visitNamed(ctx, second)).To(Succeed())

		cluster := w.newCluster()
		Expect(w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: second}, cluster)).To(Succeed())
		Expect(condition(cluster, redisv1.ConditionDegraded).Message).
			To(ContainSubstring("Service demo-nodes: it exists and does not belong to this RedisCluster, but to RedisCluster demo"))
		Expect(read[*corev1.Service](ctx, w, nodesService).Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		w.settle(ctx)
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})

	It("by a child of an earlier RedisCluster is waited for", func(ctx SpecContext) {
		first := w.settled(ctx)
		Expect(w.client.Delete(ctx, first)).To(Succeed())
		// No garbage collector runs at this level, so the children stay.
		w.create(ctx)
		w.settle(ctx)
		progressing := condition(w.cluster(ctx), redisv1.ConditionProgressing)
		Expect(progressing.Reason).To(Equal(redisv1.ReasonWaitingForDeletion))
		Expect(progressing.Message).To(ContainSubstring("StatefulSet demo"))
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		Expect(w.set(ctx).OwnerReferences).To(ConsistOf(HaveField("UID", first.UID)))

		for _, k := range kinds() {
			Expect(w.client.Delete(ctx, w.get(ctx, k))).To(Succeed())
		}
		w.settle(ctx)
		Expect(w.set(ctx).OwnerReferences).To(ConsistOf(HaveField("UID", w.cluster(ctx).UID)))
	})

	It("by a child of ours that is being deleted is waited for", func(ctx SpecContext) {
		w.settled(ctx)
		change(ctx, w, configMap, func(o client.Object) { o.SetFinalizers([]string{"example.org/hold"}) })
		Expect(w.client.Delete(ctx, w.get(ctx, configMap))).To(Succeed())
		w.settle(ctx)
		progressing := condition(w.cluster(ctx), redisv1.ConditionProgressing)
		Expect(progressing.Reason).To(Equal(redisv1.ReasonWaitingForDeletion))

		change(ctx, w, configMap, func(o client.Object) { o.SetFinalizers(nil) })
		w.settle(ctx)
		Expect(w.get(ctx, configMap).GetDeletionTimestamp()).To(BeNil())
	})

	It("by an object with our labels is still not ours", func(ctx SpecContext) {
		cluster := w.create(ctx)
		stranger := w.stranger(ctx, configMap)
		stranger.SetLabels(map[string]string{
			"app.kubernetes.io/instance":    theName,
			"cache.example.com/cluster-uid": string(cluster.UID),
		})
		Expect(w.client.Update(ctx, stranger)).To(Succeed())
		w.settle(ctx)
		Expect(w.get(ctx, configMap)).To(Equal(stranger))
	})
})

// stranger makes an object that has the name of a child and is no child.
func (w *world) stranger(ctx context.Context, k kind) client.Object {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: k.name}
	mark := map[string]string{"app": "stranger"}
	var o client.Object
	switch k.new().(type) {
	case *corev1.Service:
		o = &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: mark, Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
		}}
	case *corev1.ConfigMap:
		o = &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"redis.conf": "port 1"}}
	case *appsv1.StatefulSet:
		o = &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(0)),
			Selector: &metav1.LabelSelector{MatchLabels: mark},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: mark},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		}}
	case *policyv1.PodDisruptionBudget:
		o = &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: mark},
		}}
	}
	Expect(w.client.Create(ctx, o)).To(Succeed())
	return w.get(ctx, k)
}
