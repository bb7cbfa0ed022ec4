package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"
)

// backdate is how long before its making a certificate is valid from. It is
// the difference between clocks that does no harm.
const backdate = time.Hour

// Names returns the DNS names under which a Service is called. The third is
// the one that the API server verifies.
func Names(service, namespace string) []string {
	return []string{
		service,
		service + "." + namespace,
		service + "." + namespace + ".svc",
		service + "." + namespace + ".svc.cluster.local",
	}
}

// newAuthority makes a CA. Its name carries the time, so that people can tell
// CAs apart.
func newAuthority(now time.Time, life time.Duration) (Authority, error) {
	made := roundUp(now)
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "webhook CA " + made.Format("20060102T150405Z")},
		NotBefore:             made.Add(-backdate),
		NotAfter:              made.Add(life),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	certificate, key, err := sign(template, nil)
	if err != nil {
		return Authority{}, fmt.Errorf("making a CA: %w", err)
	}
	return Authority{Certificate: certificate, Key: key}, nil
}

// newServing makes a serving certificate. It ends no later than its CA.
func newServing(now time.Time, life time.Duration, names []string, ca Authority) (*Serving, error) {
	made := roundUp(now)
	end := made.Add(life)
	if end.After(ca.Certificate.NotAfter) {
		end = ca.Certificate.NotAfter
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: names[0]},
		DNSNames:              names,
		NotBefore:             made.Add(-backdate),
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	certificate, key, err := sign(template, &ca)
	if err != nil {
		return nil, fmt.Errorf("making a serving certificate: %w", err)
	}
	return &Serving{Certificate: certificate, Key: key}, nil
}

// sign makes a key, and a certificate for it that ca signs; nil means that it
// signs itself.
func sign(template *x509.Certificate, ca *Authority) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.Certificate, ca.Key
	}
	// The serial number is made up by CreateCertificate.
	encoded, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: %w", err)
	}
	certificate, err := x509.ParseCertificate(encoded)
	if err != nil {
		return nil, nil, fmt.Errorf("reading what was signed: %w", err)
	}
	return certificate, key, nil
}

// roundUp returns the next full second: certificates know no smaller units,
// and a delay that is counted from one must not end too early.
func roundUp(t time.Time) time.Time {
	rounded := t.UTC().Truncate(time.Second)
	if rounded.Before(t) {
		return rounded.Add(time.Second)
	}
	return rounded
}

// madeAt is when this package made a certificate.
func madeAt(c *x509.Certificate) time.Time { return c.NotBefore.Add(backdate) }

// renewAt is when two thirds of a certificate's life are over.
func renewAt(c *x509.Certificate) time.Time {
	made := madeAt(c)
	return made.Add(c.NotAfter.Sub(made) / 3 * 2)
}

// validAt reports whether a certificate is valid at a time, both ends included
// as X.509 has it.
func validAt(c *x509.Certificate, now time.Time) bool {
	return !now.Before(c.NotBefore) && !now.After(c.NotAfter)
}
