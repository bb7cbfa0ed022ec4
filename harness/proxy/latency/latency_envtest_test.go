//go:build envtest

package latency_test

import (
	"flag"
	"testing"

	"github.com/seatrial/seatrial/harness/internal/servertest"
	"github.com/seatrial/seatrial/harness/proxy/latency"
)

var preferHTTP2 = flag.Bool("http2", false, "have the client speak HTTP/2 to the proxy")

// BenchmarkGet prints both sides and reports their ratios. Run it with
// -benchtime 1x: it repeats by itself.
func BenchmarkGet(b *testing.B) {
	config := servertest.Start(b)
	for b.Loop() {
		r, err := latency.Measure(b.Context(), latency.Options{Config: config, PreferHTTP2: *preferHTTP2})
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("\n%s", r)
		b.ReportMetric(r.P50Ratio(), "p50-ratio")
		b.ReportMetric(r.P99Ratio(), "p99-ratio")
		b.ReportMetric(r.ThroughputRatio(), "throughput-ratio")
	}
}

func TestMeasureLeavesNothingBehind(t *testing.T) {
	config := servertest.Start(t)
	r, err := latency.Measure(t.Context(), latency.Options{Config: config, Samples: 20, Clients: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Direct.P50 <= 0 || r.Proxied.PerSecond <= 0 {
		t.Errorf("got %+v, want measurements", r)
	}
}
