package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/seatrial/seatrial/ci"
	"github.com/seatrial/seatrial/harness/assets"
	"github.com/seatrial/seatrial/harness/cluster"
	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/engine"
	"github.com/seatrial/seatrial/harness/report"
	"github.com/seatrial/seatrial/harness/trial"
)

// clusterFlags say on which cluster a trial runs.
type clusterFlags struct {
	level, kubernetes, source, podLife string
}

func (c *clusterFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.level, "level", string(trial.LevelControlPlane), "apiserver or controlplane")
	f.StringVar(&c.kubernetes, "kubernetes", ci.Newest, "a release, such as 1.37 or v1.37.2, newest or oldest")
	f.StringVar(&c.source, "source", assets.Auto, "where programs come from: "+sourceHelp)
	f.StringVar(&c.podLife, "pod-life", "", "a PodLife file that scripts how pods start and fail")
}

// clusterPlan is a cluster that can be started, all that can be wrong with the
// flags found.
type clusterPlan struct {
	level   trial.Level
	release ci.Release
	store   *assets.Store
	scripts []podlife.Script
}

func (c *clusterFlags) plan(progress *runProgress) (*clusterPlan, error) {
	level, err := trial.ParseLevel(c.level)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--level: %w", err)}
	}
	if level != trial.LevelAPIServer && level != trial.LevelControlPlane {
		return nil, &UsageError{fmt.Errorf("--level %s cannot be run yet: must be apiserver or controlplane", level)}
	}
	store, err := openStore(c.source, progress.asset)
	if err != nil {
		return nil, err
	}
	releases, err := lookupReleases(store, []string{c.kubernetes})
	if err != nil {
		return nil, err
	}
	if len(releases) != 1 {
		return nil, &UsageError{fmt.Errorf("--kubernetes %q must name one release", c.kubernetes)}
	}
	plan := &clusterPlan{level: level, release: releases[0], store: store}
	if c.podLife != "" {
		if level != trial.LevelControlPlane {
			return nil, &UsageError{fmt.Errorf("--pod-life needs --level %s", trial.LevelControlPlane)}
		}
		if plan.scripts, err = podlife.Load(c.podLife); err != nil {
			return nil, &UsageError{fmt.Errorf("--pod-life: %w", err)}
		}
	}
	return plan, nil
}

// start gets the programs and starts the cluster.
func (p *clusterPlan) start(ctx context.Context) (cluster.Cluster, []report.Program, error) {
	needed := assets.Programs()
	if p.level == trial.LevelAPIServer {
		needed = []assets.Program{assets.APIServer, assets.Etcd, assets.Kubectl}
	}
	set, err := p.store.Get(ctx, assets.Request{Kubernetes: p.release.Kubernetes, Programs: needed})
	if err != nil {
		if err = assetsError(err); isUsage(err) {
			err = &engine.InputError{Err: err}
		}
		return nil, nil, err
	}
	c, err := local.Start(ctx, local.Options{
		Level: p.level,
		Programs: local.Programs{
			APIServer:         set.Path(assets.APIServer),
			ControllerManager: set.Path(assets.ControllerManager),
			Scheduler:         set.Path(assets.Scheduler),
			Etcd:              set.Path(assets.Etcd),
			KWOK:              set.Path(assets.KWOK),
			Kubectl:           set.Path(assets.Kubectl),
		},
		TemplateDir: filepath.Join(p.store.Dir(), "templates"),
		PodLife:     p.scripts,
	})
	if err != nil {
		return nil, nil, err
	}
	if c.Version() != p.release.Kubernetes {
		wrong := fmt.Errorf("the API server says that it is %s, not %s", c.Version(), p.release.Kubernetes)
		return nil, nil, errors.Join(wrong, c.Stop(ctx))
	}
	programs := make([]report.Program, 0, len(set.Files))
	for _, f := range set.Files {
		programs = append(programs, report.Program{Name: string(f.Program), Version: f.Version, Source: string(f.Source)})
	}
	return c, programs, nil
}
