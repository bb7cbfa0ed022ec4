package assets

import (
	"fmt"
	"slices"
	"strings"
)

// Program is the name of a program, which is also the name of its file.
type Program string

// The programs.
const (
	APIServer         Program = "kube-apiserver"
	ControllerManager Program = "kube-controller-manager"
	Scheduler         Program = "kube-scheduler"
	Kubectl           Program = "kubectl"
	Etcd              Program = "etcd"
	KWOK              Program = "kwok"
)

// Programs returns every program.
func Programs() []Program {
	return []Program{APIServer, ControllerManager, Scheduler, Kubectl, Etcd, KWOK}
}

// ParsePrograms returns the programs of these names, or an error that lists the
// known ones. No names mean every program.
func ParsePrograms(names []string) ([]Program, error) {
	if len(names) == 0 {
		return Programs(), nil
	}
	programs := make([]Program, 0, len(names))
	for _, name := range names {
		p := Program(name)
		if !slices.Contains(Programs(), p) {
			return nil, fmt.Errorf("unknown program %q: known are %s", name, join(Programs(), ", "))
		}
		if !slices.Contains(programs, p) {
			programs = append(programs, p)
		}
	}
	return programs, nil
}

// versionArgs is how p is asked for its version.
func (p Program) versionArgs() []string {
	if p == Kubectl {
		return []string{"version", "--client"}
	}
	return []string{"--version"}
}

// join is strings.Join for names.
func join[S ~string](names []S, separator string) string {
	texts := make([]string, 0, len(names))
	for _, n := range names {
		texts = append(texts, string(n))
	}
	return strings.Join(texts, separator)
}
