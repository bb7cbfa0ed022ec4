package trial

import (
	"fmt"
	"slices"
	"strings"
)

// Level names how much of Kubernetes runs under a trial.
type Level string

// The levels, from the least to the most real.
const (
	// LevelAPIServer is etcd and kube-apiserver: what envtest users know.
	LevelAPIServer Level = "apiserver"
	// LevelControlPlane adds kube-controller-manager, kube-scheduler and KWOK
	// nodes whose pods follow scripts.
	LevelControlPlane Level = "controlplane"
	// LevelKind is a kind cluster: real kubelets, network and storage.
	LevelKind Level = "kind"
	// LevelExisting is a cluster that somebody else made.
	LevelExisting Level = "existing"
)

// Levels returns every level, from the least to the most real.
func Levels() []Level {
	return []Level{LevelAPIServer, LevelControlPlane, LevelKind, LevelExisting}
}

// ParseLevel returns the level named s, or an error that lists the names.
func ParseLevel(s string) (Level, error) {
	l := Level(s)
	if !slices.Contains(Levels(), l) {
		names := make([]string, 0, len(Levels()))
		for _, known := range Levels() {
			names = append(names, string(known))
		}
		return "", fmt.Errorf("unknown level %q: must be one of %s", s, strings.Join(names, ", "))
	}
	return l, nil
}

// Provides reports whether a cluster at level l can serve a check that needs
// at least need.
func (l Level) Provides(need Level) bool {
	return slices.Index(Levels(), l) >= slices.Index(Levels(), need)
}
