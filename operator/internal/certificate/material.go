package certificate

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Keys of the Secret's data.
const (
	// KeyAuthorities holds the certificates of all CAs that are to be trusted.
	KeyAuthorities = "ca.crt"
	// KeyAuthorityKeys holds the private keys of those that may still sign.
	KeyAuthorityKeys = "ca.key"
)

// Annotations of the Secret.
const (
	// AnnotationPublished is when every consumer was first seen to carry the
	// bundle.
	AnnotationPublished = "certificate.cache.example.com/published"
	// AnnotationPublishedBundle is the SHA-256 of the bundle that this is true
	// of. The time says nothing about another one.
	AnnotationPublishedBundle = "certificate.cache.example.com/published-bundle"
)

// Authority is a CA that is trusted.
type Authority struct {
	Certificate *x509.Certificate
	// Key is nil when the CA signs no more.
	Key *ecdsa.PrivateKey
}

// Serving is what the webhooks serve with.
type Serving struct {
	Certificate *x509.Certificate
	Key         *ecdsa.PrivateKey
}

// Material is the contents of the Secret.
type Material struct {
	// Authorities are all CAs to be trusted, in the order they were announced.
	Authorities []Authority
	// Serving is nil when there is no certificate with its own key.
	Serving *Serving
	// Published is when every consumer was first seen to carry Bundle, or zero.
	Published time.Time
}

// Decode reads a Secret. What it cannot make sense of is left out, since the
// remedy for a part that is broken is the same as for one that is missing.
func Decode(secret *corev1.Secret) Material {
	m := Material{
		Authorities: authorities(secret.Data[KeyAuthorities], secret.Data[KeyAuthorityKeys]),
		Serving:     serving(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]),
	}
	published, err := time.Parse(time.RFC3339Nano, secret.Annotations[AnnotationPublished])
	if err == nil && secret.Annotations[AnnotationPublishedBundle] == fingerprint(m.Bundle()) {
		m.Published = published.UTC()
	}
	return m
}

// Encode writes the material into a Secret, and leaves alone whatever else is
// in there.
func (m Material) Encode(secret *corev1.Secret) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	var keys []byte
	for _, a := range m.Authorities {
		if a.Key == nil {
			continue
		}
		key, err := keyutil.MarshalPrivateKeyToPEM(a.Key)
		if err != nil {
			return fmt.Errorf("encoding the CA's key: %w", err)
		}
		keys = append(keys, key...)
	}
	secret.Data[KeyAuthorities] = m.Bundle()
	secret.Data[KeyAuthorityKeys] = keys
	secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey] = nil, nil
	if m.Serving != nil {
		key, err := keyutil.MarshalPrivateKeyToPEM(m.Serving.Key)
		if err != nil {
			return fmt.Errorf("encoding the serving key: %w", err)
		}
		secret.Data[corev1.TLSCertKey] = encodeCertificates(m.Serving.Certificate)
		secret.Data[corev1.TLSPrivateKeyKey] = key
	}
	m.annotate(secret)
	return nil
}

func (m Material) annotate(secret *corev1.Secret) {
	if m.Published.IsZero() {
		delete(secret.Annotations, AnnotationPublished)
		delete(secret.Annotations, AnnotationPublishedBundle)
		return
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	secret.Annotations[AnnotationPublished] = m.Published.UTC().Format(time.RFC3339Nano)
	secret.Annotations[AnnotationPublishedBundle] = fingerprint(m.Bundle())
}

// Bundle is the certificates of all trusted CAs: the caBundle of the consumers.
// It is nil when there are none.
func (m Material) Bundle() []byte {
	var certificates []*x509.Certificate
	for _, a := range m.Authorities {
		certificates = append(certificates, a.Certificate)
	}
	return encodeCertificates(certificates...)
}

// authorities reads the CAs in a bundle, each with its key if there is one.
func authorities(bundle, keys []byte) []Authority {
	signers := privateKeys(keys)
	var found []Authority
	for block := range blocks(bundle, cert.CertificateBlockType) {
		certificate, err := x509.ParseCertificate(block)
		if err != nil || !certificate.BasicConstraintsValid || !certificate.IsCA {
			continue
		}
		if slices.ContainsFunc(found, func(a Authority) bool { return a.Certificate.Equal(certificate) }) {
			continue
		}
		found = append(found, Authority{Certificate: certificate, Key: keyOf(certificate, signers)})
	}
	return found
}

// serving reads a certificate, the first of a chain, and its key.
func serving(chain, key []byte) *Serving {
	for block := range blocks(chain, cert.CertificateBlockType) {
		certificate, err := x509.ParseCertificate(block)
		if err != nil {
			return nil
		}
		if signer := keyOf(certificate, privateKeys(key)); signer != nil {
			return &Serving{Certificate: certificate, Key: signer}
		}
		return nil
	}
	return nil
}

func privateKeys(encoded []byte) []*ecdsa.PrivateKey {
	var found []*ecdsa.PrivateKey
	for block := range blocks(encoded, keyutil.ECPrivateKeyBlockType) {
		if key, err := x509.ParseECPrivateKey(block); err == nil {
			found = append(found, key)
		}
	}
	return found
}

func keyOf(certificate *x509.Certificate, keys []*ecdsa.PrivateKey) *ecdsa.PrivateKey {
	for _, key := range keys {
		if key.PublicKey.Equal(certificate.PublicKey) {
			return key
		}
	}
	return nil
}

// blocks yields the contents of the PEM blocks of one type.
func blocks(encoded []byte, kind string) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for {
			var block *pem.Block
			block, encoded = pem.Decode(encoded)
			if block == nil || block.Type == kind && !yield(block.Bytes) {
				return
			}
		}
	}
}

func encodeCertificates(certificates ...*x509.Certificate) []byte {
	var encoded []byte
	for _, c := range certificates {
		encoded = append(encoded, pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: c.Raw})...)
	}
	return encoded
}

func fingerprint(bundle []byte) string {
	sum := sha256.Sum256(bundle)
	return hex.EncodeToString(sum[:])
}
