// Package cluster says what the harness needs of a Kubernetes cluster.
// The sub-packages make one: local (etcd and the control plane as processes),
// kind, existing.
package cluster

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/trial"
)

// Cluster is a running cluster.
type Cluster interface {
	// Level is what kind of cluster it is.
	Level() trial.Level
	// Config reaches the API server with all rights. Callers may change the
	// copy they get.
	Config() *rest.Config
	// Version is what the API server says it is, such as "v1.37.2".
	Version() string
	// Stop ends the cluster and removes what it left on this machine. Stop
	// clients first: an API server waits for open watches. Calling it again
	// does nothing.
	Stop(ctx context.Context) error
}

// PodScripter is a cluster whose pods follow scripts instead of running.
type PodScripter interface {
	// SetPodLife replaces the scripts. Pods that run already follow the new
	// ones at once.
	SetPodLife(ctx context.Context, scripts []podlife.Script) error
}

// CRDAware is a cluster that works better when it is told of new CRDs.
type CRDAware interface {
	// CRDsInstalled is called after CRDs were installed. It returns when the
	// cluster has taken note, which may be before it has acted on it.
	CRDsInstalled(ctx context.Context) error
}

// ErrNoPodLife is returned where scripts are asked of a cluster whose pods
// are real, or that has none.
var ErrNoPodLife = errors.New("pods of this cluster do not follow scripts")
