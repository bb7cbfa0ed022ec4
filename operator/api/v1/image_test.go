package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

func TestParseImage(t *testing.T) {
	tests := map[string]struct {
		reference string
		want      redisv1.Image
	}{
		"a name alone":                {"redis", redisv1.Image{Repository: "redis"}},
		"a tag":                       {"redis:7.0", redisv1.Image{Repository: "redis", Tag: "7.0"}},
		"a registry with a port":      {"example.org:5000/redis", redisv1.Image{Repository: "example.org:5000/redis"}},
		"a port and a tag":            {"example.org:5000/redis:7", redisv1.Image{Repository: "example.org:5000/redis", Tag: "7"}},
		"a digest":                    {"redis@sha256:ab", redisv1.Image{Repository: "redis", Digest: "sha256:ab"}},
		"a tag and a digest":          {"redis:7@sha256:ab", redisv1.Image{Repository: "redis", Tag: "7", Digest: "sha256:ab"}},
		"an empty tag":                {"redis:", redisv1.Image{Repository: "redis:"}},
		"an empty digest":             {"redis@", redisv1.Image{Repository: "redis@"}},
		"nothing":                     {"", redisv1.Image{}},
		"a tag alone":                 {":7", redisv1.Image{Tag: "7"}},
		"what is no reference at all": {"a b@c@d:e", redisv1.Image{Repository: "a b", Digest: "c@d:e"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := redisv1.ParseImage(tc.reference)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if got.String() != tc.reference {
				t.Errorf("the parts make %q, want %q", got.String(), tc.reference)
			}
		})
	}
}

func FuzzParseImage(f *testing.F) {
	for _, seed := range []string{"redis:7.0", "example.org:5000/a/b:c@sha256:d", "@", ":", "a@", "a:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		if got := redisv1.ParseImage(reference).String(); got != reference {
			t.Errorf("%q became %q", reference, got)
		}
	})
}
