package assets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/seatrial/seatrial/ci"
)

//go:generate go run ../../ci/pins -ci ../../ci -out pins

//go:embed pins/*.txtar
var embeddedPins embed.FS

// The components: what is released, pinned and built together.
const (
	componentKubernetes = "kubernetes"
	componentEtcd       = "etcd"
	componentKWOK       = "kwok"
)

// recipe says how the programs of a component are pinned and built.
type recipe struct {
	component string
	version   string
	// pin is an archive of the module files from which the programs are built.
	pin []byte
	// packages are the main packages of the programs.
	packages map[Program]string
	ldflags  string
}

// recipes returns those of a release, in the order in which to get them.
func recipes(pins fs.FS, release ci.Release) ([]recipe, error) {
	all := []recipe{
		kubernetesRecipe(release.Kubernetes),
		{
			component: componentEtcd,
			version:   release.Etcd,
			packages:  map[Program]string{Etcd: "go.etcd.io/etcd/server/v3"},
			ldflags:   "-s -w",
		},
		{
			component: componentKWOK,
			version:   release.KWOK,
			packages:  map[Program]string{KWOK: "sigs.k8s.io/kwok/cmd/kwok"},
			ldflags:   "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=" + release.KWOK,
		},
	}
	for i := range all {
		name := "pins/" + all[i].pinName() + ".txtar"
		pin, err := fs.ReadFile(pins, name)
		if err != nil {
			return nil, fmt.Errorf("no module pins %s (run go generate in harness/assets): %w", all[i], err)
		}
		all[i].pin = pin
	}
	return all, nil
}

// kubernetesRecipe stamps the version into the programs: without it they call
// themselves v0.0.0-master, and clients and servers refuse each other.
func kubernetesRecipe(version string) recipe {
	minor := strings.TrimPrefix(semver.MajorMinor(version), "v1.")
	r := recipe{
		component: componentKubernetes,
		version:   version,
		packages:  map[Program]string{},
		ldflags: "-s -w" +
			" -X k8s.io/component-base/version.gitVersion=" + version +
			" -X k8s.io/component-base/version.gitMajor=1" +
			" -X k8s.io/component-base/version.gitMinor=" + minor +
			" -X k8s.io/client-go/pkg/version.gitVersion=" + version,
	}
	for _, p := range []Program{APIServer, ControllerManager, Scheduler, Kubectl} {
		r.packages[p] = "k8s.io/kubernetes/cmd/" + string(p)
	}
	return r
}

// String names the component and its version, for people.
func (r recipe) String() string { return r.component + " " + r.version }

// pinName is the name of the archive: there is one for each minor version of
// Kubernetes.
func (r recipe) pinName() string {
	if r.component == componentKubernetes {
		return r.component + "-" + semver.MajorMinor(r.version)
	}
	return r.component
}

// makes says whether p is one of the component's programs.
func (r recipe) makes(p Program) bool {
	_, ok := r.packages[p]
	return ok
}

// of returns those of these programs that are the component's.
func (r recipe) of(programs []Program) []Program {
	var own []Program
	for _, p := range programs {
		if r.makes(p) {
			own = append(own, p)
		}
	}
	return own
}

// key is short for all that a build depends on, so that a changed pin does not
// find what an older one left in the cache.
func (r recipe) key() string {
	h := sha256.New()
	h.Write(r.pin)
	fmt.Fprintln(h, r.ldflags)
	for _, p := range slices.Sorted(maps.Keys(r.packages)) {
		fmt.Fprintln(h, p, r.packages[p])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
