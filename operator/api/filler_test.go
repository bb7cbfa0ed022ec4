package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
)

// filler makes random objects: what users write, what validation refuses, and
// what nobody would think of.
type filler struct {
	*randfill.Filler
}

func newFiller(seed int64) *filler {
	f := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 4)
	return &filler{f.Funcs(
		func(*metav1.TypeMeta, randfill.Continue) {}, // decoding sets it, not conversion
		metaFunc, quantityFunc, timeFunc, microFunc, stringFunc, fieldsFunc,
		func(v *redisv1alpha1.NodeRole, c randfill.Continue) {
			*v = redisv1alpha1.NodeRole(pick(c, "master:0-5460,6000", "slave:demo-0", "master:", "slave:", "leader", word(c)))
		},
		func(v *redisv1beta1.Duration, c randfill.Continue) {
			*v = redisv1beta1.Duration(pick(c, "5s", "5000ms", "1m", "1.5s", "1500us", "", "90ms0s", "x", "-4s", word(c)))
		},
		func(v *redisv1.EvictionPolicy, c randfill.Continue) {
			*v = redisv1.EvictionPolicy(pick(c, "AllKeysLRU", "NoEviction", "VolatileTTL", "", "allkeys-lru", "noeviction", word(c)))
		},
		func(v *redisv1.StorageType, c randfill.Continue) {
			*v = redisv1.StorageType(pick(c, "Ephemeral", "Persistent", "Persistent", "", "Tape"))
		},
		func(v *redisv1.UpdateStrategyType, c randfill.Continue) {
			*v = redisv1.UpdateStrategyType(pick(c, "RollingUpdate", "Recreate", "OnDelete", "rolling", "", word(c)))
		},
		func(v *redisv1.AntiAffinityMode, c randfill.Continue) {
			*v = redisv1.AntiAffinityMode(pick(c, "Required", "Preferred", "None", "", word(c)))
		},
		func(v *redisv1.SlotRange, c randfill.Continue) {
			v.Start, v.End = c.Int31n(16500), c.Int31n(16500)
			if c.Bool() {
				v.End = v.Start
			}
		},
	)}
}

func fill[T any](f *filler, object *T) *T {
	f.Fill(object)
	return object
}

func pick(c randfill.Continue, choices ...string) string { return choices[c.Intn(len(choices))] }

func word(c randfill.Continue) string { return c.String(8) }

func metaFunc(m *metav1.ObjectMeta, c randfill.Continue) {
	m.Name, m.Namespace = "demo", "space"
	m.ResourceVersion, m.Generation = fmt.Sprint(c.Intn(1000)), int64(c.Intn(9))
	m.Finalizers = []string{redisv1.Finalizer}
	m.CreationTimestamp = metav1.Unix(int64(c.Int31()), 0)
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: word(c)}}
	m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: word(c)}}
	if c.Bool() {
		m.Labels = map[string]string{word(c): word(c)}
		m.Annotations = map[string]string{"mine": word(c)}
	}
}

func quantityFunc(q *resource.Quantity, c randfill.Continue) {
	*q = resource.MustParse(pick(c,
		"1Gi", "1024Mi", "256Mi", "262144Ki", "268435456", "256M", "1500m", "0.5", "0", "-1", "1e3", "9223372036854775807"))
}

func timeFunc(t *metav1.Time, c randfill.Continue) {
	*t = metav1.NewTime(time.Unix(int64(c.Int31()), 0))
}

func microFunc(t *metav1.MicroTime, c randfill.Continue) {
	*t = metav1.NewMicroTime(time.Unix(int64(c.Int31()), 0))
}

func fieldsFunc(f *metav1.FieldsV1, _ randfill.Continue) { *f = metav1.FieldsV1{} }

// lines are what is found in fields that hold text.
var lines = []string{
	"", "redis", "redis:7.0", "registry:5000/a/redis", "registry:5000/redis:7.2", "redis@sha256:ab", "redis:7@sha256:ab", "a:", "a@", "@", ":",
	"256mb", "262144kb", "1g", "1024m", "0", "007kb", "12qb", "99999999999999999999gb",
	"save 900 1", "save 300 10", "SAVE  60 1000", "# a comment", "appendonly yes", "maxmemory-policy allkeys-lru",
	"maxmemory-policy ALLKEYS-LRU", "maxmemory-policy whatever", "maxmemory 1gb", "maxmemory", "timeout\t5", "  timeout   5  ", `save ""`, "a\nb",
	"1Gi", "1024Mi", "5", "standard", "password", "default", "nightly", "rolling", "recreate", "manual", "RollingUpdate", "Recreate",
	"OnDelete", "Required", "Preferred", "None", "Primary", "Replica", "demo-0", "demo-1", "0-5460", "0-10,12", "7-x",
	"Creating", "Running", "Scaling", "Deleting", "Forming", "Ready", "Rebalancing", "Terminating", "Bootstrapping", "*/5 * * * *",
}

func stringFunc(s *string, c randfill.Continue) {
	*s = lines[c.Intn(len(lines))]
	if c.Intn(8) == 0 {
		*s = word(c)
	}
}

// largest is a cluster of as many pods as v1 allows, with names as long as can
// be, and everything that older versions cannot say.
func largest() *redisv1.RedisCluster {
	random := rand.New(rand.NewSource(1))
	name := fmt.Sprintf("%040d", 7)
	h := &redisv1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "space"}}
	h.Spec.Topology = redisv1.Topology{Shards: 30, ReplicasPerShard: 5}
	h.Spec.Image = redisv1.Image{Repository: "redis", Tag: "7.0", PullSecrets: []redisv1.LocalObjectReference{{Name: "registry"}}}
	h.Spec.DeletionPolicy = redisv1.DeletionRetain
	h.Spec.Scheduling.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone"}}
	for i := range int32(8) {
		h.Spec.Backups = append(h.Spec.Backups, redisv1.Backup{Name: fmt.Sprintf("backup-%d", i), Schedule: "0 * * * *", TimeZone: "Europe/Berlin"})
	}
	node := func(ordinal int32) redisv1.ShardNode {
		id := make([]byte, 20)
		random.Read(id)
		return redisv1.ShardNode{PodName: fmt.Sprintf("%s-%d", name, ordinal), NodeID: fmt.Sprintf("%x", id)}
	}
	for i := range int32(30) {
		shard := redisv1.ShardStatus{
			Index: i, Primary: node(i * 6), SlotRanges: []redisv1.SlotRange{{Start: i * 546, End: i*546 + 545}},
		}
		for replica := range int32(5) {
			shard.Replicas = append(shard.Replicas, redisv1.ShardReplica{ShardNode: node(i*6 + replica + 1), InSync: new(true)})
		}
		h.Status.ShardStatuses = append(h.Status.ShardStatuses, shard)
	}
	return h
}

// decodeStrictly decodes as an API server would, for which an unknown field is
// none.
func decodeStrictly(content []byte, into any) error {
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("decoding: %w", err)
	}
	return nil
}
