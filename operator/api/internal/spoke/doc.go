// Package spoke holds what the conversions of the older versions of the API
// have in common: how they see v1, which is the hub.
package spoke
