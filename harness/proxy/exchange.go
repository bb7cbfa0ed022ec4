package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy/payload"
)

// exchange is a request and its response as they pass. It belongs to the
// request's goroutine until it is handed to the recording.
type exchange struct {
	request history.Request
	long    bool
	start   time.Time
	ended   time.Time

	// sent and got are the bodies on the wire, nil where they are not kept.
	sent, got []byte
	// encodings and type of what is in them.
	sentEncoding, gotType, gotEncoding string
	keep                               bool
	limit                              int
	counter                            *payload.Counter
	stream                             payload.Stream
}

// weight is how much memory the exchange holds.
func (x *exchange) weight() int { return len(x.sent) + len(x.got) }

// errLongBody is noted where a body is not recorded for its length.
func errLongBody(limit int) string { return fmt.Sprintf("longer than %d bytes: not kept", limit) }

// noteStreamed is noted where a body is not the API's to understand.
const noteStreamed = "passed on as it came: not kept"

// takeBody reads the request's body, so that the request can be held and
// recorded. What is too long, or may never end, is left to pass as it comes.
// It returns the request to forward: the server relies on its own.
func (x *exchange) takeBody(r *http.Request) (*http.Request, error) {
	if r.ContentLength == 0 {
		return r, nil
	}
	if x.long {
		x.request.BodyError = noteStreamed
		return r, nil
	}
	var b bytes.Buffer
	if r.ContentLength > 0 && r.ContentLength <= int64(x.limit) {
		b.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(r.Body, int64(x.limit)+1))
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	forwarded := r.WithContext(r.Context())
	if n > int64(x.limit) {
		x.request.BodyError = errLongBody(x.limit)
		forwarded.Body = readCloser{io.MultiReader(&b, r.Body), r.Body}
		return forwarded, nil
	}
	x.sent, x.sentEncoding = b.Bytes(), r.Header.Get("Content-Encoding")
	forwarded.Body, forwarded.ContentLength = whole{bytes.NewReader(x.sent)}, n
	return forwarded, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// answered notes the head of a response, and decides what of its body is kept.
func (x *exchange) answered(r *http.Response) {
	response := &x.request.Response
	response.Code = r.StatusCode
	if w := r.Header["Warning"]; len(w) > 0 {
		warnings, _ := utilnet.ParseWarningHeaders(w) // those that are none are passed over
		for _, warning := range warnings {
			response.Warnings = append(response.Warnings, warning.Text)
		}
	}
	x.gotType, x.gotEncoding = r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding")
	if !response.OK() {
		x.keep = true // why it failed
		return
	}
	switch x.request.Verb {
	case history.VerbWatch:
		x.count(payload.Events)
	case history.VerbList, history.VerbDeleteCollection:
		x.count(payload.Items)
	case history.VerbOther: // documents about the API
	default:
		x.keep = !connects(x.request.Subresource) && x.request.Subresource != "log"
	}
}

func (x *exchange) count(s payload.Stream) {
	x.stream = s
	x.counter = payload.NewCounter(s, x.gotType, x.gotEncoding)
	if x.counter == nil {
		x.request.Response.ObjectError = fmt.Sprintf("not counted: content type %q, encoding %q", x.gotType, x.gotEncoding)
	}
}

// pass notes a piece of the response's body.
func (x *exchange) pass(piece []byte) {
	x.request.Response.BodyBytes += int64(len(piece))
	switch {
	case x.counter != nil:
		_, _ = x.counter.Write(piece) // never fails
	case !x.keep:
	case len(x.got)+len(piece) > x.limit:
		x.keep, x.got = false, nil
		x.request.Response.ObjectError = errLongBody(x.limit)
	default:
		x.got = append(x.got, piece...)
	}
}

// The reasons why a request ended that are not the API server's.
const (
	endedByClose  = "the proxy was closed"
	endedUnheard  = "the client went away before the response"
	endedByClient = "the client went away during the response"
)

// failed notes why a request ended without a response, or a response without
// its end: because of an error, because its context had ended, or because the
// proxy is closing.
func (x *exchange) failed(err error, gone, closing bool) {
	response := &x.request.Response
	gone = gone || errors.Is(err, errClient)
	switch {
	case closing:
		response.Error = endedByClose
	case gone && response.Code == 0:
		response.Error = endedUnheard
	case gone && x.long:
		// How a client ends a watch.
	case gone:
		response.Error = endedByClient
	default:
		response.Error = err.Error()
	}
}
