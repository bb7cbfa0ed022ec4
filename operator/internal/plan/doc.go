// Package plan decides what to do about a RedisCluster: from what was observed
// to an ordered list of operations. It is pure: it reads no clock, talks to
// nobody, and the same observation always gives the same plan. A plan can be
// printed.
package plan
