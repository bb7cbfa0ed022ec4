package certificate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// errNone is what handshakes and readiness checks get before there is a
// certificate.
var errNone = errors.New("there is no serving certificate yet")

// held is the certificate that a replica serves with. It can be replaced at
// any time.
type held struct {
	clock  clock.PassiveClock
	loaded atomic.Pointer[tls.Certificate]
}

// GetCertificate is for tls.Config. Before there is a certificate it refuses
// the handshake.
func (h *held) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := h.loaded.Load(); c != nil {
		return c, nil
	}
	return nil, errNone
}

// Ready is a check for /readyz: it reports an error unless a certificate is
// loaded that is valid now.
func (h *held) Ready(*http.Request) error { return ready(h.loaded.Load(), h.clock.Now()) }

// NotAfter returns when the loaded certificate ends, or the zero time if there
// is none.
func (h *held) NotAfter() time.Time { return notAfter(h.loaded.Load()) }

func ready(c *tls.Certificate, now time.Time) error {
	if c == nil {
		return errNone
	}
	if !validAt(c.Leaf, now) {
		return fmt.Errorf("the serving certificate is valid from %s to %s only",
			c.Leaf.NotBefore.Format(time.RFC3339), c.Leaf.NotAfter.Format(time.RFC3339))
	}
	return nil
}

func notAfter(c *tls.Certificate) time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.Leaf.NotAfter
}
