// Package observe watches everything in a cluster directly, past any proxy,
// and records each version of each object: the ground truth, whoever caused
// it.
//
// It watches every resource that can be listed and watched, in the version
// that the API server prefers, Events and Leases apart, which are noise. The
// resources of CustomResourceDefinitions are taken up as these come and go.
// A resource of an aggregated API server is taken up only if it is there at
// the start.
//
// Versions of one object are recorded in their order, each once. Objects of
// different resources have no common order: their watches are independent.
// A watch that breaks is resumed where it ended; nothing is lost. Only where
// the API server does not remember so far back are objects listed anew, and
// compared: the last version is then recorded, those before it are not, and a
// deletion is recorded with the last version that was seen. Options.Warn is
// told of it. The same holds for what happens to a custom resource in the
// moments between the creation of its definition and the first list.
//
// Values of Secrets are replaced by symbols; see package redact.
package observe
