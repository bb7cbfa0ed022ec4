//go:build envtest

package envtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// call is one request of the operator.
type call struct {
	method string
	path   string
	status int
	body   string
}

func (c call) writes() bool { return c.method != http.MethodGet }

// about is the call as "PATCH statefulsets/demo" or "PATCH redisclusters/demo/status".
func (c call) about() string {
	_, resource, found := strings.Cut(c.path, "/namespaces/")
	if !found {
		return c.method + " " + c.path
	}
	_, resource, _ = strings.Cut(resource, "/")
	return c.method + " " + resource
}

// wire is the operator's line to the API server. It keeps every request, and
// can fail a write or come between.
type wire struct {
	mu    sync.Mutex
	calls []call
	// refuse answers a write in the API server's place, if it returns a
	// status.
	refuse func(n int, c call) *metav1.Status
	// lose lets a write through and drops the answer, if it returns true.
	lose func(n int, c call) bool
	// before is called before a write is sent.
	before func(n int, c call)
	// lag is how late the news of watches arrive.
	lag    time.Duration
	writes int
}

// attach makes clients of the configuration use the wire.
func (w *wire) attach(config *rest.Config) *rest.Config {
	wired := rest.CopyConfig(config)
	wired.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return w.roundTrip(next, r) })
	})
	return wired
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (w *wire) roundTrip(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	c := call{method: r.Method, path: r.URL.Path}
	if c.writes() && r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		c.body = string(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	n := w.count(c)
	if answer := w.inPlace(n, c, r); answer != nil {
		w.keep(c, answer.StatusCode)
		return answer, nil
	}
	answer, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	w.keep(c, answer.StatusCode)
	if c.writes() && w.lose != nil && w.lose(n, c) {
		return nil, closed(answer.Body)
	}
	if w.lag > 0 && r.URL.Query().Has("watch") {
		answer.Body = late{answer.Body, w.lag}
	}
	return answer, nil
}

// late is a body that is read some time after it has come in.
type late struct {
	io.ReadCloser
	by time.Duration
}

func (l late) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	<-time.After(l.by)
	return n, err
}

func closed(body io.Closer) error {
	if err := body.Close(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

func (w *wire) count(c call) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.writes() {
		w.writes++
	}
	return w.writes
}

// inPlace runs the hooks of a write, and returns an answer if one gave it.
func (w *wire) inPlace(n int, c call, r *http.Request) *http.Response {
	if !c.writes() {
		return nil
	}
	if w.before != nil {
		w.before(n, c)
	}
	if w.refuse == nil {
		return nil
	}
	refusal := w.refuse(n, c)
	if refusal == nil {
		return nil
	}
	refusal.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	refusal.Status = metav1.StatusFailure
	body, err := json.Marshal(refusal)
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: int(refusal.Code),
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
		Request:    r,
	}
}

func (w *wire) keep(c call, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.status = status
	w.calls = append(w.calls, c)
}

// sent returns the writes so far, as call.about says them.
func (w *wire) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var writes []string
	for _, c := range w.calls {
		if c.writes() {
			writes = append(writes, c.about())
		}
	}
	return writes
}

// answered returns the calls that were answered with the HTTP status.
func (w *wire) answered(status int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []string
	for _, c := range w.calls {
		if c.status == status {
			found = append(found, c.about())
		}
	}
	return found
}

// forget starts counting anew.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls, w.writes = slices.Clip(w.calls[:0:0]), 0
}
