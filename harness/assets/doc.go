// Package assets gets the programs that a control plane runs: those of
// Kubernetes, etcd and KWOK, in the versions that ci/matrix.yaml names.
//
// A Store looks for them in this order: an explicit directory
// (KUBEBUILDER_ASSETS), its cache, a download of the official release files,
// and a build from the pinned module. It says in one line why it passes a
// source over, and any source can be forced.
//
// The cache is shared by all processes of a user. Nothing appears in it before
// it is whole: a program is made in a temporary directory of the same file
// system, its own answer to --version is held against what was asked for, and
// it is then renamed into place together with a manifest of its checksum. The
// checksum is verified before each use. Locks and temporary directories of a
// process that was killed bind nobody and are removed by the next one.
package assets
