//go:build envtest

package envtest

import (
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seatrial/seatrial/harness/manifest"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

const fixtures = "../../fixtures/redis"

var _ = Describe("Validation", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	// create sends a file's object as kubectl does: with strict field
	// validation.
	create := func(ctx SpecContext, path string) (*unstructured.Unstructured, error) {
		GinkgoHelper()
		objects, err := manifest.Read(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(objects).To(HaveLen(1))
		o := objects[0].Unstructured
		o.SetNamespace(w.namespace)
		return o, client.WithFieldValidation(w.client, metav1.FieldValidationStrict).Create(ctx, o)
	}

	DescribeTable("refuses", func(ctx SpecContext, path string) {
		field, _, _ := strings.Cut(filepath.Base(path), "--")
		_, err := create(ctx, path)
		Expect(err).To(Or(Satisfy(apierrors.IsInvalid), Satisfy(apierrors.IsBadRequest)))
		Expect(err).To(MatchError(ContainSubstring(field)), "the refusal must name the field")
	}, files("invalid"))

	DescribeTable("accepts, and the operator can make what is asked for:", func(ctx SpecContext, path string) {
		o, err := create(ctx, path)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.visitNamed(ctx, o.GetName())).To(Succeed())
		Expect(w.wire.sent()).To(HaveLen(writesOfCreation))
	}, files("valid"))

	It("refuses an update that breaks a rule, and keeps what was there", func(ctx SpecContext) {
		w.create(ctx)
		cluster := w.cluster(ctx)
		cluster.Spec.Topology.Shards = 31
		Expect(w.client.Update(ctx, cluster)).To(MatchError(ContainSubstring("spec.topology.shards")))
		Expect(w.cluster(ctx).Spec.Topology.Shards).To(Equal(redisv1.DefaultShards))
	})

	It("refuses a scale that breaks a rule", func(ctx SpecContext) {
		cluster := w.create(ctx)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":31}}`))
		Expect(w.client.SubResource("scale").Patch(ctx, cluster, patch)).To(MatchError(ContainSubstring("spec.topology.shards")))
	})
})

// files makes a table entry of each file in a folder of the fixtures.
func files(folder string) []TableEntry {
	paths, err := filepath.Glob(filepath.Join(fixtures, folder, "*.yaml"))
	if err != nil || len(paths) == 0 {
		Fail("no fixtures in " + folder)
	}
	entries := make([]TableEntry, 0, len(paths))
	for _, path := range paths {
		entries = append(entries, Entry(strings.TrimSuffix(filepath.Base(path), ".yaml"), path))
	}
	return entries
}
