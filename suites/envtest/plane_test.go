//go:build envtest

package envtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"

	"github.com/seatrial/seatrial/ci"
	"github.com/seatrial/seatrial/harness/assets"
	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/install"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/trial"
)

// crashing is the name of a RedisCluster whose pods crash, where pods follow
// scripts.
const crashing = "crashing"

// podLives are the scripts of pods at level controlplane.
var podLives = []podlife.Script{{Name: crashing, Pods: crashing + "-*", Behaviour: podlife.CrashLoop}}

// startPlane starts a control plane and installs the operator's CRD, RBAC and
// webhooks.
func startPlane(ctx context.Context, release ci.Release, level trial.Level) (*local.Cluster, error) {
	options := assets.OptionsFromEnv(os.LookupEnv)
	options.Progress = func(e assets.Event) { fmt.Fprintf(GinkgoWriter, "%+v\n", e) }
	store, err := assets.New(options)
	if err != nil {
		return nil, err
	}
	request := assets.Request{Kubernetes: release.Kubernetes, Programs: []assets.Program{assets.Etcd, assets.APIServer}}
	if level == trial.LevelControlPlane {
		request.Programs = append(request.Programs, assets.ControllerManager, assets.Scheduler, assets.KWOK)
	}
	set, err := store.Get(ctx, request)
	if err != nil {
		return nil, err
	}
	started := local.Options{
		Level: level,
		Programs: local.Programs{
			Etcd:              set.Path(assets.Etcd),
			APIServer:         set.Path(assets.APIServer),
			ControllerManager: set.Path(assets.ControllerManager),
			Scheduler:         set.Path(assets.Scheduler),
			KWOK:              set.Path(assets.KWOK),
		},
		TemplateDir: filepath.Join(store.Dir(), "templates"),
	}
	if level == trial.LevelControlPlane {
		started.PodLife = podLives
	}
	cluster, err := local.Start(ctx, started)
	if err != nil {
		return nil, err
	}
	if err := installOperator(ctx, cluster); err != nil {
		return nil, fmt.Errorf("%w; stopping: %w", err, cluster.Stop(ctx))
	}
	return cluster, nil
}

func installOperator(ctx context.Context, cluster *local.Cluster) error {
	installer, err := install.New(cluster.Config(), "default")
	if err != nil {
		return err
	}
	webhooks, err := startWebhooks(ctx, cluster.Config())
	if err != nil {
		return err
	}
	crds, err := webhooks.read("crd")
	if err != nil {
		return err
	}
	if err := installer.CRDs(ctx, crds); err != nil {
		return err
	}
	if err := cluster.CRDsInstalled(ctx); err != nil {
		return err
	}
	rbac, err := manifest.Read("../../operator/config/rbac")
	if err != nil {
		return err
	}
	if err := installer.All(ctx, rbac); err != nil {
		return err
	}
	hooks, err := webhooks.read("webhook")
	if err != nil {
		return err
	}
	return installer.All(ctx, hooks)
}
