// Package oracle judges histories. Its judges are pure: they take a
// history.History and return findings, read no clock, and touch no network and
// no file, so that a saved history judges the same at any time.
//
// Package conformance gives the judges their sentences; this package gives
// them their logic.
package oracle
