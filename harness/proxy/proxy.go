package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy/payload"
	"github.com/seatrial/seatrial/harness/redact"
)

// Options are what a proxy needs.
type Options struct {
	// Upstream is the API server: its address and how to trust it. Credentials
	// in it are not used.
	Upstream *rest.Config
	// Recorder is handed every request that has ended.
	Recorder history.Recorder
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// OnRequest is called when a request begins and when it has ended, from
	// any goroutine. The request waits for it.
	OnRequest func(Summary)
	// Intercept decides what becomes of a request. Default: it is forwarded.
	Intercept Interceptor
	// Redactor makes symbols of confidential values. Default: one of its own,
	// whose symbols compare with no other's.
	Redactor *redact.Redactor
	// MaxBody is how many bytes of one body, as sent, are recorded. A longer
	// body passes all the same. Default 4 MiB, more than an API server accepts.
	MaxBody int
	// PreferHTTP2 gives HTTP/2 to clients that offer HTTP/1.1 too.
	PreferHTTP2 bool
}

// Forward sends a request to the API server and returns its response, whose
// body is to be closed. The body of a response that switched protocols is an
// io.ReadWriteCloser.
type Forward func(*http.Request) (*http.Response, error)

// Interceptor decides what becomes of one request, knowing what is known
// before anything is decoded. It passes the request on by calling forward with
// it, holds it by waiting before or after, answers in place of the API server
// by returning a response of its own, with a body, and loses it by returning an
// error: the client's connection, or its stream of it, is then reset. It may read the
// body, which it then has to replace, and may wrap the response's body, in
// which the events of a watch arrive. It runs in the request's own goroutine
// and must return when the request's context ends.
type Interceptor func(s Summary, r *http.Request, forward Forward) (*http.Response, error)

const (
	defaultMaxBody = 4 << 20
	// headWithin is how long a client may take to send a request's head.
	headWithin = time.Minute
)

// Proxy is a running proxy.
type Proxy struct {
	options    Options
	authority  []byte
	address    string
	server     *http.Server
	upstream   *upstream
	identities *identities
	inFlight   *inFlight
	recording  *recording
	// closing ends with Close: what lasts until somebody ends it ends then.
	closing context.Context //nolint:containedctx // the life of the proxy, not of a call
	close   context.CancelFunc
	once    sync.Once
	closed  error
}

// Start starts a proxy on a free port of the loopback. ctx bounds the start;
// Close ends the proxy.
func Start(ctx context.Context, options Options) (*Proxy, error) {
	options = withDefaults(options)
	up, err := newUpstream(options.Upstream, options.Now)
	if err != nil {
		return nil, err
	}
	decoder, err := payload.NewDecoder()
	if err != nil {
		return nil, err
	}
	// Clients judge certificates by the time of the day, whatever Now says.
	certificate, authority, err := newCertificate(time.Now())
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the subject: %w", err)
	}
	p := &Proxy{
		options: options, authority: authority, address: listener.Addr().String(), upstream: up,
		identities: newIdentities(), inFlight: newInFlight(),
		recording: newRecording(options, decoder),
	}
	p.closing, p.close = context.WithCancel(context.WithoutCancel(ctx))
	p.server = &http.Server{
		Handler:           p,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}, NextProtos: protocols(options)},
		ReadHeaderTimeout: headWithin,
		// What a client does wrong on its connection is answered there.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go p.server.ServeTLS(listener, "", "") //nolint:errcheck // it ends with Close, and there is no other way
	return p, nil
}

func withDefaults(o Options) Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnRequest == nil {
		o.OnRequest = func(Summary) {}
	}
	if o.Redactor == nil {
		o.Redactor = redact.New()
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	return o
}

// protocols returns what is offered to clients, the preferred one first.
func protocols(o Options) []string {
	p := []string{"http/1.1", "h2"}
	if o.PreferHTTP2 {
		slices.Reverse(p)
	}
	return p
}

// URL returns where the proxy listens: "https://127.0.0.1:port".
func (p *Proxy) URL() string { return "https://" + p.address }

// CA returns, in PEM, the authority that clients must trust.
func (p *Proxy) CA() []byte { return slices.Clone(p.authority) }

// Flush waits until every request whose response has ended is recorded. What a
// client saw end before the call is in the history after it. Requests that
// were not answered yet, watches and upgrades are not waited for.
func (p *Proxy) Flush(ctx context.Context) error {
	if err := p.inFlight.waitAnswering(ctx); err != nil {
		return fmt.Errorf("waiting for responses to end: %w", err)
	}
	if err := p.recording.flush(ctx); err != nil {
		return fmt.Errorf("waiting for requests to be recorded: %w", err)
	}
	return nil
}

// Close ends watches and upgrades, lets other requests end, takes no new ones,
// and returns when everything is recorded. When ctx ends first it cuts what is
// still there, and says so. Calling it again does nothing.
func (p *Proxy) Close(ctx context.Context) error {
	p.once.Do(func() { p.closed = p.shutdown(ctx) })
	return p.closed
}

func (p *Proxy) shutdown(ctx context.Context) error {
	ended := p.inFlight.close()
	p.close()
	err := await(ctx, ended)
	if err != nil {
		err = fmt.Errorf("waiting for requests of the subject to end: %w", err)
	} else {
		p.bidFarewell(ctx)
	}
	err = errors.Join(err, p.server.Close())
	<-ended // the connections are cut: this needs no deadline
	p.recording.close()
	p.upstream.close()
	return err
}

// farewell is how long the last responses may take to be written out. Idle
// connections of HTTP/2 would linger for a second.
const farewell = 200 * time.Millisecond

// bidFarewell ends the connections whose requests have ended.
func (p *Proxy) bidFarewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	_ = p.server.Shutdown(ctx) // what it does not end is cut
}
