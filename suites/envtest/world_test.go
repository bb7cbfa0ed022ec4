//go:build envtest

package envtest

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/seatrial/seatrial/operator/setup"
)

// theName is the name of a spec's RedisCluster where one is enough.
const theName = "demo"

// world is what a spec works with: a namespace of its own, a client with all
// rights, and an operator that is called directly.
type world struct {
	level
	namespace string
	// operator is the reconciler; its requests go over wire.
	operator reconcile.Reconciler
	wire     *wire
	clock    *testclock.FakeClock
	events   *events.FakeRecorder
}

// newWorld makes a world for the spec that runs, and takes it down afterwards.
func newWorld(ctx context.Context, at level) *world {
	GinkgoHelper()
	w := &world{
		level:  at,
		wire:   &wire{},
		clock:  testclock.NewFakeClock(time.Date(2030, time.January, 1, 12, 0, 0, 0, time.UTC)),
		events: events.NewFakeRecorder(100),
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: label(CurrentSpecReport().LeafNodeText) + "-",
		// Pods of the operator must be fit for the strictest standard.
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	Expect(w.client.Create(ctx, namespace)).To(Succeed())
	w.namespace = namespace.Name
	w.restart()
	DeferCleanup(w.end)
	return w
}

// restart replaces the operator by one that remembers nothing.
func (w *world) restart() {
	GinkgoHelper()
	scheme, err := setup.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	c, err := client.New(w.wire.attach(w.config), client.Options{Scheme: scheme, Mapper: w.client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	w.operator = setup.NewReconciler(c, c, w.events, setup.Options{Clock: w.clock})
}

// end takes the world down. After a failure it first shows what was there.
func (w *world) end(ctx SpecContext) {
	if CurrentSpecReport().Failed() {
		AddReportEntry("what was there", w.dump(ctx), ReportEntryVisibilityFailureOrVerbose)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	Expect(client.IgnoreNotFound(w.client.Delete(ctx, namespace))).To(Succeed())
}

// label turns a spec's text into the first part of a namespace's name.
func label(text string) string {
	const most = 40
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == most {
			break
		}
	}
	return "t-" + strings.Trim(b.String(), "-")
}
