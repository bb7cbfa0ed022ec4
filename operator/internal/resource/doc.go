// Package resource builds the objects that a RedisCluster owns, its children,
// one file a child. A builder is a pure function from a RedisCluster to the
// fields that the operator wants a say in; everything it leaves out belongs to
// the API server's defaults, the user or other controllers.
package resource
