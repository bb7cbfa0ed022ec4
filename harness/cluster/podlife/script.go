// Package podlife describes how pods live where no kubelet runs them: how long
// they take to start, whether they get ready, how they fail.
//
// It is data, and a pure translation of it to KWOK stages. A cluster's
// provider puts the stages in force.
package podlife

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Behaviour is what becomes of a pod's containers.
type Behaviour string

// The behaviours.
const (
	// Ready: the containers run and get ready. Pods of Jobs, once ready,
	// complete. The default.
	Ready Behaviour = "Ready"
	// NeverReady: the containers run and do not get ready.
	NeverReady Behaviour = "NeverReady"
	// CrashLoop: the containers start and fail, again and again, with the
	// kubelet's back-off: 10 s, 20 s, 40 s, up to 5 min.
	CrashLoop Behaviour = "CrashLoop"
	// ImagePullFailure: the containers wait for an image that cannot be had.
	ImagePullFailure Behaviour = "ImagePullFailure"
	// ReadyThenFail: the containers get ready, and after FailAfter they are
	// not any more, though they run.
	ReadyThenFail Behaviour = "ReadyThenFail"
)

// Behaviours returns every behaviour.
func Behaviours() []Behaviour {
	return []Behaviour{Ready, NeverReady, CrashLoop, ImagePullFailure, ReadyThenFail}
}

// Script says how some pods live. Of several scripts that select a pod, the
// first counts. A pod that none selects starts at once and is ready.
type Script struct {
	// Name of the script, a DNS label, unique among those in force. It stands
	// in the pods' conditions.
	Name string
	// Namespace of the pods; empty means any.
	Namespace string
	// Pods are the pods' names, in which * stands for any characters; empty
	// means any name.
	Pods string
	// Labels that the pods have; empty means any.
	Labels map[string]string
	// Behaviour of the containers; empty means Ready.
	Behaviour Behaviour
	// StartDelay is how long the containers take to start. Default 0.
	StartDelay time.Duration
	// FailAfter is for how long a pod is ready before it fails; for
	// ReadyThenFail only. Default 0.
	FailAfter time.Duration
}

// Validate returns what is wrong with scripts that are to be in force
// together.
func Validate(scripts []Script) error {
	seen := map[string]bool{}
	for i, s := range scripts {
		if err := s.validate(); err != nil {
			return fmt.Errorf("scripts[%d]: %w", i, err)
		}
		if seen[s.Name] {
			return fmt.Errorf("scripts[%d]: the name %q is taken", i, s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

func (s Script) validate() error {
	switch {
	case !isLabel(s.Name):
		return fmt.Errorf("name %q must be lower-case letters, digits and '-'", s.Name)
	case s.Behaviour != "" && !slices.Contains(Behaviours(), s.Behaviour):
		return fmt.Errorf("behaviour %q must be one of %v", s.Behaviour, Behaviours())
	case s.StartDelay < 0 || s.FailAfter < 0:
		return errors.New("startDelay and failAfter must not be negative")
	case s.FailAfter > 0 && s.Behaviour != ReadyThenFail:
		return fmt.Errorf("failAfter goes with behaviour %s", ReadyThenFail)
	}
	return nil
}

func isLabel(name string) bool {
	return name != "" && len(name) <= 63 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
