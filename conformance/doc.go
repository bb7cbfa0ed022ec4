// Package conformance is the catalogue: the promises that any operator should
// keep, one file each. A file holds a promise as data, with why it matters, how
// a breach is mended and where the rule comes from; package oracle holds the
// judge.
//
// IDs are for ever: reports, waivers and docs refer to them. Every check names
// the operators in fixtures/mutant that it fails, and would be decoration
// without one.
package conformance
