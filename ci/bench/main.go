// Bench prints what Seatrial's clusters and its proxy cost beside the plain
// tools, measured in turn in one run, so that the ratios hold on a machine
// whose speed drifts.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/seatrial/seatrial/harness/cluster/local"
)

func main() {
	count := flag.Int("count", 5, "how many times each thing is measured; the median counts")
	flag.Parse()
	// envtest warns when its log goes nowhere unasked.
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *count, os.Getenv("KUBEBUILDER_ASSETS"), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, count int, assets string, out io.Writer) error {
	if assets == "" {
		return fmt.Errorf("KUBEBUILDER_ASSETS must name a directory with the programs: use make bench")
	}
	templates, err := os.MkdirTemp("", "seatrial-bench-")
	if err != nil {
		return fmt.Errorf("making a directory to work in: %w", err)
	}
	defer os.RemoveAll(templates)
	b := &clusters{programs: local.ProgramsIn(assets), templates: templates}
	fmt.Fprintf(os.Stderr, "making templates\n")
	if err := b.warm(ctx); err != nil {
		return err
	}
	table := samples{}
	for i := range count {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", i+1, count)
		for _, measure := range []func(context.Context, samples) error{b.envtest, b.apiserver, b.controlPlane} {
			if err := measure(ctx, table); err != nil {
				return err
			}
		}
	}
	if err := table.write(out, count); err != nil {
		return err
	}
	return proxied(ctx, b, count, out)
}

// samples are the durations measured of each thing.
type samples map[string][]time.Duration

func (s samples) add(what string, d time.Duration) { s[what] = append(s[what], d) }

// rows are what is printed: what is measured, beside what, and the ratio it
// should not exceed.
var rows = []struct {
	what, beside string
	atMost       float64
}{
	{envtestStart, "", 0},
	{apiserverStart, envtestStart, 0.6},
	{statefulSetReady, envtestStart, 1.3},
	{envtestStop, "", 0},
	{apiserverStop, envtestStop, 0.5},
	{controlPlaneStop, envtestStop, 0},
}

func (s samples) write(out io.Writer, count int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nmedian of %d\tmedian\tmin\tmax\tratio\tat most\n", count)
	for _, row := range rows {
		all := slices.Sorted(slices.Values(s[row.what]))
		ratio, limit := "", ""
		if row.beside != "" {
			ratio = fmt.Sprintf("%.2f", float64(median(all))/float64(median(s[row.beside])))
		}
		if row.atMost > 0 {
			limit = fmt.Sprintf("%.2f", row.atMost)
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%s\t%s\n", row.what, round(median(all)), round(all[0]), round(all[len(all)-1]), ratio, limit)
	}
	return w.Flush()
}

func median(d []time.Duration) time.Duration {
	return middle(d, func(d time.Duration) time.Duration { return d })
}

// middle returns the median of what is read off each item.
func middle[T any, N cmp.Ordered](items []T, read func(T) N) N {
	values := make([]N, 0, len(items))
	for _, item := range items {
		values = append(values, read(item))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
