package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/keyutil"
)

// lifetime of certificates; clusters live for less.
const lifetime = 7 * 24 * time.Hour

// pki signs the certificates of one cluster. Keys are ECDSA: making one takes
// a tenth of a millisecond, an RSA key a hundred of them.
type pki struct {
	dir  string
	ca   *x509.Certificate
	key  *ecdsa.PrivateKey
	caPE []byte
}

// The files that newPKI leaves in its directory.
const (
	caFile         = "ca.crt"
	servingCert    = "apiserver.crt"
	servingKey     = "apiserver.key"
	accountKeyFile = "sa.key"
)

// newPKI makes a certificate authority, the API server's certificate and the
// key that signs ServiceAccount tokens, and writes them to dir.
func newPKI(dir string) (*pki, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making certificates: %w", err)
	}
	p := &pki{dir: dir, key: key}
	template := certificate("seatrial", nil)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making certificates: %w", err)
	}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("making certificates: %w", err)
	}
	p.caPE = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return p, p.writeServerFiles()
}

func (p *pki) writeServerFiles() error {
	serving := certificate("kube-apiserver", nil)
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), firstServiceIP}
	serving.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	cert, key, err := p.sign(serving)
	if err != nil {
		return err
	}
	account, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("making certificates: %w", err)
	}
	for name, content := range map[string][]byte{
		caFile: p.caPE, servingCert: cert, servingKey: key, accountKeyFile: account,
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), content, 0o600); err != nil {
			return fmt.Errorf("writing certificates: %w", err)
		}
	}
	return nil
}

// client returns a certificate and key, as PEM, for a user of these groups.
func (p *pki) client(user string, groups ...string) (cert, key []byte, err error) {
	template := certificate(user, groups)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return p.sign(template)
}

func (p *pki) sign(template *x509.Certificate) (cert, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making certificates: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.ca, key.Public(), p.key)
	if err != nil {
		return nil, nil, fmt.Errorf("making certificates: %w", err)
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, nil, fmt.Errorf("making certificates: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM, nil
}

func certificate(name string, groups []string) *x509.Certificate {
	now := time.Now()
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // crypto/rand does not fail
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: groups},
		// A clock that was set back a little must not make it invalid.
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}
