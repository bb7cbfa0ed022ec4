// Package install puts a subject's objects into a cluster: CRDs first, then
// what they need, each by server-side apply under one field manager, with
// webhooks pointed at a process on this machine instead of a Service.
package install
