// Package version puts the versions of objects in a history in order: which
// versions an object had, which write made which of them, and what it changed.
//
// The requests of an operator and the changes that a direct watch delivers are
// recorded by two observers that know nothing of each other. This package joins
// them by UID and resourceVersion, never by the order in which they were seen:
// a change may be seen before the response of the request that made it, or long
// after the next request began.
package version
