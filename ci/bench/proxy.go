package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seatrial/seatrial/harness/proxy/latency"
	"github.com/seatrial/seatrial/harness/trial"
)

// proxied prints what the recording proxy adds to a GET of a 4 KiB object.
func proxied(ctx context.Context, c *clusters, count int, out io.Writer) (err error) {
	server, err := c.start(ctx, trial.LevelAPIServer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	results := make([]latency.Result, 0, count)
	for range count {
		r, err := latency.Measure(ctx, latency.Options{Config: server.Config()})
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nGET of 4 KiB, each of %d\tdirect p50\tproxied p50\tratio\tat most\tdirect req/s\tproxied req/s\tratio\n", count)
	for _, r := range results {
		fmt.Fprintf(w, "\t%v\t%v\t%.3f\t1.10\t%.0f\t%.0f\t%.2f\n", r.Direct.P50, r.Proxied.P50, r.P50Ratio(),
			r.Direct.PerSecond, r.Proxied.PerSecond, r.ThroughputRatio())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "median ratio: p50 %.3f, throughput %.2f\n",
		middle(results, latency.Result.P50Ratio), middle(results, latency.Result.ThroughputRatio))
	return nil
}
