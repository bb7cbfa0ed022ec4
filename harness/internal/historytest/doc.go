// Package historytest writes histories by hand, for tests of what reads them.
//
// A Story is told step by step: what the operator did, what others did, and the
// marks of the trial. It keeps as much of an API server as it takes for UIDs,
// resourceVersions and generations to be right, and records each step the way
// the proxy and the direct watch would.
package historytest
