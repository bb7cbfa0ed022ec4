//go:build envtest

package envtest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("What others set", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
		w.running(ctx)
	})

	// disturbed makes the operator write the StatefulSet, so that it has the
	// chance to do harm.
	disturbed := func(ctx SpecContext) {
		GinkgoHelper()
		w.edit(ctx, image("redis:7.2"))
		w.settle(ctx)
		Expect(w.set(ctx).Spec.Template.Spec.Containers[0].Image).To(Equal("redis:7.2"))
	}

	DescribeTable("stays: labels, annotations and finalizers of its", func(ctx SpecContext, k kind) {
		change(ctx, w, k, func(o client.Object) {
			marks := o.GetLabels()
			marks["team"] = "blue"
			o.SetLabels(marks)
			o.SetAnnotations(map[string]string{"example.org/note": "mine"})
			o.SetFinalizers([]string{"example.org/hold"})
			// A change of the operator's own, so that it writes the child.
			marks["app.kubernetes.io/instance"] = "spoilt"
		})
		w.settle(ctx)
		o := w.get(ctx, k)
		Expect(o.GetLabels()).To(And(HaveKeyWithValue("team", "blue"), HaveKeyWithValue("app.kubernetes.io/instance", theName)))
		Expect(o.GetAnnotations()).To(HaveKeyWithValue("example.org/note", "mine"))
		Expect(o.GetFinalizers()).To(ConsistOf("example.org/hold"))
		change(ctx, w, k, func(o client.Object) { o.SetFinalizers(nil) })
	}, forEachKind())

	It("stays: fields that the operator never set", func(ctx SpecContext) {
		change(ctx, w, statefulSet, func(set *appsv1.StatefulSet) { set.Spec.MinReadySeconds = 7 })
		change(ctx, w, clientService, func(o *corev1.Service) { o.Spec.SessionAffinity = corev1.ServiceAffinityClientIP })
		disturbed(ctx)
		Expect(w.set(ctx).Spec.MinReadySeconds).To(Equal(int32(7)))
		Expect(read[*corev1.Service](ctx, w, clientService).Spec.SessionAffinity).To(Equal(corev1.ServiceAffinityClientIP))
	})

	It("stays: a container that somebody added to the pods", func(ctx SpecContext) {
		change(ctx, w, statefulSet, func(set *appsv1.StatefulSet) {
			set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers,
				corev1.Container{Name: "exporter", Image: "exporter:1"})
		})
		disturbed(ctx)
		Expect(w.set(ctx).Spec.Template.Spec.Containers).To(ContainElement(HaveField("Name", "exporter")))
	})

	It("stays: a key that somebody added to the ConfigMap", func(ctx SpecContext) {
		change(ctx, w, configMap, func(o *corev1.ConfigMap) { o.Data["users.acl"] = "user default on" })
		disturbed(ctx)
		Expect(read[*corev1.ConfigMap](ctx, w, configMap).Data).To(HaveKey("users.acl"))
	})

	It("stays: a condition of another author", func(ctx SpecContext) {
		cluster := w.cluster(ctx)
		cluster.Status.Conditions = append(cluster.Status.Conditions, metav1.Condition{
			Type: "Audited", Status: metav1.ConditionTrue, Reason: "Passed", LastTransitionTime: metav1.Now(),
		})
		Expect(w.client.Status().Update(ctx, cluster)).To(Succeed())
		disturbed(ctx)
		Expect(condition(w.cluster(ctx), "Audited").Reason).To(Equal("Passed"))
	})

	It("does not stay where the operator has its say: its own status", func(ctx SpecContext) {
		before := w.cluster(ctx).Status
		cluster := w.cluster(ctx)
		cluster.Status.Phase = "Nonsense"
		cluster.Status.Conditions = nil
		Expect(w.client.Status().Update(ctx, cluster)).To(Succeed())
		w.settle(ctx)
		after := w.cluster(ctx).Status
		Expect(after.Phase).To(Equal(before.Phase))
		Expect(condition(w.cluster(ctx), redisv1.ConditionReady).Status).To(Equal(metav1.ConditionTrue))
	})
})
