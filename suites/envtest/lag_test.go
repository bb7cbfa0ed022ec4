//go:build envtest

package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/setup"
)

var _ = Describe("A cache that lags", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	// lagging replaces the operator by one whose cache answers by get, if that
	// returns true.
	lagging := func(get func(o client.Object) (bool, error)) {
		GinkgoHelper()
		scheme, err := setup.NewScheme()
		Expect(err).NotTo(HaveOccurred())
		live, err := client.NewWithWatch(w.wire.attach(w.config), client.Options{Scheme: scheme, Mapper: w.client.RESTMapper()})
		Expect(err).NotTo(HaveOccurred())
		cached := interceptor.NewClient(live, interceptor.Funcs{Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption,
		) error {
			if answered, err := get(o); answered {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		}})
		w.operator = setup.NewReconciler(cached, live, w.events, setup.Options{Clock: w.clock})
	}

	notFound := apierrors.NewNotFound(schema.GroupResource{}, "not seen yet")

	It("does not make the operator write again what is there", func(ctx SpecContext) {
		w.running(ctx)
		lagging(func(o client.Object) (bool, error) {
			_, isCluster := o.(*redisv1.RedisCluster)
			return !isCluster, notFound
		})
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(BeEmpty())
	})

	It("does not make the operator take over what it has not seen", func(ctx SpecContext) {
		stranger := w.stranger(ctx, configMap)
		w.create(ctx)
		lagging(func(o client.Object) (bool, error) {
			_, isConfigMap := o.(*corev1.ConfigMap)
			return isConfigMap, notFound
		})
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).NotTo(ContainElement("PATCH configmaps/demo-config"))
		Expect(w.get(ctx, configMap)).To(Equal(stranger))
	})

	It("does not make the operator work for a RedisCluster that has gone", func(ctx SpecContext) {
		cluster := w.create(ctx)
		Expect(w.client.Delete(ctx, w.cluster(ctx))).To(Succeed())
		lagging(func(o client.Object) (bool, error) {
			known, isCluster := o.(*redisv1.RedisCluster)
			if isCluster {
				cluster.DeepCopyInto(known)
			}
			return isCluster, nil
		})
		// The API server itself, which is asked before anything is made, knows.
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(BeEmpty())
	})
})
