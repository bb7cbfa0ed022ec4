//go:build envtest

package envtest

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("Idempotence", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	It("sends no write when nothing has changed, not even one without effect", func(ctx SpecContext) {
		w.running(ctx)
		before := w.versions(ctx)
		for range 5 {
			w.clock.Step(time.Minute)
			Expect(w.visit(ctx)).To(Succeed())
		}
		Expect(w.wire.sent()).To(BeEmpty())
		Expect(w.versions(ctx)).To(Equal(before))
	})

	It("sends no write on the second visit, before pods are ready", func(ctx SpecContext) {
		w.create(ctx)
		Expect(w.visit(ctx)).To(Succeed())
		w.wire.forget()
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(BeEmpty())
	})

	It("sends no write after a restart", func(ctx SpecContext) {
		w.running(ctx)
		w.restart()
		w.clock.Step(time.Hour)
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(BeEmpty())
	})

	It("sends no write for a change that does not concern it", func(ctx SpecContext) {
		w.running(ctx)
		w.edit(ctx, func(c *redisv1.RedisCluster) {
			c.Annotations = map[string]string{"example.org/note": "mine"}
			c.Labels = map[string]string{"team": "blue"}
		})
		Expect(w.visit(ctx)).To(Succeed())
		Expect(w.wire.sent()).To(BeEmpty())
	})
})
