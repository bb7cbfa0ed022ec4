package local

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/trial"
)

// Programs are the paths of the programs that a cluster runs.
type Programs struct {
	Etcd, APIServer string
	// ControllerManager, Scheduler and KWOK are for level controlplane.
	ControllerManager, Scheduler, KWOK string
	// Kubectl is not run; envtest users get it through Environment.
	Kubectl string
}

// ProgramsIn returns the programs of a directory such as KUBEBUILDER_ASSETS
// names, each under its own name.
func ProgramsIn(dir string) Programs {
	path := func(name string) string { return dir + string(os.PathSeparator) + name }
	return Programs{
		Etcd: path("etcd"), APIServer: path("kube-apiserver"), ControllerManager: path("kube-controller-manager"),
		Scheduler: path("kube-scheduler"), KWOK: path("kwok"), Kubectl: path("kubectl"),
	}
}

// Options says what cluster to start.
type Options struct {
	// Level is trial.LevelAPIServer or trial.LevelControlPlane. Required.
	Level trial.Level
	// Programs that it needs. Required.
	Programs Programs
	// TemplateDir keeps, for each release, the state of an API server that has
	// booted once, from which others start faster. Empty: every cluster boots
	// from nothing.
	TemplateDir string
	// Port of the API server on loopback; 0 picks a free one.
	Port int
	// Nodes is how many KWOK nodes there are. Default 3.
	Nodes int
	// PodLife scripts how pods live; see SetPodLife.
	PodLife []podlife.Script
	// StartWithin is how long each program may take. Default 25 s.
	StartWithin time.Duration
	// APIServerArgs are added to kube-apiserver's arguments.
	APIServerArgs []string
}

func (o Options) withDefaults() (Options, error) {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.StartWithin == 0 {
		o.StartWithin = 25 * time.Second
	}
	needed := map[string]string{"etcd": o.Programs.Etcd, "kube-apiserver": o.Programs.APIServer}
	switch o.Level {
	case trial.LevelAPIServer:
		if len(o.PodLife) > 0 {
			return o, fmt.Errorf("pods follow scripts at level %s only", trial.LevelControlPlane)
		}
	case trial.LevelControlPlane:
		needed["kube-controller-manager"] = o.Programs.ControllerManager
		needed["kube-scheduler"] = o.Programs.Scheduler
		needed["kwok"] = o.Programs.KWOK
	default:
		return o, fmt.Errorf("a local cluster has level %s or %s, not %q", trial.LevelAPIServer, trial.LevelControlPlane, o.Level)
	}
	var errs []error
	for name, path := range needed {
		if path == "" {
			errs = append(errs, fmt.Errorf("no path is given for %s", name))
		} else if _, err := os.Stat(path); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return o, errors.Join(errs...)
}
