package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history"
)

const watchPath = configMaps + "?watch=true&allowWatchBookmarks=true"

// watched is an API server whose watch sends what a test tells it to, until it
// is told to stop.
func watched(events <-chan string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		flush := http.NewResponseController(w).Flush
		for flush() == nil {
			select {
			case event, more := <-events:
				if !more {
					return
				}
				_, _ = io.WriteString(w, event)
			case <-r.Context().Done():
				return
			}
		}
	}
}

// watch opens a watch, with a reader of its lines.
func (b *bench) watch(t *testing.T, http2 bool) (*http.Response, *bufio.Reader, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL()+watchPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := b.client(t, http2).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response, bufio.NewReader(response.Body), cancel
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	got, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAWatchIsPassedOnEventByEvent(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			events := make(chan string)
			b := start(t, watched(events))
			// The head is there before any event is; each event is there before
			// the next one is sent: else this ends at its deadline.
			_, lines, _ := b.watch(t, http2)
			total := 0
			for _, kind := range []string{"ADDED", "BOOKMARK", "MODIFIED"} {
				event := fmt.Sprintf(`{"type":%q,"object":{}}`+"\n", kind)
				total += len(event)
				events <- event
				if got := line(t, lines); got != event {
					t.Errorf("got %s, want %s", got, event)
				}
			}
			close(events)
			if _, err := lines.ReadByte(); err != io.EOF {
				t.Errorf("the watch ended with %v", err)
			}
			want := history.Response{Code: 200, Events: 2, BodyBytes: int64(total)}
			if diff := cmp.Diff(want, b.ended(t).Response); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// ended closes the proxy, which waits for everything, and returns the one
// request that was made.
func (b *bench) ended(t *testing.T) *history.Request {
	t.Helper()
	b.close(t)
	return b.request(t)
}

func TestAWatchThatItsClientEndsIsRecordedWithoutAnError(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			option, over := untilOver()
			b := start(t, func(w http.ResponseWriter, r *http.Request) {
				watched(nil)(w, r)
				close(gone)
			}, option)
			_, _, cancel := b.watch(t, http2)
			cancel()
			<-gone // the API server is told
			<-over
			if diff := cmp.Diff(history.Response{Code: 200}, b.ended(t).Response); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAWatchThatTheServerCutsIsCut(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			cut := make(chan struct{})
			b := start(t, func(w http.ResponseWriter, _ *http.Request) {
				_ = http.NewResponseController(w).Flush()
				<-cut
				panic(http.ErrAbortHandler)
			})
			_, lines, _ := b.watch(t, http2)
			close(cut)
			if _, err := lines.ReadByte(); err == nil || err == io.EOF {
				t.Errorf("the client got %v, want an error that is no clean end", err)
			}
			if r := b.ended(t).Response; r.Code != 200 || !strings.Contains(r.Error, "reading the API server's response") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestCloseEndsAndRecordsWatches(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			b := start(t, watched(nil))
			_, lines, _ := b.watch(t, http2)
			if r := b.ended(t).Response; r.Code != 200 || r.Error != "the proxy was closed" {
				t.Errorf("got %+v", r)
			}
			if _, err := lines.ReadByte(); err == nil {
				t.Error("the client's watch goes on")
			}
			b.close(t) // does nothing
		})
	}
}

func TestCloseCutsWhatDoesNotEnd(t *testing.T) {
	arrived := make(chan struct{})
	b := start(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	answered := make(chan error)
	go func() {
		_, err := b.client(t, false).Post(b.URL()+configMaps, "application/json", strings.NewReader(`{}`)) //nolint:bodyclose // there is none
		answered <- err
	}()
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Close(ctx); err == nil {
		t.Error("Close did not say that it cut a request")
	}
	if err := <-answered; err == nil {
		t.Error("the client got an answer")
	}
	entries := b.log.History().Entries
	if len(entries) != 1 || entries[0].Request.Response.Error != "the proxy was closed" {
		t.Errorf("recorded %+v", entries)
	}
	b.cut = true
}

// echo is an API server that switches to a protocol in which everything is
// sent back.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "SPDY/3.1" || r.Header.Get("Connection") != "Upgrade" {
		http.Error(w, "no upgrade", http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\n\r\nhello\n")
	_, _ = io.Copy(conn, buffered)
}

func TestAnUpgradeIsPassedOnBothWays(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *bench, io.Closer){
		"and ends with the client": func(t *testing.T, _ *bench, client io.Closer) {
			t.Helper()
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		},
		"and ends with the proxy": func(t *testing.T, b *bench, _ io.Closer) {
			t.Helper()
			b.close(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, echo)
			conn := b.dial(t)
			// The first words in the protocol follow the head at once.
			_, err := io.WriteString(conn, "POST /api/v1/namespaces/demo/pods/p/exec?command=ls HTTP/1.1\r\nHost: x\r\n"+
				"Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\nping\n")
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			response, err := http.ReadResponse(in, nil) //nolint:bodyclose // the connection is
			if err != nil {
				t.Fatal(err)
			}
			head := fmt.Sprint(response.StatusCode, " ", response.Header.Get("X-Stream-Protocol-Version"), " ", response.Header.Get("Upgrade"))
			if head != "101 v4 SPDY/3.1" {
				t.Errorf("got %s, %v", head, response.Header)
			}
			if got := line(t, in) + line(t, in); got != "hello\nping\n" {
				t.Errorf("got %q", got)
			}
			end(t, b, conn)
			r := b.ended(t)
			if r.Response.Code != 101 || r.Response.BodyBytes != 11 || r.Subresource != "exec" {
				t.Errorf("recorded %+v", r)
			}
		})
	}
}

func TestAnUpgradeThatIsRefused(t *testing.T) {
	b := start(t, respond("application/json", `{"kind":"Status","code":200}`))
	response, got := b.call(t, b.client(t, false), "GET", "/api/v1/namespaces/demo/pods/p/exec", "", "",
		"Connection", "Upgrade", "Upgrade", "websocket")
	if response.StatusCode != http.StatusOK || got != `{"kind":"Status","code":200}` {
		t.Errorf("the client got %d, %s", response.StatusCode, got)
	}
}

// dial returns a connection to the proxy on which a test speaks itself.
func (b *bench) dial(t *testing.T) *tls.Conn {
	t.Helper()
	conn, err := (&tls.Dialer{Config: b.trust()}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.URL(), "https://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*tls.Conn)
}
