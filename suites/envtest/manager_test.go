//go:build envtest

package envtest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/setup"
)

// stoppedWithin is how long a manager may take to stop.
const stoppedWithin = 10 * time.Second

// account is who the operator is where it is installed by its own manifests.
const account = "system:serviceaccount:redis-system:rediscluster-operator"

// asShipped is the configuration of the operator under its own RBAC.
func (w *world) asShipped() *rest.Config {
	config := rest.CopyConfig(w.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:redis-system", "system:authenticated"},
	}
	return config
}

// manage runs the operator in a manager, under its own RBAC and for the spec's
// namespace, until stop is called or the spec ends.
func (w *world) manage(ctx context.Context) (stop func()) {
	GinkgoHelper()
	o := setup.Options{Namespaces: []string{w.namespace}}
	options, err := setup.ManagerOptions(o)
	Expect(err).NotTo(HaveOccurred())
	options.Metrics = server.Options{BindAddress: "0"}
	options.HealthProbeBindAddress = "0"
	// Each spec that needs a manager makes one, all of the same name.
	options.Controller.SkipNameValidation = new(true)
	mgr, err := ctrl.NewManager(w.wire.attach(w.asShipped()), options)
	Expect(err).NotTo(HaveOccurred())
	Expect(setup.Register(mgr, o)).To(Succeed())

	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	stopped := false
	stop = func() {
		GinkgoHelper()
		if stopped {
			return
		}
		stopped = true
		cancel()
		Eventually(ended).WithTimeout(stoppedWithin).Should(Receive(BeNil()))
	}
	DeferCleanup(stop)
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrueBecause("the cache must fill"))
	return stop
}

// quiet waits until the operator has written nothing for quietFor.
func (w *world) quiet(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		before := len(w.wire.sent())
		g.Consistently(func() int { return len(w.wire.sent()) }).Should(Equal(before))
	}).WithContext(ctx).Should(Succeed())
}

// childrenExist expects every child of theName soon.
func (w *world) childrenExist(ctx context.Context) {
	GinkgoHelper()
	for _, k := range kinds() {
		Eventually(func() error {
			return w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: k.name}, k.new())
		}).WithContext(ctx).Should(Succeed(), k.String())
	}
}

var _ = Describe("The manager", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	It("works under the operator's own RBAC: nothing is forbidden", func(ctx SpecContext) {
		w.manage(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
		w.edit(ctx, func(c *redisv1.RedisCluster) {
			c.Spec.Topology.Shards, c.Spec.Image.Tag = 5, "7.2"
		})
		Eventually(func() *int32 { return w.set(ctx).Spec.Replicas }).Should(HaveValue(Equal(int32(5))))
		w.rollOut(ctx)
		Eventually(func() string { return w.cluster(ctx).Status.Phase }).Should(Equal(redisv1.PhaseReady))
		Expect(w.client.Delete(ctx, w.get(ctx, configMap))).To(Succeed())
		w.childrenExist(ctx)
		w.quiet(ctx)
		Expect(w.wire.answered(http.StatusForbidden)).To(BeEmpty())
	})

	It("writes nothing twice, though its watches lag", func(ctx SpecContext) {
		w.wire.lag = 200 * time.Millisecond
		w.manage(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
		w.quiet(ctx)
		w.edit(ctx, replicas(5))
		Eventually(func() *int32 { return w.set(ctx).Spec.Replicas }).Should(HaveValue(Equal(int32(5))))
		w.quiet(ctx)

		times := map[string]int{}
		for _, write := range w.wire.sent() {
			times[write]++
		}
		Expect(times).To(And(
			HaveKeyWithValue("PATCH services/demo-nodes", 1),
			HaveKeyWithValue("PATCH configmaps/demo-config", 1),
			HaveKeyWithValue("PATCH statefulsets/demo", 2),
			HaveKeyWithValue("PATCH services/demo", 1),
			HaveKeyWithValue("PATCH poddisruptionbudgets/demo", 1),
			HaveKeyWithValue("PATCH redisclusters/demo/status", 2),
		))
		Expect(w.wire.answered(http.StatusConflict)).To(BeEmpty(), "it must not act on a view that is older than its own writes")
	})

	It("writes nothing when it is started again", func(ctx SpecContext) {
		stop := w.manage(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
		w.rollOut(ctx)
		Eventually(func() string { return w.cluster(ctx).Status.Phase }).Should(Equal(redisv1.PhaseReady))
		w.quiet(ctx)
		stop()
		before := w.versions(ctx)

		w.wire.forget()
		w.manage(ctx)
		w.quiet(ctx)
		Expect(w.wire.sent()).To(BeEmpty())
		Expect(w.versions(ctx)).To(Equal(before))
	})

	It("catches up with what happened while it was down", func(ctx SpecContext) {
		stop := w.manage(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
		w.quiet(ctx)
		stop()
		w.edit(ctx, replicas(7))
		Expect(w.client.Delete(ctx, w.get(ctx, clientService))).To(Succeed())
		w.manage(ctx)
		w.childrenExist(ctx)
		Eventually(func() *int32 { return w.set(ctx).Spec.Replicas }).Should(HaveValue(Equal(int32(7))))
	})

	DescribeTable("is woken when a child goes:", func(ctx SpecContext, k kind) {
		w.manage(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
		gone := w.get(ctx, k)
		Expect(w.client.Delete(ctx, gone)).To(Succeed())
		Eventually(func() (string, error) {
			o := k.new()
			err := w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: k.name}, o)
			return string(o.GetUID()), err
		}).WithContext(ctx).Should(And(Not(BeEmpty()), Not(Equal(string(gone.GetUID())))))
	}, forEachKind())

	DescribeTable("is woken when a name gets free:", func(ctx SpecContext, k kind) {
		stranger := w.stranger(ctx, k)
		w.manage(ctx)
		w.create(ctx)
		Eventually(func() string { return w.cluster(ctx).Status.Phase }).Should(Equal(redisv1.PhaseDegraded))
		Expect(w.client.Delete(ctx, stranger)).To(Succeed())
		w.childrenExist(ctx)
		Eventually(func() string { return w.cluster(ctx).Status.Phase }).Should(Equal(redisv1.PhaseForming))
	}, forEachKind())

	It("leaves namespaces alone that it was not given", func(ctx SpecContext) {
		w.manage(ctx)
		other := newWorld(ctx, levels.apiserver)
		other.create(ctx)
		w.create(ctx)
		w.childrenExist(ctx)
		Expect(other.cluster(ctx).Status.Conditions).To(BeEmpty())
	})

	It("records Events where kubectl describe shows them", func(ctx SpecContext) {
		w.manage(ctx)
		w.create(ctx)
		Eventually(func(g Gomega) {
			recorded := &eventsv1.EventList{}
			g.Expect(w.client.List(ctx, recorded, client.InNamespace(w.namespace))).To(Succeed())
			g.Expect(recorded.Items).To(ContainElement(And(
				HaveField("Regarding.Name", theName),
				HaveField("Reason", "Created"),
				HaveField("Type", corev1.EventTypeNormal),
				HaveField("ReportingController", "rediscluster-operator"),
				HaveField("Note", "StatefulSet demo"),
			)))
		}).WithContext(ctx).Should(Succeed())
	})

	DescribeTable("has no right that it does not use:", func(ctx SpecContext, verb, group, resource, subresource string) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
			},
		}}
		Expect(w.client.Create(ctx, review)).To(Succeed())
		Expect(review.Status.Allowed).To(BeFalseBecause("nobody needs it"))
	},
		func(verb, group, resource, subresource string) string {
			return fmt.Sprint(verb, " ", resource, " ", group, " ", subresource)
		},
		Entry(nil, "get", "", "secrets", ""),
		Entry(nil, "list", "", "secrets", ""),
		Entry(nil, "get", "", "pods", ""),
		Entry(nil, "delete", "", "pods", ""),
		Entry(nil, "create", "", "pods", "exec"),
		Entry(nil, "delete", "apps", "statefulsets", ""),
		Entry(nil, "update", "cache.example.com", "redisclusters", ""),
		Entry(nil, "patch", "cache.example.com", "redisclusters", ""),
		Entry(nil, "delete", "cache.example.com", "redisclusters", ""),
		Entry(nil, "create", "rbac.authorization.k8s.io", "rolebindings", ""),
		Entry(nil, "get", "coordination.k8s.io", "leases", ""),
	)
})
