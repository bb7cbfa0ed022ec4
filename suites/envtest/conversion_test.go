//go:build envtest

package envtest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
)

// versions are the versions that are served.
var versions = []string{"v1alpha1", "v1beta1", "v1"}

// rich is a RedisCluster of each version that sets what that version has, in
// spellings that no other version keeps.
func rich(version string) client.Object {
	meta := metav1.ObjectMeta{Name: theName, Annotations: map[string]string{"example.org/note": "mine"}}
	switch version {
	case "v1alpha1":
		return &redisv1alpha1.RedisCluster{ObjectMeta: meta, Spec: redisv1alpha1.RedisClusterSpec{
			Replicas: 6, ShardReplicas: 1, Image: "example.org:5000/redis:7.0", MaxMemory: "262144kb",
			Config:      []string{"# comment", "SAVE 900 1", "save  300 10", "maxmemory-policy allkeys-lru"},
			Persistence: new(true), StorageSize: "1024Mi", PasswordSecret: "login",
		}}
	case "v1beta1":
		return &redisv1beta1.RedisCluster{ObjectMeta: meta, Spec: redisv1beta1.RedisClusterSpec{
			Shards: 4, ReplicasPerShard: 2, Image: "redis@sha256:" + digest,
			Config:       map[string]redisv1beta1.ConfigValue{"maxmemory-policy": "volatile-ttl", "hz": "20"},
			NodeTimeout:  "7000ms",
			NodeSelector: map[string]string{"disk": "fast"},
			Tolerations:  []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}},
			AntiAffinity: "Required",
		}}
	default:
		return &redisv1.RedisCluster{ObjectMeta: meta, Spec: redisv1.RedisClusterSpec{
			Topology:       redisv1.Topology{Shards: 7, ReplicasPerShard: 1},
			Image:          redisv1.Image{Repository: "redis", Tag: "7.0", PullPolicy: redisv1.PullAlways},
			Memory:         redisv1.Memory{Limit: new(resource.MustParse("1536Mi")), EvictionPolicy: redisv1.EvictVolatileLFU},
			Config:         []redisv1.ConfigEntry{{Name: "save", Values: []string{"900 1", "300 10"}}},
			UpdateStrategy: redisv1.UpdateStrategy{RollingUpdate: &redisv1.RollingUpdate{UnsafeShardPolicy: redisv1.UnsafeDrain}},
			DeletionPolicy: redisv1.DeletionRetain,
			Rebalance:      redisv1.Rebalance{SlotsPerStep: 7},
			Paused:         new(true),
		}}
	}
}

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// pairs makes a table entry of each version and another.
func pairs() []TableEntry {
	var entries []TableEntry
	for _, from := range versions {
		for _, to := range versions {
			if from != to {
				entries = append(entries, Entry(from+" and back from "+to, from, to))
			}
		}
	}
	return entries
}

func each() []TableEntry {
	var entries []TableEntry
	for _, version := range versions {
		entries = append(entries, Entry(version, version))
	}
	return entries
}

// in reads the spec's RedisCluster in a version.
func (w *world) in(ctx context.Context, version string) *unstructured.Unstructured {
	GinkgoHelper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(redisv1.GroupVersion.WithKind(redisv1.Kind).GroupKind().WithVersion(version))
	Expect(w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: theName}, o)).To(Succeed())
	return o
}

// made creates a rich RedisCluster in a version.
func (w *world) made(ctx context.Context, version string) *unstructured.Unstructured {
	GinkgoHelper()
	o := rich(version)
	o.SetNamespace(w.namespace)
	Expect(w.client.Create(ctx, o)).To(Succeed())
	return w.in(ctx, version)
}

// said is what a user said in an object: all but what each write changes.
func said(o *unstructured.Unstructured) map[string]any {
	copied := o.DeepCopy()
	for _, field := range []string{"resourceVersion", "managedFields", "generation"} {
		unstructured.RemoveNestedField(copied.Object, "metadata", field)
	}
	return copied.Object
}

var _ = Describe("Conversion", levelAPIServer, func() {
	var w *world

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
	})

	DescribeTable("loses nothing of", func(ctx SpecContext, from, to string) {
		before := w.made(ctx, from)
		other := w.in(ctx, to)
		Expect(w.client.Update(ctx, other)).To(Succeed())
		Expect(said(w.in(ctx, from))).To(Equal(said(before)))
		Expect(w.in(ctx, from).GetGeneration()).To(Equal(before.GetGeneration()), "writing back what was read changes nothing")
	}, pairs())

	DescribeTable("keeps the rest when one field is changed in another version:", func(ctx SpecContext, from, to string) {
		before := w.made(ctx, from)
		other := w.in(ctx, to)
		timeout := map[string]any{"v1alpha1": int64(9000), "v1beta1": "9s", "v1": int64(9000)}
		fields := map[string]string{"v1alpha1": "nodeTimeout", "v1beta1": "nodeTimeout", "v1": "nodeTimeoutMilliseconds"}
		Expect(unstructured.SetNestedField(other.Object, timeout[to], "spec", fields[to])).To(Succeed())
		Expect(w.client.Update(ctx, other)).To(Succeed())

		after := w.in(ctx, from)
		Expect(said(after)).To(HaveKeyWithValue("spec", HaveKeyWithValue(fields[from], timeout[from])))
		Expect(unstructured.SetNestedField(before.Object, timeout[from], "spec", fields[from])).To(Succeed())
		Expect(said(after)["spec"]).To(Equal(said(before)["spec"]))
	}, pairs())

	DescribeTable("keeps what a client drops that replaces the object by a manifest of its own, in", func(ctx SpecContext, version string) {
		w.made(ctx, "v1")
		manifest := w.in(ctx, version)
		manifest.SetAnnotations(nil)
		Expect(w.client.Update(ctx, manifest)).To(Succeed())
		cluster := w.cluster(ctx)
		Expect(cluster.Spec.DeletionPolicy).To(Equal(redisv1.DeletionRetain))
		Expect(cluster.Spec.Paused).To(HaveValue(Equal(true)))
		Expect(cluster.Spec.Rebalance.SlotsPerStep).To(Equal(int32(7)))
		Expect(cluster.Annotations).NotTo(HaveKey("example.org/note"), "what the user dropped is gone")
	}, Entry("v1alpha1", "v1alpha1"), Entry("v1beta1", "v1beta1"))

	DescribeTable("does not bring back what was changed since an old copy was taken, in", func(ctx SpecContext, version string) {
		w.made(ctx, "v1")
		old := w.in(ctx, version)
		w.edit(ctx, func(c *redisv1.RedisCluster) { c.Spec.Paused = new(false) })
		old.SetResourceVersion(w.cluster(ctx).ResourceVersion)
		Expect(w.client.Update(ctx, old)).To(Succeed())
		Expect(w.cluster(ctx).Spec.Paused).To(HaveValue(Equal(false)))
	}, Entry("v1alpha1", "v1alpha1"), Entry("v1beta1", "v1beta1"))

	DescribeTable("restores all from a backup that was taken in", func(ctx SpecContext, version string) {
		w.made(ctx, "v1")
		want := w.cluster(ctx).Spec
		backup := w.in(ctx, version)
		Expect(w.client.Delete(ctx, w.cluster(ctx))).To(Succeed())
		unstructured.RemoveNestedField(backup.Object, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(backup.Object, "metadata", "uid")
		Expect(w.client.Create(ctx, backup)).To(Succeed())
		Expect(w.cluster(ctx).Spec).To(Equal(want))
	}, each())

	DescribeTable("keeps everything when the status is written in", func(ctx SpecContext, version string) {
		w.made(ctx, "v1")
		want := w.cluster(ctx).Spec
		o := w.in(ctx, version)
		Expect(unstructured.SetNestedField(o.Object, "Curious", "status", "phase")).To(Succeed())
		Expect(w.client.Status().Update(ctx, o)).To(Succeed())
		Expect(w.cluster(ctx).Spec).To(Equal(want))
		Expect(w.cluster(ctx).Status.Phase).To(Equal("Curious"))
		for _, v := range versions {
			phase, _, err := unstructured.NestedString(w.in(ctx, v).Object, "status", "phase")
			Expect(err).NotTo(HaveOccurred())
			Expect(phase).To(Equal("Curious"), "in %s", v)
		}
	}, each())

	DescribeTable("keeps everything else when it is scaled in", func(ctx SpecContext, version string, replicas, shards int32) {
		w.made(ctx, "v1")
		want := w.cluster(ctx).Spec
		// The client speaks of scales of typed objects only.
		o := rich(version)
		o.SetNamespace(w.namespace)
		scale := &autoscalingv1.Scale{}
		Expect(w.client.SubResource("scale").Get(ctx, o, scale)).To(Succeed())
		scale.Spec.Replicas = replicas
		Expect(w.client.SubResource("scale").Update(ctx, o, client.WithSubResourceBody(scale))).To(Succeed())
		want.Topology.Shards = shards
		Expect(w.cluster(ctx).Spec).To(Equal(want))
	},
		Entry("v1alpha1, where replicas are pods", "v1alpha1", int32(4), int32(2)),
		Entry("v1beta1", "v1beta1", int32(5), int32(5)),
		Entry("v1", "v1", int32(9), int32(9)),
	)

	It("lets an author who applies v1alpha1 keep what others set in v1, without a conflict", func(ctx SpecContext) {
		apply := func(image string) error {
			o := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": redisv1alpha1.GroupVersion.String(), "kind": redisv1.Kind,
				"metadata": map[string]any{"name": theName, "namespace": w.namespace},
				"spec":     map[string]any{"replicas": int64(6), "shardReplicas": int64(1), "image": image},
			}}
			return w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("gitops"))
		}
		Expect(apply("redis:7.0")).To(Succeed())
		w.edit(ctx, func(c *redisv1.RedisCluster) {
			c.Spec.DeletionPolicy = redisv1.DeletionRetain
			c.Spec.Rebalance.KeysPerMigrate = 11
		})
		Expect(apply("redis:7.2")).To(Succeed())
		cluster := w.cluster(ctx)
		Expect(cluster.Spec.DeletionPolicy).To(Equal(redisv1.DeletionRetain))
		Expect(cluster.Spec.Rebalance.KeysPerMigrate).To(Equal(int32(11)))
		Expect(cluster.Spec.Image.Reference()).To(Equal("redis:7.2"))
		Expect(cluster.Spec.Topology).To(Equal(redisv1.Topology{Shards: 3, ReplicasPerShard: 1}))
	})

	DescribeTable("accepts an object without spec in", func(ctx SpecContext, version string) {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(redisv1.GroupVersion.WithKind(redisv1.Kind).GroupKind().WithVersion(version))
		o.SetNamespace(w.namespace)
		o.SetName(theName)
		Expect(w.client.Create(ctx, o)).To(Succeed())
		Expect(w.cluster(ctx).Spec.Topology.Pods()).To(Equal(int32(3)))
		Expect(w.cluster(ctx).Spec.Image.Reference()).To(Equal("redis:7.0"))
	}, each())

	DescribeTable("lists and watches what was made in any version in", func(ctx SpecContext, version string) {
		for _, made := range versions {
			o := rich(made)
			o.SetNamespace(w.namespace)
			o.SetName(made)
			Expect(w.client.Create(ctx, o)).To(Succeed())
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(redisv1.GroupVersion.WithKind(redisv1.Kind + "List").GroupKind().WithVersion(version))
		Expect(w.client.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
		Expect(list.Items).To(HaveLen(len(versions)))
		for _, item := range list.Items {
			Expect(item.GetAPIVersion()).To(Equal("cache.example.com/" + version))
		}

		watching, err := client.NewWithWatch(w.config, client.Options{Scheme: w.client.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		list.SetResourceVersion("")
		events, err := watching.Watch(ctx, list, client.InNamespace(w.namespace))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(events.Stop)
		Eventually(events.ResultChan()).Should(Receive(HaveField("Type", watch.Added)))
	}, each())

	It("touches nothing of the metadata but labels and annotations", func(ctx SpecContext) {
		o := rich("v1beta1")
		o.SetNamespace(w.namespace)
		o.SetFinalizers([]string{"example.org/hold"})
		o.SetLabels(map[string]string{"team": "a"})
		Expect(w.client.Create(ctx, o)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			w.edit(ctx, func(c *redisv1.RedisCluster) { c.Finalizers = nil })
		})
		var metas []metav1.ObjectMeta
		for _, version := range versions {
			encoded, err := json.Marshal(w.in(ctx, version).Object["metadata"])
			Expect(err).NotTo(HaveOccurred())
			var meta metav1.ObjectMeta
			Expect(json.Unmarshal(encoded, &meta)).To(Succeed())
			meta.ManagedFields = nil
			maps.DeleteFunc(meta.Annotations, func(name, _ string) bool {
				return name == redisv1.AnnotationConversionData || slices.Contains([]string{
					redisv1.AnnotationResidue + "v1alpha1", redisv1.AnnotationResidue + "v1beta1",
				}, name)
			})
			metas = append(metas, meta)
		}
		Expect(metas).To(HaveEach(Equal(metas[0])))
		Expect(metas[0].Finalizers).To(ConsistOf("example.org/hold"))
	})

	It("warns whoever uses v1alpha1", func(ctx SpecContext) {
		w.made(ctx, "v1")
		heard := &warnings{}
		config := rest.CopyConfig(w.config)
		config.WarningHandlerWithContext = heard
		c, err := client.New(config, client.Options{Scheme: w.client.Scheme(), Mapper: w.client.RESTMapper()})
		Expect(err).NotTo(HaveOccurred())
		for version, want := range map[string]int{"v1": 0, "v1beta1": 0, "v1alpha1": 1} {
			heard.texts = nil
			o := w.in(ctx, version)
			Expect(c.Get(ctx, types.NamespacedName{Namespace: w.namespace, Name: theName}, o)).To(Succeed())
			Expect(heard.texts).To(HaveLen(want), version)
		}
	})
})

// warnings collects the warnings of an API server.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 {
		w.texts = append(w.texts, text)
	}
}
