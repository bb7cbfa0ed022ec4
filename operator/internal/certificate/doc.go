// Package certificate keeps the certificate that the operator's webhooks serve
// with, and the CA that signs it, so that the operator needs no cert-manager.
//
// Everything is in one Secret. The CA is replaced with overlap: a new one is
// announced first, that is, trusted beside the old one; when every webhook
// configuration and the CRD have carried both for a propagation delay, the
// webhooks serve with a certificate of the new one; after another delay the
// old one is dropped. Where a rotation stands is read from the Secret alone,
// so a replica that dies in the middle is succeeded by any other.
//
// Each replica serves from the Secret and follows its changes. Writes are made
// by the leader; another replica makes one only if it is still needed after
// Patience, for this reason: a manager elects its leader after its caches have
// filled, they fill only when objects can be converted, and the conversion
// webhook is trusted only when the certificate and the caBundle are in place.
// That two replicas may write is safe: every write names the resourceVersion
// that it was decided on.
//
// Until there is a certificate the webhook server listens and refuses
// handshakes, and Ready reports an error, so that no Service sends it traffic.
// It does not end. The API server calls again by itself.
//
// A certificate that somebody else makes, such as cert-manager, is served by
// Files instead.
package certificate
