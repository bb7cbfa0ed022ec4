package v1

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheSchemaRefusesTheOperatorsOwnSettings reads the rule as the API server
// has it: what it lets through, the operator must not drop.
func TestTheSchemaRefusesTheOperatorsOwnSettings(t *testing.T) {
	crd, err := os.ReadFile("../../config/crd/bases/cache.example.com_redisclusters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`self\.name in \[([^\]]*)\]`).FindSubmatch(crd)
	if rule == nil {
		t.Fatal("the CRD has no rule on names of settings")
	}
	var refused []string
	for name := range strings.SplitSeq(string(rule[1]), ",") {
		refused = append(refused, strings.Trim(name, " \n'"))
	}
	slices.Sort(refused)
	if diff := cmp.Diff(ownSettings, refused); diff != "" {
		t.Errorf("names in the code and in the schema (-want +got):\n%s", diff)
	}
	if !OwnsSetting("Cluster-Anything") || OwnsSetting("save") {
		t.Error("cluster-* must be the operator's own, and save the user's")
	}
}
