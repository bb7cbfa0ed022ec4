package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// dialWithin is how long connecting to the API server may take.
	dialWithin = 10 * time.Second
	// idleFor is how long a connection is kept for the next request. An API
	// server closes idle ones after 90 s (k8s.io/apiserver, secure_serving.go):
	// a third of that, and no request runs into the closing.
	idleFor = 30 * time.Second
)

// upstream is the way to the API server: a stack of HTTP/1.1 connections. The
// goroutine of a request writes and reads its connection itself.
type upstream struct {
	address string // to dial
	host    string // the Host header
	prefix  string // of every path, without a slash at its end
	tls     *tls.Config
	now     func() time.Time

	mu     sync.Mutex
	idle   []*connection
	closed bool
}

// newUpstream takes from the configuration where the API server is and how to
// trust it, nothing else.
func newUpstream(config *rest.Config, now func() time.Time) (*upstream, error) {
	anonymous := rest.AnonymousClientConfig(config)
	base, _, err := rest.DefaultServerUrlFor(anonymous)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address %q: %w", config.Host, err)
	}
	u := &upstream{
		address: base.Host, host: base.Host, prefix: strings.TrimSuffix(base.EscapedPath(), "/"), now: now,
	}
	if base.Port() == "" {
		u.address = net.JoinHostPort(base.Hostname(), map[string]string{"https": "443", "http": "80"}[base.Scheme])
	}
	if base.Scheme == "http" {
		return u, nil
	}
	u.tls, err = tlsConfig(anonymous, base)
	return u, err
}

func tlsConfig(config *rest.Config, base *url.URL) (*tls.Config, error) {
	c, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading how to trust the API server: %w", err)
	}
	if c == nil { // no authority of its own: the system's are good
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.ServerName == "" {
		c.ServerName = base.Hostname()
	}
	c.NextProtos = []string{"http/1.1"}
	c.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	return c, nil
}

// RoundTrip sends a request of a client and returns the response once its head
// is there. The body is to be closed. It implements http.RoundTripper, except
// that it takes requests as servers get them.
func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		c, err := u.connect(r)
		if err != nil {
			return nil, err
		}
		response, err := c.exchange(r)
		if err == nil {
			return response, nil
		}
		// The API server may have closed the connection while it was idle.
		// What asks for nothing but an answer can ask again; the next
		// connection may be a stale one as well, until there is a new one.
		if c.fresh || !errors.Is(err, errNoAnswer) || !repeatable(r) || r.Context().Err() != nil {
			return nil, err
		}
	}
}

// repeatable reports whether sending a request twice does no harm.
func repeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.ContentLength == 0
	}
	return false
}

// connect returns a connection that is bound to the request's context: when
// that ends, so does the connection.
func (u *upstream) connect(r *http.Request) (*connection, error) {
	c := u.reuse(repeatable(r))
	if c == nil {
		var err error
		if c, err = u.dial(r.Context()); err != nil {
			return nil, err
		}
	}
	c.unbind = context.AfterFunc(r.Context(), c.abort)
	return c, nil
}

// reuse returns the connection that was used last, so that the surplus gets
// old, or nil. Where a request cannot be repeated, it first looks whether the
// API server has closed the connection meanwhile.
func (u *upstream) reuse(repeatable bool) *connection {
	u.mu.Lock()
	defer u.mu.Unlock()
	oldest := u.now().Add(-idleFor)
	for len(u.idle) > 0 {
		c := u.idle[len(u.idle)-1]
		u.idle = u.idle[:len(u.idle)-1]
		if c.since.Before(oldest) {
			c.abort()
			continue
		}
		if !repeatable && closedByPeer(c.raw) {
			c.abort()
			continue
		}
		c.fresh = false
		return c
	}
	return nil
}

func (u *upstream) dial(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.address)
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	c := &connection{upstream: u, raw: raw, stream: raw, fresh: true}
	if u.tls != nil {
		secured := tls.Client(raw, u.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, fmt.Errorf("connecting to the API server: %w", err)
		}
		c.stream = secured
	}
	c.in = bufio.NewReaderSize(c.stream, connectionBuffer)
	c.out = bufio.NewWriterSize(c.stream, connectionBuffer)
	return c, nil
}

// keep takes a connection back for the next request, and closes those at the
// bottom of the stack that a burst of requests has left there.
func (u *upstream) keep(c *connection) {
	c.since = u.now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		c.abort()
		return
	}
	u.idle = append(u.idle, c)
	for oldest := c.since.Add(-idleFor); u.idle[0].since.Before(oldest); u.idle = u.idle[1:] {
		u.idle[0].abort()
	}
}

// close closes the idle connections, and the others when they get idle.
func (u *upstream) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for _, c := range u.idle {
		c.abort()
	}
	u.idle = nil
}
