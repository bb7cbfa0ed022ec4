// Package latency measures what the proxy adds to a request: the same client
// asks the same API server for the same object, directly and through a proxy
// that records, by turns within one run.
package latency

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy"
)

// Options say what is measured. A zero field means its default.
type Options struct {
	// Config reaches the API server with all rights. Required.
	Config *rest.Config
	// Samples is how many requests each side makes one after the other.
	// Default 2000.
	Samples int
	// Clients is how many make requests at once when throughput is measured.
	// Default 8.
	Clients int
	// Bytes is the size of the ConfigMap that is asked for, as JSON.
	// Default 4096.
	Bytes int
	// PreferHTTP2 has the client speak HTTP/2 to the proxy, as it does to the
	// API server.
	PreferHTTP2 bool
}

// Result is what was measured.
type Result struct{ Direct, Proxied Side }

// Side is one of the two ways to the API server.
type Side struct {
	// P50 and P99 are percentiles of the time that one request takes.
	P50, P99 time.Duration
	// PerSecond is how many requests all clients together made.
	PerSecond float64
}

// P50Ratio is the median through the proxy over the direct one: 1.1 means 10 %
// more.
func (r Result) P50Ratio() float64 { return float64(r.Proxied.P50) / float64(r.Direct.P50) }

// P99Ratio is the same of the 99th percentile.
func (r Result) P99Ratio() float64 { return float64(r.Proxied.P99) / float64(r.Direct.P99) }

// ThroughputRatio is the throughput through the proxy over the direct one.
func (r Result) ThroughputRatio() float64 { return r.Proxied.PerSecond / r.Direct.PerSecond }

// String returns both sides and their ratios.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %10s %10s %10s\n", "", "p50", "p99", "requests/s")
	line := func(name string, s Side) {
		fmt.Fprintf(&b, "%-8s %10v %10v %10.0f\n", name, s.P50.Round(time.Microsecond), s.P99.Round(time.Microsecond), s.PerSecond)
	}
	line("direct", r.Direct)
	line("proxied", r.Proxied)
	fmt.Fprintf(&b, "%-8s %10.3f %10.3f %10.3f\n", "ratio", r.P50Ratio(), r.P99Ratio(), r.ThroughputRatio())
	return b.String()
}

const (
	defaultSamples = 2000
	defaultClients = 8
	defaultBytes   = 4096
	// turn is how many requests one side makes before the other's turn.
	turn = 10
	// warmUp is how many requests each side makes that do not count.
	warmUp = 50
	// throughputTurn is how long one side's turn is when throughput is
	// measured, of which there are throughputTurns.
	throughputTurn  = 250 * time.Millisecond
	throughputTurns = 8
)

// side is one way while it is measured.
type side struct {
	client    rest.Interface
	latencies []time.Duration
	requests  int
	busy      time.Duration
}

// Measure measures. It leaves nothing behind in the cluster.
func Measure(ctx context.Context, o Options) (result Result, err error) {
	o = o.withDefaults()
	scene, err := prepare(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = scene.remove(ctx, err) }()
	log := history.NewLog(io.Discard, history.Header{}, time.Now)
	p, err := proxy.Start(ctx, proxy.Options{Upstream: o.Config, Recorder: log, PreferHTTP2: o.PreferHTTP2})
	if err != nil {
		return Result{}, err
	}
	defer func() {
		if closing := p.Close(ctx); err == nil {
			err = closing
		}
	}()
	direct, proxied, err := sides(scene, p)
	if err != nil {
		return Result{}, err
	}
	if err := latencies(ctx, scene, o.Samples, direct, proxied); err != nil {
		return Result{}, err
	}
	if err := throughput(ctx, scene, o.Clients, direct, proxied); err != nil {
		return Result{}, err
	}
	return Result{Direct: direct.result(), Proxied: proxied.result()}, nil
}

func (o Options) withDefaults() Options {
	for _, f := range []struct {
		field *int
		value int
	}{{&o.Samples, defaultSamples}, {&o.Clients, defaultClients}, {&o.Bytes, defaultBytes}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return o
}

// sides returns the two ways, with the same credentials.
func sides(s *scene, p *proxy.Proxy) (direct, proxied *side, err error) {
	to := rest.CopyConfig(s.config)
	to.Host = p.URL()
	to.TLSClientConfig = rest.TLSClientConfig{CAData: p.CA()}
	if direct, err = newSide(s.config); err != nil {
		return nil, nil, err
	}
	proxied, err = newSide(to)
	return direct, proxied, err
}

func newSide(config *rest.Config) (*side, error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &side{client: c.CoreV1().RESTClient()}, nil
}

func (s *side) get(ctx context.Context, at *scene) error {
	err := s.client.Get().Namespace(at.namespace).Resource("configmaps").Name(at.name).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("asking for ConfigMap %s/%s: %w", at.namespace, at.name, err)
	}
	return nil
}

func latencies(ctx context.Context, at *scene, samples int, all ...*side) error {
	for made := -warmUp; made < samples; made += turn {
		for _, s := range all {
			for range turn {
				start := time.Now()
				if err := s.get(ctx, at); err != nil {
					return err
				}
				if made >= 0 {
					s.latencies = append(s.latencies, time.Since(start))
				}
			}
		}
	}
	return nil
}

func throughput(ctx context.Context, at *scene, clients int, all ...*side) error {
	for range throughputTurns {
		for _, s := range all {
			if err := s.rush(ctx, at, clients); err != nil {
				return err
			}
		}
	}
	return nil
}

// rush has all clients make requests for one turn.
func (s *side) rush(ctx context.Context, at *scene, clients int) error {
	start := time.Now()
	made := make([]int, clients)
	together, ctx := errgroup.WithContext(ctx)
	for i := range clients {
		together.Go(func() error {
			for time.Since(start) < throughputTurn {
				if err := s.get(ctx, at); err != nil {
					return err
				}
				made[i]++
			}
			return nil
		})
	}
	if err := together.Wait(); err != nil {
		return err
	}
	s.busy += time.Since(start)
	for _, n := range made {
		s.requests += n
	}
	return nil
}

func (s *side) result() Side {
	slices.Sort(s.latencies)
	at := func(percent int) time.Duration { return s.latencies[(len(s.latencies)*percent+99)/100-1] }
	return Side{P50: at(50), P99: at(99), PerSecond: float64(s.requests) / s.busy.Seconds()}
}
