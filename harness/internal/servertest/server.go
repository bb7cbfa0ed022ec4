// Package servertest starts API servers for tests of the harness.
package servertest

import (
	"context"
	"os"

	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/trial"
)

// TB is the part of a test or benchmark that is needed.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(end func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start starts an API server with the programs that KUBEBUILDER_ASSETS names,
// which ends with the test, and returns what reaches it with all rights.
func Start(tb TB) *rest.Config {
	tb.Helper()
	c, err := local.Start(tb.Context(), local.Options{
		Level: trial.LevelAPIServer, Programs: local.ProgramsIn(os.Getenv("KUBEBUILDER_ASSETS")),
	})
	if err != nil {
		tb.Fatalf("starting an API server with the programs in $KUBEBUILDER_ASSETS: %v", err)
	}
	tb.Cleanup(func() {
		if err := c.Stop(context.WithoutCancel(tb.Context())); err != nil {
			tb.Errorf("stopping the API server: %v", err)
		}
	})
	return c.Config()
}
