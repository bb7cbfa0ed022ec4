// Package backup copies the data of a Redis Cluster into a directory, checks
// such copies, and puts them into another Redis Cluster.
//
// A backup is one RDB file a shard and a manifest, which is written last: a
// directory without one is no backup. The cut is one moment a shard, not one
// moment for the whole Redis Cluster, which Redis does not offer.
package backup
