// Package subject reads a subject file, strictly, and works out what it left
// unsaid from the CRDs and manifests it names. It reads files and nothing
// else: no cluster is needed to find out that a subject file is wrong.
package subject
