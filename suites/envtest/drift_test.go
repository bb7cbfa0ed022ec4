//go:build envtest

package envtest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("Drift", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
		w.running(ctx)
	})

	// spoil changes a field of each child that the operator set.
	spoil := map[string]func(client.Object){
		nodesService.String():  func(o client.Object) { o.(*corev1.Service).Spec.PublishNotReadyAddresses = false },
		clientService.String(): func(o client.Object) { o.(*corev1.Service).Spec.Ports[0].Port = 6380 },
		configMap.String():     func(o client.Object) { o.(*corev1.ConfigMap).Data = map[string]string{"redis.conf": "port 1"} },
		statefulSet.String(): func(o client.Object) {
			o.(*appsv1.StatefulSet).Spec.Template.Spec.Containers[0].Image = "redis:latest"
		},
		budget.String(): func(o client.Object) {
			o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable = new(intstr.FromString("100%"))
		},
	}

	// essence is what matters of an object: what neither the API server nor
	// the passing of time changes.
	essence := func(o client.Object) any {
		switch o := o.(type) {
		case *corev1.Service:
			return o.Spec
		case *corev1.ConfigMap:
			return o.Data
		case *appsv1.StatefulSet:
			return o.Spec
		case *policyv1.PodDisruptionBudget:
			return o.Spec
		default:
			Fail("no such kind of child")
			return nil
		}
	}

	DescribeTable("undoes a change of its", func(ctx SpecContext, k kind) {
		before := essence(w.get(ctx, k))
		o := w.get(ctx, k)
		spoil[k.String()](o)
		Expect(w.client.Update(ctx, o)).To(Succeed())
		Expect(essence(w.get(ctx, k))).NotTo(Equal(before), "the spec must have changed something")

		Expect(w.visit(ctx)).To(Succeed())
		Expect(essence(w.get(ctx, k))).To(Equal(before))
	}, forEachKind())

	DescribeTable("makes a deleted child anew:", func(ctx SpecContext, k kind) {
		before := w.get(ctx, k)
		Expect(w.client.Delete(ctx, w.get(ctx, k))).To(Succeed())

		Expect(w.visit(ctx)).To(Succeed())
		after := w.get(ctx, k)
		Expect(after.GetUID()).NotTo(Equal(before.GetUID()))
		Expect(after.GetOwnerReferences()).To(Equal(before.GetOwnerReferences()))
	}, forEachKind())

	DescribeTable("takes back an owner reference that was removed from its", func(ctx SpecContext, k kind) {
		before := w.get(ctx, k).GetOwnerReferences()
		change(ctx, w, k, func(o client.Object) { o.SetOwnerReferences(nil) })

		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.get(ctx, k).GetOwnerReferences()).To(Equal(before))
	}, forEachKind())

	It("takes back an owner reference that no longer blocks the owner's deletion", func(ctx SpecContext) {
		change(ctx, w, statefulSet, func(o client.Object) {
			references := o.GetOwnerReferences()
			references[0].BlockOwnerDeletion = new(false)
			o.SetOwnerReferences(references)
		})
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.set(ctx).OwnerReferences).To(ConsistOf(HaveField("BlockOwnerDeletion", HaveValue(Equal(true)))))
	})

	It("puts a label back that was removed", func(ctx SpecContext) {
		const name = "app.kubernetes.io/instance"
		change(ctx, w, configMap, func(o client.Object) {
			rest := o.GetLabels()
			delete(rest, name)
			o.SetLabels(rest)
		})
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.get(ctx, configMap).GetLabels()).To(HaveKeyWithValue(name, theName))
	})

	It("undoes a scale of the StatefulSet itself", func(ctx SpecContext) {
		change(ctx, w, statefulSet, func(set *appsv1.StatefulSet) { set.Spec.Replicas = new(int32(1)) })
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.set(ctx).Spec.Replicas).To(HaveValue(Equal(int32(3))))
	})

	It("does not restart pods to undo a change of the configuration", func(ctx SpecContext) {
		before := w.set(ctx).Generation
		change(ctx, w, configMap, func(o *corev1.ConfigMap) { o.Data["redis.conf"] = "port 1" })
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(ConsistOf("PATCH configmaps/demo-config"))
		Expect(w.set(ctx).Generation).To(Equal(before))
	})

	It("writes only the child that drifted", func(ctx SpecContext) {
		change(ctx, w, clientService, func(o *corev1.Service) { o.Spec.Selector = map[string]string{"app": "other"} })
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(ConsistOf("PATCH services/demo"))
	})
})
