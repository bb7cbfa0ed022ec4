package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// ServeHTTP handles one request. It is for the proxy's own server.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.inFlight.begin() {
		panic(http.ErrAbortHandler)
	}
	x := p.begin(r)
	defer p.end(x)
	r, release := p.bind(x, r)
	defer release()
	err := p.handle(x, w, r)
	if err == nil {
		return
	}
	x.failed(err, r.Context().Err() != nil, p.closing.Err() != nil)
	// A client must not take what came so far for the whole, nor a word of the
	// proxy for one of the API server: its connection ends as the other did.
	panic(http.ErrAbortHandler)
}

// begin notes that a request has arrived.
func (p *Proxy) begin(r *http.Request) *exchange {
	x := &exchange{request: describe(r), start: p.options.Now(), limit: p.options.MaxBody}
	x.request.Start = x.start
	x.request.User = p.identities.user(r.Header)
	x.long = longRunning(&x.request, r)
	p.options.OnRequest(summary(&x.request))
	return x
}

// end notes that it is over, and hands it to the recording.
func (p *Proxy) end(x *exchange) {
	s := summary(&x.request)
	s.Done, s.Code = true, x.request.Response.Code
	p.options.OnRequest(s)
	p.recording.add(x)
	p.inFlight.end(x)
}

// bind has what lasts until somebody ends it end with the proxy, too.
func (p *Proxy) bind(x *exchange, r *http.Request) (*http.Request, func()) {
	if !x.long {
		return r, func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	unbind := context.AfterFunc(p.closing, cancel) //nolint:contextcheck // the proxy's life, beside the request's
	return r.WithContext(ctx), func() {
		unbind()
		cancel()
	}
}

// handle passes the request on and its response back. After an error the
// client has no response, or not all of it.
func (p *Proxy) handle(x *exchange, w http.ResponseWriter, r *http.Request) error {
	if !strings.HasPrefix(r.RequestURI, "/") {
		x.request.Response.Code = http.StatusBadRequest
		http.Error(w, "the API server is reached by paths", http.StatusBadRequest)
		return nil
	}
	r, err := x.takeBody(r)
	if err != nil {
		return err
	}
	response, err := p.forward(x, r)
	if r.ContentLength != 0 && x.sent == nil {
		// The body may still be on its way: nobody shall wait for it.
		defer func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) }()
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return p.tunnel(x, w, r, response)
	}
	x.answered(response)
	if x.long {
		return stream(x, w, response)
	}
	p.inFlight.answer(x)
	return relay(x, w, response)
}

func (p *Proxy) forward(x *exchange, r *http.Request) (*http.Response, error) {
	if p.options.Intercept == nil {
		return p.upstream.RoundTrip(r)
	}
	return p.options.Intercept(summary(&x.request), r, p.upstream.RoundTrip)
}

// buffers are as long as the usual object.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyHead copies the response's head, apart from what is about a connection.
func copyHead(to, from http.Header) {
	for name, values := range from {
		if !hopByHop[name] || name == "Content-Length" {
			to[name] = values
		}
	}
}

// errClient wraps what went wrong on the client's side.
var errClient = errors.New("sending the response")

// relay passes on a response that ends by itself. One that fits into a buffer
// goes out in one piece, with its length.
func relay(x *exchange, w http.ResponseWriter, response *http.Response) error {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	n, whole, err := fill(buffer[:], response.Body)
	if err != nil {
		return err
	}
	copyHead(w.Header(), response.Header)
	if whole && n > 0 {
		w.Header()["Content-Length"] = []string{strconv.Itoa(n)}
	}
	w.WriteHeader(response.StatusCode)
	if x.keep {
		x.got = make([]byte, 0, max(n, min(int(response.ContentLength), x.limit)))
	}
	x.pass(buffer[:n])
	if n > 0 { // where no body is allowed, not even an empty one is
		if _, err := w.Write(buffer[:n]); err != nil {
			return fmt.Errorf("%w: %w", errClient, err)
		}
	}
	if whole {
		return nil
	}
	return copyBody(x, w, response.Body, buffer[:], func() error { return nil })
}

// fill reads until the buffer is full or the body ends, and reports which.
func fill(buffer []byte, from io.Reader) (n int, ended bool, err error) {
	for n < len(buffer) {
		m, err := from.Read(buffer[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

// stream passes on a response that comes in pieces over time: each goes out
// when it is there.
func stream(x *exchange, w http.ResponseWriter, response *http.Response) error {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	copyHead(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	flush := http.NewResponseController(w).Flush
	if err := flush(); err != nil {
		return fmt.Errorf("%w: %w", errClient, err)
	}
	return copyBody(x, w, response.Body, buffer[:], flush)
}

// copyBody copies the rest of a body, with a flush after each piece.
func copyBody(x *exchange, w io.Writer, from io.Reader, buffer []byte, flush func() error) error {
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			x.pass(buffer[:n])
			if _, err := w.Write(buffer[:n]); err != nil {
				return fmt.Errorf("%w: %w", errClient, err)
			}
			if err := flush(); err != nil {
				return fmt.Errorf("%w: %w", errClient, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the API server's response: %w", err)
		}
	}
}

// upgrade returns the protocol that a head asks to change to, if it does.
func upgrade(h http.Header) string {
	if !httpguts.HeaderValuesContainsToken(h["Connection"], "Upgrade") {
		return ""
	}
	return h.Get("Upgrade")
}
