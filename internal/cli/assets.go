package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seatrial/seatrial/ci"
	"github.com/seatrial/seatrial/harness/assets"
)

func newAssetsCommand(streams Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "assets",
		Short: "Get and keep the Kubernetes programs that trials run",
		Long: `Assets gets kube-apiserver, kube-controller-manager, kube-scheduler, kubectl,
etcd and KWOK. Each is looked for in this order: the directory that
KUBEBUILDER_ASSETS names, the cache, a download of the official release files,
a build from the pinned module with the go command.

Environment:
  KUBEBUILDER_ASSETS       a directory that has programs
  SEATRIAL_CACHE           where the cache is (default seatrial in the user's cache directory)
  SEATRIAL_KUBERNETES_URL  instead of https://dl.k8s.io
  SEATRIAL_GITHUB_URL      instead of https://github.com
  SEATRIAL_GITHUB_API_URL  instead of https://api.github.com`,
		Example: `  seatrial assets get --kubernetes 1.37
  export KUBEBUILDER_ASSETS=$(seatrial assets path --kubernetes 1.37)`,
	}
	cmd.AddCommand(
		newAssetsListCommand(streams),
		newAssetsGetCommand(streams),
		newAssetsPathCommand(streams),
		newAssetsVerifyCommand(streams),
		newAssetsPruneCommand(streams),
	)
	return cmd
}

// openStore returns the store that the environment and the name of a source
// describe.
func openStore(source string, progress func(assets.Event)) (*assets.Store, error) {
	sources, err := assets.ParseSources(source)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--source: %w", err)}
	}
	options := assets.OptionsFromEnv(os.LookupEnv)
	options.Sources = sources
	options.Progress = progress
	store, err := assets.New(options)
	if err != nil {
		return nil, &UsageError{err}
	}
	return store, nil
}

// assetsError tells what the user can mend from what failed by itself.
func assetsError(err error) error {
	_, unknown := errors.AsType[*ci.UnknownVersionError](err)
	_, damaged := errors.AsType[*assets.DamagedError](err)
	_, unavailable := errors.AsType[*assets.UnavailableError](err)
	_, build := errors.AsType[*assets.BuildError](err)
	if unknown || damaged || unavailable && !build {
		return &UsageError{err}
	}
	return err
}

// lookupReleases returns the releases of these names; "all" and no name mean
// every one.
func lookupReleases(store *assets.Store, names []string) ([]ci.Release, error) {
	if len(names) == 0 || len(names) == 1 && names[0] == "all" {
		return store.Releases(), nil
	}
	releases := make([]ci.Release, 0, len(names))
	for _, name := range names {
		release, err := store.Lookup(name)
		if err != nil {
			return nil, &UsageError{fmt.Errorf("--kubernetes: %w", err)}
		}
		releases = append(releases, release)
	}
	return releases, nil
}

// checkOutput refuses forms of output that do not exist.
func checkOutput(form string) error {
	if form != "text" && form != "json" {
		return &UsageError{fmt.Errorf("-o: unknown form %q: must be text or json", form)}
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func newAssetsListCommand(streams Streams) *cobra.Command {
	var kubernetes []string
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the programs of each release and whether the cache has them",
		Example: `  seatrial assets list
  seatrial assets list --kubernetes 1.37 -o json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			store, err := openStore(assets.Auto, nil)
			if err != nil {
				return err
			}
			releases, err := lookupReleases(store, kubernetes)
			if err != nil {
				return err
			}
			items, err := store.List(releases)
			if err != nil {
				return err
			}
			return writeItems(streams.Out, output, items)
		},
	}
	cmd.Flags().StringSliceVar(&kubernetes, "kubernetes", nil, "only these releases, such as 1.37 (default all)")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func writeItems(w io.Writer, output string, items []assets.Item) error {
	if output == "json" {
		return writeJSON(w, items)
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "PROGRAM\tVERSION\tSTATE\tSOURCE\tSIZE")
	for _, i := range items {
		size, source := "-", "-"
		if i.Size > 0 {
			size, source = mebibytes(i.Size), string(i.Source)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", i.Program, i.Version, i.State, source, size)
	}
	return table.Flush()
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func newAssetsVerifyCommand(streams Streams) *cobra.Command {
	var kubernetes []string
	var output string
	var repair bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Hold every program of the cache against its checksum",
		Example: `  seatrial assets verify
  seatrial assets verify --repair`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return verifyAssets(cmd, streams, kubernetes, output, repair)
		},
	}
	cmd.Flags().StringSliceVar(&kubernetes, "kubernetes", nil, "only these releases, such as 1.37 (default all)")
	cmd.Flags().BoolVar(&repair, "repair", false, "get damaged programs again")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func verifyAssets(cmd *cobra.Command, streams Streams, kubernetes []string, output string, repair bool) error {
	progress := newAssetsProgress(streams.Err)
	defer progress.close()
	store, err := openStore(assets.Auto, progress.event)
	if err != nil {
		return err
	}
	releases, err := lookupReleases(store, kubernetes)
	if err != nil {
		return err
	}
	items, err := store.Verify(cmd.Context(), releases)
	if err == nil && repair && len(damagedItems(items)) > 0 {
		if err = repairItems(cmd.Context(), store, damagedItems(items)); err == nil {
			items, err = store.Verify(cmd.Context(), releases)
		}
	}
	progress.close()
	if err != nil {
		return err
	}
	if err := writeItems(streams.Out, output, items); err != nil {
		return err
	}
	if damaged := damagedItems(items); len(damaged) > 0 {
		return &UsageError{fmt.Errorf("the cache is damaged: %s (%d in all); repair it with: %s --repair",
			damaged[0].Problem, len(damaged), cmd.CommandPath())}
	}
	return nil
}

func damagedItems(items []assets.Item) []assets.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i assets.Item) bool { return i.State != assets.StateDamaged })
}

// repairItems gets programs again.
func repairItems(ctx context.Context, store *assets.Store, items []assets.Item) error {
	for _, item := range items {
		request := assets.Request{Kubernetes: item.Kubernetes, Programs: []assets.Program{item.Program}, Force: true}
		if _, err := store.Get(ctx, request); err != nil {
			return assetsError(fmt.Errorf("repairing %s: %w", item.Problem, err))
		}
	}
	return nil
}

func newAssetsPruneCommand(streams Streams) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove programs that no release of the matrix uses, and leftovers",
		Example: `  seatrial assets prune --dry-run
  seatrial assets prune`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress := newAssetsProgress(streams.Err)
			defer progress.close()
			store, err := openStore(assets.Auto, progress.event)
			if err != nil {
				return err
			}
			leftovers, err := store.Prune(cmd.Context(), dry)
			progress.close()
			verb := "removed"
			if dry {
				verb = "would remove"
			}
			if err != nil {
				return err
			}
			var total int64
			for _, l := range leftovers {
				total += l.Size
				fmt.Fprintf(streams.Out, "%s %s (%s, %s)\n", verb, l.Path, l.Why, mebibytes(l.Size))
			}
			fmt.Fprintf(streams.Out, "%s %d directories, %s\n", verb, len(leftovers), mebibytes(total))
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed and remove nothing")
	return cmd
}
