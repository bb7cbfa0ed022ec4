package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// patience is how long a download waits for what.
type patience struct {
	// answer is the time to the first byte of the answer's header.
	answer time.Duration
	// stall is the time without a byte of the body.
	stall time.Duration
	// backoff is the wait before the second attempt; it doubles.
	backoff time.Duration
}

const (
	// connectDeadline includes the look-up of the name.
	connectDeadline = 3 * time.Second
	// downloadAttempts is how often a download that may succeed is tried.
	downloadAttempts = 3
	// documentLimit is the most that is read of a document of checksums.
	documentLimit = 4 << 20
)

// transfer gets files by HTTP.
type transfer struct {
	client   *http.Client
	hosts    *hostMemory
	patience patience
}

func newTransfer(client *http.Client, hosts *hostMemory) *transfer {
	if client == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = (&net.Dialer{Timeout: connectDeadline, KeepAlive: 30 * time.Second}).DialContext
		t.TLSHandshakeTimeout = connectDeadline
		client = &http.Client{Transport: t}
	}
	return &transfer{
		client:   client,
		hosts:    hosts,
		patience: patience{answer: 10 * time.Second, stall: 15 * time.Second, backoff: 500 * time.Millisecond},
	}
}

// statusError is an answer other than 200.
type statusError struct {
	url  string
	code int
}

func (e *statusError) Error() string {
	if e.code == http.StatusNotFound {
		return fmt.Sprintf("%s is not published (404)", e.url)
	}
	return fmt.Sprintf("%s answers %d %s", e.url, e.code, http.StatusText(e.code))
}

// document gets a small file.
func (t *transfer) document(ctx context.Context, address string) ([]byte, error) {
	var content []byte
	err := t.get(ctx, address, func(_ int64, body io.Reader) error {
		var err error
		content, err = io.ReadAll(io.LimitReader(body, documentLimit))
		return err
	})
	return content, err
}

// file gets a file and returns its SHA-256 in hex. The meter is told its size
// and what arrives.
func (t *transfer) file(ctx context.Context, address, path string, m *meter) (sum string, err error) {
	err = t.get(ctx, address, func(size int64, body io.Reader) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		counted := &countingReader{reader: body, meter: m}
		m.expect(max(size, 0))
		if _, err := io.Copy(io.MultiWriter(f, h), counted); err != nil {
			// The next attempt counts them anew.
			m.expect(-max(size, 0))
			m.count(-counted.n)
			return err
		}
		sum = hex.EncodeToString(h.Sum(nil))
		return f.Close()
	})
	return sum, err
}

type countingReader struct {
	reader io.Reader
	meter  *meter
	n      int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p)
	r.n += int64(n)
	r.meter.count(int64(n))
	return n, err
}

// get reads what a URL has. It tries again when the server is at fault or the
// body ends early.
func (t *transfer) get(ctx context.Context, address string, read func(size int64, body io.Reader) error) error {
	wait := t.patience.backoff
	for attempt := 1; ; attempt++ {
		err := t.once(ctx, address, read)
		if err == nil || attempt == downloadAttempts || !passing(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ended(ctx)
		case <-time.After(wait):
			wait *= 2
		}
	}
}

// passing says whether an error may go away by itself.
func passing(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.code >= http.StatusInternalServerError || status.code == http.StatusTooManyRequests
	}
	_, body := errors.AsType[*bodyError](err)
	return body
}

// bodyError is a body that did not arrive whole.
type bodyError struct {
	url string
	err error
}

func (e *bodyError) Error() string { return fmt.Sprintf("reading %s: %v", e.url, e.err) }

func (e *bodyError) Unwrap() error { return e.err }

func (t *transfer) once(ctx context.Context, address string, read func(size int64, body io.Reader) error) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("downloading: %w", err)
	}
	if err := t.hosts.check(u.Host); err != nil {
		return err
	}
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(t.patience.answer, func() { cancel(fmt.Errorf("no answer within %s", t.patience.answer)) })
	defer silent.Stop()
	request, err := http.NewRequestWithContext(watched, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("downloading: %w", err)
	}
	response, err := t.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("downloading from %s: %w", u.Host, ended(ctx))
		}
		return t.hosts.remember(u.Host, plainTransport(watched, err))
	}
	defer response.Body.Close()
	silent.Stop()
	t.hosts.forget(u.Host)
	if response.StatusCode != http.StatusOK {
		return &statusError{url: address, code: response.StatusCode}
	}
	body := &stallReader{reader: response.Body, patience: t.patience.stall, cancel: cancel}
	if err := read(response.ContentLength, body); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("downloading %s: %w", address, ended(ctx))
		}
		return &bodyError{url: address, err: plainTransport(watched, err)}
	}
	return nil
}

// plainTransport says why there was no answer: what ended the request, where
// something did, and without the URL, which the caller names.
func plainTransport(watched context.Context, err error) error {
	if cause := context.Cause(watched); cause != nil {
		return cause
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return transport.Err
	}
	return err
}

// stallReader ends a body that sends nothing for too long. A slow one is fine.
type stallReader struct {
	reader   io.Reader
	patience time.Duration
	cancel   context.CancelCauseFunc
}

func (r *stallReader) Read(p []byte) (int, error) {
	stalled := time.AfterFunc(r.patience, func() { r.cancel(fmt.Errorf("no data for %s", r.patience)) })
	defer stalled.Stop()
	return r.reader.Read(p)
}
