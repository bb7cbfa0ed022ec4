package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

func TestSlots(t *testing.T) {
	for text, want := range map[string][]redisv1.SlotRange{
		"":              nil,
		"0":             {{Start: 0, End: 0}},
		"0-5460,6000":   {{Start: 0, End: 5460}, {Start: 6000, End: 6000}},
		"16383":         {{Start: 16383, End: 16383}},
		"5-6,1-2,16000": {{Start: 5, End: 6}, {Start: 1, End: 2}, {Start: 16000, End: 16000}},
	} {
		got, err := redisv1.ParseSlots(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: error %v, ranges (-want +got):\n%s", text, err, diff)
		}
		if back := redisv1.FormatSlots(got); back != text {
			t.Errorf("%q became %q", text, back)
		}
	}
	for _, text := range []string{"a", "1-", "-1", "16384", "1,", "1-2-3", "99999999999"} {
		if got, err := redisv1.ParseSlots(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
