package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seatrial/seatrial/conformance"
	"github.com/seatrial/seatrial/harness/trial"
)

func newListCommand(streams Streams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the checks that an operator is put to",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			if output == "json" {
				return writeJSON(streams.Out, checks())
			}
			return listText(streams)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func listText(streams Streams) error {
	w := tabwriter.NewWriter(streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHECK\tLEVEL\tPROMISE")
	for _, c := range checks() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.ID, c.Level, c.Sentence)
	}
	return w.Flush()
}

func checks() []trial.Check {
	catalogue := conformance.Catalogue()
	found := make([]trial.Check, 0, len(catalogue))
	for _, invariant := range catalogue {
		found = append(found, invariant.Check)
	}
	return found
}

func newExplainCommand(streams Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "explain CHECK",
		Short:   "Explain a check: what it promises, why, and how a breach is mended",
		Example: "  seatrial explain no-op-writes",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return checkIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			all := checks()
			i := slices.IndexFunc(all, func(c trial.Check) bool { return c.ID == args[0] })
			if i < 0 {
				return &UsageError{fmt.Errorf("no check is named %q: the checks are %s", args[0], strings.Join(checkIDs(), ", "))}
			}
			return explain(streams, all[i])
		},
	}
}

func checkIDs() []string {
	var ids []string
	for _, c := range checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

func explain(streams Streams, c trial.Check) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", c.ID, c.Sentence)
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n  %s\n", title, text)
		}
	}
	section("Why", c.Why)
	section("How to mend a breach", c.Fix)
	section("Where the rule comes from", strings.Join(c.Provenance, "\n  "))
	needs := []string{"level " + string(c.Level)}
	for _, f := range c.Features {
		needs = append(needs, "feature "+string(f))
	}
	section("Needs", strings.Join(needs, ", "))
	section("Mutants it kills", strings.Join(c.Mutants, ", "))
	_, err := fmt.Fprint(streams.Out, b.String())
	return err
}
