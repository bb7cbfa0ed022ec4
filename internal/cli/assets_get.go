package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seatrial/seatrial/ci"
	"github.com/seatrial/seatrial/harness/assets"
)

const sourceHelp = "auto (dir, cache, download, build: the first that has it), or one of them"

// getFlags are the flags of seatrial assets get.
type getFlags struct {
	kubernetes, programs []string
	source, output       string
	force                bool
}

func newAssetsGetCommand(streams Streams) *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Get the programs of a release, if they are not there yet",
		Long: `Get gets the programs of Kubernetes releases and prints where they are. A first
build takes about ten minutes of two processors for each release; what it
compiled is in the cache afterwards.`,
		Example: `  seatrial assets get --kubernetes 1.37
  seatrial assets get --kubernetes all
  seatrial assets get --kubernetes oldest,newest --programs kube-apiserver,etcd -o json
  seatrial assets get --kubernetes 1.37 --source build --force`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return getAssets(cmd.Context(), streams, flags) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&flags.kubernetes, "kubernetes", []string{ci.Newest}, "releases, such as 1.37 or v1.37.2, newest, oldest, or all")
	f.StringSliceVar(&flags.programs, "programs", nil, "only these programs (default all)")
	f.StringVar(&flags.source, "source", assets.Auto, sourceHelp)
	f.BoolVar(&flags.force, "force", false, "get them again and replace what the cache has")
	f.StringVarP(&flags.output, "output", "o", "text", "text or json")
	return cmd
}

func getAssets(ctx context.Context, streams Streams, flags getFlags) error {
	if err := checkOutput(flags.output); err != nil {
		return err
	}
	programs, err := assets.ParsePrograms(flags.programs)
	if err != nil {
		return &UsageError{fmt.Errorf("--programs: %w", err)}
	}
	progress := newAssetsProgress(streams.Err)
	defer progress.close()
	store, err := openStore(flags.source, progress.event)
	if err != nil {
		return err
	}
	releases, err := lookupReleases(store, flags.kubernetes)
	if err != nil {
		return err
	}
	sets := make([]assets.Set, 0, len(releases))
	for _, release := range releases {
		set, err := store.Get(ctx, assets.Request{Kubernetes: release.Kubernetes, Programs: programs, Force: flags.force})
		if err != nil {
			return assetsError(err)
		}
		sets = append(sets, set)
	}
	progress.close()
	return writeSets(streams.Out, flags.output, sets)
}

func writeSets(w io.Writer, output string, sets []assets.Set) error {
	if output == "json" {
		type release struct {
			Kubernetes string        `json:"kubernetes"`
			Files      []assets.File `json:"files"`
		}
		list := make([]release, 0, len(sets))
		for _, set := range sets {
			list = append(list, release{set.Release.Kubernetes, set.Files})
		}
		return writeJSON(w, list)
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "KUBERNETES\tPROGRAM\tVERSION\tSOURCE\tPATH")
	for _, set := range sets {
		for _, f := range set.Files {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", set.Release.Kubernetes, f.Program, f.Version, f.Source, f.Path)
		}
	}
	return table.Flush()
}

func newAssetsPathCommand(streams Streams) *cobra.Command {
	var kubernetes, source string
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print a directory that has all programs of a release, for KUBEBUILDER_ASSETS",
		Long: `Path prints a directory that has all programs of a Kubernetes release under
their names, getting first what is not there. It can be used as
KUBEBUILDER_ASSETS. When it fails it prints nothing, so stop on its error: an
empty KUBEBUILDER_ASSETS makes envtest look in the current directory.`,
		Example: `  export KUBEBUILDER_ASSETS=$(seatrial assets path --kubernetes 1.37)
  seatrial assets path --kubernetes oldest --source cache`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress := newAssetsProgress(streams.Err)
			defer progress.close()
			store, err := openStore(source, progress.event)
			if err != nil {
				return err
			}
			set, err := store.Get(cmd.Context(), assets.Request{Kubernetes: kubernetes})
			if err != nil {
				return assetsError(err)
			}
			dir, err := store.Link(cmd.Context(), set)
			if err != nil {
				return err
			}
			progress.close()
			fmt.Fprintln(streams.Out, dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&kubernetes, "kubernetes", ci.Newest, "a release, such as 1.37 or v1.37.2, newest or oldest")
	cmd.Flags().StringVar(&source, "source", assets.Auto, sourceHelp)
	return cmd
}
