// Package status works out what a RedisCluster's status says: from what was
// observed, what was planned and what failed. It is pure; the time comes from
// the caller.
package status
