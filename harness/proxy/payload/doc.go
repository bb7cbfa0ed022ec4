// Package payload reads the bodies of API traffic: it turns one object into
// JSON, whatever it was sent as, and counts the items of a list and the events
// of a watch while they pass, without keeping them.
package payload
