// Package proxy stands between the subject and the API server, and records
// every request with its response.
//
// The subject reaches it by TLS, over HTTP/1.1 or HTTP/2, with its own
// credentials, which pass through untouched, as do all bodies. Watches are
// passed on event by event, upgrades (exec, attach, port-forward) byte by byte.
// What was seen is decoded behind the scenes and handed to a history.Recorder
// in the order in which the responses ended.
//
// Faults are for others to think of: Options.Intercept is where they stand.
//
// To the API server the proxy speaks HTTP/1.1: a request of its own connection
// costs fewer hand-offs between goroutines than a stream of a shared one, and
// can be cut without touching the others. For the same reasons a client that
// offers both versions gets HTTP/1.1, unless Options.PreferHTTP2 is set.
package proxy
