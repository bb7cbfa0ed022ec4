//go:build envtest

package envtest

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// The writes of a first visit, and where the status stands among them.
const (
	writesOfCreation = 6
	statusOfCreation = 6
)

var _ = Describe("Failure", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
		w.create(ctx)
	})

	// complete expects every child and a status without complaint.
	complete := func(ctx SpecContext) {
		GinkgoHelper()
		for _, k := range kinds() {
			w.get(ctx, k)
		}
		cluster := w.cluster(ctx)
		Expect(condition(cluster, redisv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		Expect(cluster.Status.ObservedGeneration).To(Equal(cluster.Generation))
	}

	everyWrite := func() []TableEntry {
		var entries []TableEntry
		for n := 1; n <= writesOfCreation; n++ {
			entries = append(entries, Entry(nil, n))
		}
		return entries
	}

	DescribeTable("is reported, and mended by the next visit, at", EntryDescription("write %d"),
		func(ctx SpecContext, failing int) {
			w.wire.refuse = func(n int, _ call) *metav1.Status {
				if n != failing {
					return nil
				}
				return &metav1.Status{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "no disk"}
			}
			Expect(w.visit(ctx)).To(MatchError(ContainSubstring("no disk")))
			if failing != statusOfCreation {
				degraded := condition(w.cluster(ctx), redisv1.ConditionDegraded)
				Expect(degraded.Reason).To(Equal(redisv1.ReasonApplyFailed))
				Expect(degraded.Message).To(ContainSubstring("no disk"))
			}

			w.wire.refuse = nil
			w.settle(ctx)
			complete(ctx)
		}, everyWrite())

	DescribeTable("to hear the answer does no harm, at", EntryDescription("write %d"),
		func(ctx SpecContext, failing int) {
			w.wire.lose = func(n int, _ call) bool { return n == failing }
			Expect(w.visit(ctx)).NotTo(Succeed())
			w.wire.lose = nil
			w.restart()
			w.settle(ctx)
			complete(ctx)
		}, everyWrite())

	It("of one child does not keep those from being made that do not need it", func(ctx SpecContext) {
		w.wire.refuse = func(_ int, c call) *metav1.Status {
			if c.about() != "PATCH configmaps/demo-config" {
				return nil
			}
			return &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "exceeded quota"}
		}
		Expect(w.visit(ctx)).To(MatchError(ContainSubstring("exceeded quota")))
		Expect(w.wire.sent()).To(Equal([]string{
			"PATCH services/demo-nodes",
			"PATCH configmaps/demo-config",
			"PATCH services/demo",
			"PATCH poddisruptionbudgets/demo",
			"PATCH redisclusters/demo/status",
		}), "the StatefulSet mounts the ConfigMap")
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Message).
			To(ContainSubstring("applying ConfigMap demo-config: exceeded quota"))
	})

	It("of the same kind again and again is one Event", func(ctx SpecContext) {
		w.wire.refuse = func(_ int, c call) *metav1.Status {
			if c.about() != "PATCH services/demo" {
				return nil
			}
			return &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "exceeded quota"}
		}
		for range 3 {
			Expect(w.visit(ctx)).NotTo(Succeed())
		}
		var warnings []string
		for len(w.events.Events) > 0 {
			if event := <-w.events.Events; event[:len(corev1.EventTypeWarning)] == corev1.EventTypeWarning {
				warnings = append(warnings, event)
			}
		}
		Expect(warnings).To(ConsistOf(ContainSubstring("ApplyFailed")))
	})

	It("because the namespace is being deleted is no complaint", func(ctx SpecContext) {
		w.wire.refuse = func(_ int, c call) *metav1.Status {
			if c.about() == "PATCH redisclusters/demo/status" {
				return nil
			}
			return &metav1.Status{
				Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "being terminated",
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
			}
		}
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(Equal([]string{"PATCH services/demo-nodes", "PATCH redisclusters/demo/status"}))
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})

	It("by a conflict is tried again and is no complaint", func(ctx SpecContext) {
		w.settle(ctx)
		w.edit(ctx, replicas(4))
		w.wire.refuse = func(_ int, c call) *metav1.Status {
			if c.about() != "PATCH statefulsets/demo" {
				return nil
			}
			return &metav1.Status{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Message: "modified"}
		}
		Expect(w.visit(ctx)).To(MatchError(ContainSubstring("modified")), "an error brings the operator back")
		Expect(condition(w.cluster(ctx), redisv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		w.wire.refuse = nil
		w.settle(ctx)
		Expect(w.set(ctx).Spec.Replicas).To(HaveValue(Equal(int32(4))))
	})

	It("to have the newest RedisCluster does not overwrite its status", func(ctx SpecContext) {
		w.wire.before = func(_ int, c call) {
			if c.about() == "PATCH redisclusters/demo/status" {
				w.edit(ctx, replicas(5))
			}
		}
		Expect(w.visit(ctx)).To(MatchError(ContainSubstring("writing the status")))
		Expect(w.cluster(ctx).Status.ObservedGeneration).To(BeZero())
		w.wire.before = nil
		w.settle(ctx)
		Expect(w.cluster(ctx).Status.ObservedGeneration).To(Equal(int64(2)))
	})
})
