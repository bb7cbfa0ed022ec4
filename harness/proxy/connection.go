package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"
)

// connectionBuffer holds the usual object with its head.
const connectionBuffer = 16 << 10

// lastWords is how long to wait for the answer to a request that the API
// server did not want to hear to its end.
const lastWords = time.Second

// errNoAnswer: a connection ended before the first byte of a response.
var errNoAnswer = errors.New("the API server closed the connection without an answer")

// connection is one connection to the API server. It serves one request at a
// time.
type connection struct {
	upstream *upstream
	raw      net.Conn // TCP
	stream   net.Conn // what is spoken on: TLS or raw
	in       *bufio.Reader
	out      *bufio.Writer
	// fresh: nothing was answered on it yet. since is when it got idle.
	fresh bool
	since time.Time
	// streaming: a request's body is, or was, sent as it comes. The connection
	// is not used again, for the body may outlast the response.
	streaming bool
	// unbind releases the connection from a request's context. It returns
	// false when that has ended, and the connection with it.
	unbind func() bool
}

// abort closes the connection at once, without the farewell of TLS.
func (c *connection) abort() { _ = c.raw.Close() } // nobody is left to tell

// fail ends the connection after an error.
func (c *connection) fail(err error) error {
	c.unbind()
	c.abort()
	return err
}

// whole is a request body that is at hand.
type whole struct{ *bytes.Reader }

// Close implements io.Closer.
func (whole) Close() error { return nil }

// exchange sends the request and reads the response's head.
func (c *connection) exchange(r *http.Request) (*http.Response, error) {
	if err := c.send(r); err != nil {
		return c.refused(r, err)
	}
	response, err := c.head(r)
	if err != nil {
		return nil, c.fail(err)
	}
	return response, nil
}

// refused returns the answer to a request that could not be sent to its end,
// such as 413 to a body that is too large.
func (c *connection) refused(r *http.Request, cause error) (*http.Response, error) {
	_ = c.raw.SetReadDeadline(time.Now().Add(lastWords)) // fails only when closed, as the read then does
	response, err := c.head(r)
	if err != nil {
		return nil, c.fail(fmt.Errorf("%w: %w", errNoAnswer, cause))
	}
	response.Close = true
	return response, nil
}

// head reads the response's head and prepares its body. Interim responses
// (1xx) are passed over.
func (c *connection) head(r *http.Request) (*http.Response, error) {
	if _, err := c.in.Peek(1); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	for {
		response, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, fmt.Errorf("reading the API server's response: %w", err)
		}
		switch {
		case response.StatusCode == http.StatusSwitchingProtocols:
			response.Body = &pipe{c}
		case response.StatusCode >= http.StatusOK:
			response.Body = &body{Reader: response.Body, connection: c, reusable: !response.Close}
		default:
			continue
		}
		return response, nil
	}
}

// send writes the request. A body that is not at hand is sent while the
// response is awaited.
func (c *connection) send(r *http.Request) error {
	c.sendHead(r)
	content, atHand := r.Body.(whole)
	if atHand {
		if _, err := content.WriteTo(c.out); err != nil {
			return err
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	if !atHand && r.ContentLength != 0 {
		c.streaming = true
		go c.sendBody(r)
	}
	return nil
}

// hopByHop are headers about a connection (RFC 9110, 7.6.1) or about framing,
// which each side does its own way.
var hopByHop = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Content-Length": true, "Expect": true, "Host": true,
}

// sendHead writes the head into the buffer. Errors show when it is flushed.
func (c *connection) sendHead(r *http.Request) {
	w := c.out
	put := func(parts ...string) {
		for _, p := range parts {
			_, _ = w.WriteString(p)
		}
	}
	put(r.Method, " ", c.upstream.prefix, r.RequestURI, " HTTP/1.1\r\nHost: ", c.upstream.host, "\r\n")
	_ = r.Header.WriteSubset(w, hopByHop)
	if protocol := upgrade(r.Header); protocol != "" {
		put("Connection: Upgrade\r\nUpgrade: ", protocol, "\r\n")
	}
	switch {
	case r.ContentLength > 0:
		put("Content-Length: ", strconv.FormatInt(r.ContentLength, 10), "\r\n")
	case r.ContentLength < 0:
		put("Transfer-Encoding: chunked\r\n")
	case r.Method == http.MethodPost, r.Method == http.MethodPut, r.Method == http.MethodPatch:
		put("Content-Length: 0\r\n")
	}
	put("\r\n")
}

// sendBody sends a body as it comes. It ends when the client's body does,
// which is at the latest when the request's handler returns. When the API
// server does not want it all, its response says why; when the client does not
// send it all, the request must not look complete.
func (c *connection) sendBody(r *http.Request) {
	from := &noting{Reader: r.Body}
	if r.ContentLength > 0 {
		_, _ = io.Copy(c.stream, from)
	} else {
		chunked := httputil.NewChunkedWriter(c.stream)
		if _, err := io.Copy(chunked, from); err == nil && chunked.Close() == nil {
			_, _ = io.WriteString(c.stream, "\r\n") // the end of the trailers, of which there are none
		}
	}
	if from.err != nil {
		c.abort()
	}
}

// noting is a reader that remembers what went wrong.
type noting struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (n *noting) Read(b []byte) (int, error) {
	read, err := n.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return read, err
}

// body is a response's body. Closing it gives the connection back if it can
// serve another request, and closes it if not.
type body struct {
	io.Reader
	connection *connection
	reusable   bool
	ended      bool
	closed     bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// Close implements io.Closer. It never fails.
func (b *body) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	c := b.connection
	alive := c.unbind()
	if alive && b.reusable && b.ended && !c.streaming && c.in.Buffered() == 0 {
		c.upstream.keep(c)
	} else {
		c.abort()
	}
	return nil
}

// pipe is the body of a response that switched protocols: what the connection
// has become.
type pipe struct{ connection *connection }

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (int, error) { return p.connection.in.Read(b) }

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) { return p.connection.stream.Write(b) }

// Close implements io.Closer. It never fails.
func (p *pipe) Close() error {
	p.connection.unbind()
	p.connection.abort()
	return nil
}
