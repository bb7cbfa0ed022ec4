// Package api_test holds the promises of conversion between the versions of
// the API: nothing is lost either way, and an edit changes what was edited.
package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
)

var (
	seed  = flag.Int64("seed", 0, "seed of the first case; 0 takes one from the clock, and prints it")
	cases = flag.Int("cases", 500, "random cases of each property; one in ten of them for properties that follow from the others")
)

// spoke is a version that is converted to v1 and from it.
type spoke interface {
	client.Object
	conversion.Convertible
}

type version struct {
	name string
	// empty returns an object of the version.
	empty func() spoke
	// random returns one with whatever fields.
	random func(*filler) spoke
}

func versions() []version {
	return []version{
		{
			"v1alpha1",
			func() spoke { return &redisv1alpha1.RedisCluster{} },
			func(f *filler) spoke { return fill(f, &redisv1alpha1.RedisCluster{}) },
		},
		{
			"v1beta1",
			func() spoke { return &redisv1beta1.RedisCluster{} },
			func(f *filler) spoke { return fill(f, &redisv1beta1.RedisCluster{}) },
		},
	}
}

func up(t *testing.T, s spoke) *redisv1.RedisCluster {
	t.Helper()
	before := s.DeepCopyObject()
	h := &redisv1.RedisCluster{}
	if err := s.ConvertTo(h); err != nil {
		t.Fatalf("converting to v1: %v", err)
	}
	if diff := differs(before, s); diff != "" {
		t.Fatalf("conversion changed what it converts (-before +after):\n%s", diff)
	}
	return h
}

func (v version) down(t *testing.T, h *redisv1.RedisCluster) spoke {
	t.Helper()
	before := h.DeepCopy()
	s := v.empty()
	if err := s.ConvertFrom(h); err != nil {
		t.Fatalf("converting to %s: %v", v.name, err)
	}
	if diff := differs(before, h); diff != "" {
		t.Fatalf("conversion changed what it converts (-before +after):\n%s", diff)
	}
	return s
}

// differs returns the difference of two objects, or nothing. It first compares
// them as they are stored, which is quick.
func differs(want, got any) string {
	if w, err := json.Marshal(want); err == nil {
		if g, err := json.Marshal(got); err == nil && bytes.Equal(w, g) {
			return ""
		}
	}
	return cmp.Diff(want, got, options()...)
}

// options compare as the API server stores: an empty list is none, and
// quantities are the same if they are written the same.
func options() []cmp.Option {
	return []cmp.Option{
		cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b resource.Quantity) bool { return a.String() == b.String() }),
		cmp.Comparer(func(a, b metav1.Time) bool { return a.Equal(&b) }),
	}
}

// property runs a property on random cases, each of its own seed, and says
// which seed shows a failure.
func property(t *testing.T, check func(t *testing.T, f *filler)) {
	t.Helper()
	repeat(t, *cases, check)
}

// consequence runs a property on fewer cases.
func consequence(t *testing.T, check func(t *testing.T, f *filler)) {
	t.Helper()
	repeat(t, max(1, *cases/10), check)
}

func repeat(t *testing.T, count int, check func(t *testing.T, f *filler)) {
	t.Helper()
	first := *seed
	if first == 0 {
		first = time.Now().UnixNano()
	}
	for i := range int64(count) {
		f := newFiller(first + i)
		check(t, f)
		if t.Failed() {
			t.Fatalf("case %d of %d; run it again by -run '^%s$' -args -seed=%d -cases=1", i+1, count, t.Name(), first+i)
		}
	}
}

func eachVersion(
	t *testing.T, run func(*testing.T, func(*testing.T, *filler)), check func(t *testing.T, v version, f *filler),
) {
	t.Helper()
	for _, v := range versions() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, f *filler) {
				t.Helper()
				check(t, v, f)
			})
		})
	}
}

func spokeHubSpoke(t *testing.T, v version, f *filler) {
	t.Helper()
	want := v.random(f)
	got := v.down(t, up(t, want))
	if diff := differs(want, got); diff != "" {
		t.Errorf("%s changed on its way to v1 and back (-want +got):\n%s", v.name, diff)
	}
}

func hubSpokeHub(t *testing.T, v version, f *filler) {
	t.Helper()
	want := fill(f, &redisv1.RedisCluster{})
	got := up(t, v.down(t, want))
	if diff := differs(want, got); diff != "" {
		t.Errorf("v1 changed on its way to %s and back (-want +got):\n%s", v.name, diff)
	}
}

func TestNothingIsLostOnTheWayToV1AndBack(t *testing.T) {
	t.Parallel()
	eachVersion(t, property, spokeHubSpoke)
}

func TestNothingIsLostOnTheWayFromV1AndBack(t *testing.T) {
	t.Parallel()
	eachVersion(t, property, hubSpokeHub)
}

// TestNothingIsLostOnTheWayThroughEveryVersion goes the longest way.
func TestNothingIsLostOnTheWayThroughEveryVersion(t *testing.T) {
	alpha, beta := versions()[0], versions()[1]
	consequence(t, func(t *testing.T, f *filler) {
		t.Helper()
		want := alpha.random(f)
		got := alpha.down(t, up(t, beta.down(t, up(t, want))))
		if diff := differs(want, got); diff != "" {
			t.Errorf("v1alpha1 changed on its way through all versions (-want +got):\n%s", diff)
		}
	})
	consequence(t, func(t *testing.T, f *filler) {
		t.Helper()
		want := beta.random(f)
		got := beta.down(t, up(t, alpha.down(t, up(t, want))))
		if diff := differs(want, got); diff != "" {
			t.Errorf("v1beta1 changed on its way through all versions (-want +got):\n%s", diff)
		}
	})
}

// TestAnEditChangesNothingElse edits one thing in an older version of an object
// that v1 says more of.
func TestAnEditChangesNothingElse(t *testing.T) {
	for _, v := range versions() {
		for name, edit := range edits(v.name) {
			t.Run(v.name+"/"+name, func(t *testing.T) {
				consequence(t, func(t *testing.T, f *filler) {
					t.Helper()
					before := fill(f, &redisv1.RedisCluster{})
					s := v.down(t, before)
					edit.edit(s)
					after := up(t, s)
					if name, found := edit.took(after); !found {
						t.Errorf("the edit did not reach v1: %s", name)
					}
					for _, h := range []*redisv1.RedisCluster{before, after} {
						edit.clear(h)
						h.Annotations = nil
					}
					if diff := differs(before, after); diff != "" {
						t.Errorf("something else changed (-before +after):\n%s", diff)
					}
				})
			})
		}
	}
}

// TestConversionIsTheSameEachTime guards against annotations that grow, or that
// come out in another order.
func TestConversionIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	eachVersion(t, consequence, func(t *testing.T, v version, f *filler) {
		t.Helper()
		h := fill(f, &redisv1.RedisCluster{})
		first := v.down(t, h)
		if diff := differs(first, v.down(t, up(t, first))); diff != "" {
			t.Errorf("the second time differs (-first +second):\n%s", diff)
		}
	})
}

func TestOfTheMetadataOnlyAnnotationsChange(t *testing.T) {
	t.Parallel()
	eachVersion(t, consequence, func(t *testing.T, v version, f *filler) {
		t.Helper()
		h := fill(f, &redisv1.RedisCluster{})
		s := v.down(t, h)
		want, got := h.ObjectMeta.DeepCopy(), up(t, s).ObjectMeta.DeepCopy()
		if diff := differs(want, got); diff != "" {
			t.Errorf("metadata changed there and back (-want +got):\n%s", diff)
		}
		want.Annotations = nil
		shown := reflect.ValueOf(s).Elem().FieldByName("ObjectMeta").Interface().(metav1.ObjectMeta)
		shown.Annotations = nil
		if diff := differs(*want, shown); diff != "" {
			t.Errorf("metadata differ in %s (-want +got):\n%s", v.name, diff)
		}
	})
}

// TestPartsOfAnObjectStayParts: the API server converts objects without spec
// or status to track who owns which field, and must not learn of fields that
// nobody has set.
func TestPartsOfAnObjectStayParts(t *testing.T) {
	for _, v := range versions() {
		t.Run(v.name, func(t *testing.T) {
			h := up(t, v.empty())
			if diff := differs(&redisv1.RedisCluster{}, h); diff != "" {
				t.Errorf("an empty object is not empty in v1 (-want +got):\n%s", diff)
			}
			if diff := differs(v.empty(), v.down(t, h)); diff != "" {
				t.Errorf("an empty object is not empty in %s (-want +got):\n%s", v.name, diff)
			}
		})
	}
}

// TestSpoiltAnnotationsAreDropped: anybody can write annotations.
func TestSpoiltAnnotationsAreDropped(t *testing.T) {
	for name, value := range map[string]string{
		"empty": "", "not JSON": "{", "a list": "[1]", "of another type": `{"topology":7,"backup":"x","storage":[]}`,
		"not gzip": "gzip:aGVsbG8=", "not base64": "gzip:***", "null": "null", "of an unknown group": `{"moon":{"phase":3}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range versions() {
				plain := v.random(newFiller(1))
				want := up(t, plain)
				plain.SetAnnotations(map[string]string{redisv1.AnnotationConversionData: value})
				if diff := differs(want.Spec, up(t, plain).Spec); diff != "" {
					t.Errorf("what is kept changes %s (-want +got):\n%s", v.name, diff)
				}
				h := fill(newFiller(2), &redisv1.RedisCluster{})
				clean := v.down(t, h)
				h.Annotations = map[string]string{redisv1.AnnotationResidue + v.name: value}
				if diff := differs(clean, v.down(t, h)); diff != "" {
					t.Errorf("what was spelled changes %s (-want +got):\n%s", v.name, diff)
				}
			}
		})
	}
}

// mostAnnotations is how long what is kept may be for the largest cluster, in
// bytes. An API server allows 256 KiB for all annotations of an object.
const mostAnnotations = 16 << 10

func TestWhatIsKeptOfTheLargestClusterIsSmall(t *testing.T) {
	for _, v := range versions() {
		s := v.down(t, largest())
		size := 0
		for key, value := range s.GetAnnotations() {
			size += len(key) + len(value)
		}
		if size == 0 || size > mostAnnotations {
			t.Errorf("%s keeps %d bytes, want at most %d", v.name, size, mostAnnotations)
		}
		if diff := differs(largest(), up(t, s)); diff != "" {
			t.Errorf("it changed through %s (-want +got):\n%s", v.name, diff)
		}
	}
}

// FuzzConversion looks for objects that do not survive: go test -fuzz.
func FuzzConversion(f *testing.F) {
	for seed := range int64(16) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		for _, v := range versions() {
			spokeHubSpoke(t, v, newFiller(seed))
			hubSpokeHub(t, v, newFiller(seed))
		}
	})
}

// FuzzConversionOfJSON converts whatever the API server might send.
func FuzzConversionOfJSON(f *testing.F) {
	f.Add([]byte(`{"spec":{"replicas":-3,"shardReplicas":-1,"image":"@:","config":["","#"]}}`))
	f.Add([]byte(`{"spec":{"nodeTimeout":"1h","config":{"A":"1","a":"2\n"},"storage":{}},"status":{"nodes":[{"name":"x"},{"name":"x"}]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, v := range versions() {
			s := v.empty()
			if decodeStrictly(content, s) != nil {
				continue
			}
			if diff := cmp.Diff(runtime.Object(s), v.down(t, up(t, s)), append(options(), cmpopts.IgnoreTypes(metav1.ObjectMeta{}))...); diff != "" {
				t.Errorf("%s changed on its way to v1 and back (-want +got):\n%s", v.name, diff)
			}
		}
	})
}
