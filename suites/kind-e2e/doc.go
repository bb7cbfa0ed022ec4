//go:build e2e

// Package kinde2e is the tier of specs that need real kubelets, network and
// storage, written with e2e-framework. It has no specs yet; the import pins
// the version of the framework that builds together with everything else.
package kinde2e

import _ "sigs.k8s.io/e2e-framework/pkg/env" // pinned for the specs to come
