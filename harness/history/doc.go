// Package history is what was seen during a trial: every request that the
// operator made through the proxy, every version of every object that a direct
// watch delivered, and the marks that the engine set between its phases.
//
// A history is observation only. What it means is for package oracle, whose
// judges are pure functions of a History, so that a saved one can be judged
// again at any time. It is saved as JSON lines, one Entry a line.
package history
