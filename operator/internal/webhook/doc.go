// Package webhook answers the API server's questions about RedisClusters:
// whether one may be as it is (validating), what of it a client has dropped
// unawares (mutating), and what it is in another version (conversion, which
// controller-runtime serves from the types).
package webhook
