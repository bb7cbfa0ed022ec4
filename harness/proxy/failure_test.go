package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy"
)

func TestAClientThatGoesAwayEndsItsRequest(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			arrived, gone := make(chan struct{}), make(chan struct{})
			option, over := untilOver()
			b := start(t, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				close(arrived)
				<-r.Context().Done()
				close(gone)
			}, option)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-arrived
				cancel()
			}()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL()+configMaps, strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.client(t, http2).Do(r); err == nil { //nolint:bodyclose // there is none
				t.Error("the client got an answer")
			}
			<-gone
			<-over
			got := b.ended(t).Response
			if diff := cmp.Diff(history.Response{Error: "the client went away before the response"}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAnAPIServerThatIsNotThere(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			b := start(t, respond("application/json", configMap))
			b.server.Close()
			response, err := b.client(t, http2).Get(b.URL() + configMaps + "/c")
			if err == nil {
				_ = response.Body.Close()
				t.Errorf("the client got %d: the proxy has answered for the API server", response.StatusCode)
			}
			r := b.requests(t)[0].Response
			if r.Code != 0 || !strings.Contains(r.Error, "connecting to the API server") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestAnAPIServerThatIsNotTrusted(t *testing.T) {
	b := start(t, respond("application/json", configMap), func(o *proxy.Options) {
		o.Upstream = &rest.Config{Host: o.Upstream.Host}
	})
	if response, err := b.client(t, false).Get(b.URL() + configMaps); err == nil {
		_ = response.Body.Close()
		t.Error("the client got an answer")
	}
	if r := b.requests(t)[0].Response; r.Code != 0 || !strings.Contains(r.Error, "certificate") {
		t.Errorf("got %+v", r)
	}
}

func TestAResponseThatIsCutShort(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			b := start(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
				panic(http.ErrAbortHandler)
			})
			response, err := b.client(t, http2).Get(b.URL() + configMaps + "/c")
			if err == nil {
				_, err = io.ReadAll(response.Body)
				_ = response.Body.Close()
			}
			if err == nil {
				t.Error("the client took half a response for a whole one")
			}
			if r := b.requests(t)[0].Response; !strings.Contains(r.Error, "unexpected EOF") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestConnectionsThatTheServerClosedAreNotUsed(t *testing.T) {
	b := start(t, respond("application/json", configMap))
	c := b.client(t, false)
	for _, method := range []string{"GET", "GET", "POST", "POST"} {
		b.call(t, c, method, configMaps, "", "")
		b.server.CloseClientConnections()
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	peers := map[string]bool{}
	b := start(t, func(w http.ResponseWriter, r *http.Request) {
		peers[r.RemoteAddr] = true
		switch r.Method {
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case http.MethodPut:
			_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
		}
	})
	c := b.client(t, true)
	for _, method := range []string{"GET", "HEAD", "DELETE", "PUT", "POST", "GET"} {
		b.call(t, c, method, configMaps+"/c", "", "")
	}
	if len(peers) != 1 {
		t.Errorf("%d connections served six requests made one after the other", len(peers))
	}
}

func TestHeadsOfResponsesWithoutABody(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			b := start(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					w.Header().Set("Content-Length", "123")
				} else {
					w.WriteHeader(http.StatusNoContent)
				}
			})
			head, _ := b.call(t, b.client(t, http2), "HEAD", "/api", "", "")
			none, _ := b.call(t, b.client(t, http2), "GET", "/api", "", "")
			if head.ContentLength != 123 || none.StatusCode != http.StatusNoContent || none.Header.Get("Content-Length") != "" {
				t.Errorf("got %v and %v", head, none)
			}
		})
	}
}

func TestMalformedRequestsHarmNobody(t *testing.T) {
	for name, tc := range map[string]struct{ request, want string }{
		"no HTTP at all":           {"hello\r\n\r\n", "400"},
		"a header without a colon": {"GET /api HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", "400"},
		"two lengths":              {"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", "400"},
		"a proxy's request":        {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "400"},
		"an absolute address":      {"GET https://example.com/api HTTP/1.1\r\nHost: example.com\r\n\r\n", "400"},
		"an asterisk":              {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
		"a body cut short":         {"POST /api/v1/namespaces/d/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx", ""},
		"chunks that are none":     {"POST /api/v1/namespaces/d/configmaps HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ""},
		"a path that escapes":      {"GET /api/../../%2e%2e/x HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, respond("application/json", configMap))
			conn := b.dial(t)
			if _, err := io.WriteString(conn, tc.request); err != nil {
				t.Fatal(err)
			}
			if tc.want == "" { // there is no more to come, and no answer to be awaited
				if err := conn.CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := bufio.NewReader(conn).ReadString('\n')
			if status := strings.TrimPrefix(got, "HTTP/1.1 "); tc.want == "" && got != "" || !strings.HasPrefix(status, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if _, got := b.call(t, b.client(t, false), "GET", "/api", "", ""); got != configMap {
				t.Errorf("the next client got %s", got)
			}
		})
	}
}

func TestTheInterceptorDecides(t *testing.T) {
	held := make(chan struct{})
	reached := 0
	for name, tc := range map[string]struct {
		intercept proxy.Interceptor
		wantBody  string
		wantErr   string // as recorded; the client's connection then ends
		reached   int
	}{
		"pass": {
			func(_ proxy.Summary, r *http.Request, forward proxy.Forward) (*http.Response, error) {
				return forward(r)
			},
			configMap, "", 1,
		},
		"hold": {
			func(_ proxy.Summary, r *http.Request, forward proxy.Forward) (*http.Response, error) {
				<-held
				return forward(r)
			},
			configMap, "", 1,
		},
		"answer": {
			func(s proxy.Summary, r *http.Request, _ proxy.Forward) (*http.Response, error) {
				recorder := httptest.NewRecorder()
				recorder.WriteHeader(http.StatusConflict)
				body, err := io.ReadAll(r.Body)
				_, _ = io.WriteString(recorder, s.Resource+string(body))
				return recorder.Result(), err
			},
			"configmaps{}", "", 0,
		},
		"lose the request": {
			func(proxy.Summary, *http.Request, proxy.Forward) (*http.Response, error) {
				return nil, errors.New("lost on purpose")
			},
			"", "lost on purpose", 0,
		},
		"lose the response": {
			func(_ proxy.Summary, r *http.Request, forward proxy.Forward) (*http.Response, error) {
				response, err := forward(r)
				if err != nil {
					return nil, err
				}
				return nil, errors.Join(errors.New("lost on purpose"), response.Body.Close())
			},
			"", "lost on purpose", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			reached = 0
			b := start(t, func(w http.ResponseWriter, _ *http.Request) {
				reached++
				_, _ = io.WriteString(w, configMap)
			}, func(o *proxy.Options) {
				o.Intercept = tc.intercept
				o.OnRequest = func(s proxy.Summary) {
					if name == "hold" && !s.Done {
						go func() { held <- struct{}{} }()
					}
				}
			})
			response, err := b.client(t, true).Post(b.URL()+configMaps, "application/json", strings.NewReader(`{}`))
			got := ""
			if err == nil {
				all, _ := io.ReadAll(response.Body)
				got = string(all)
				_ = response.Body.Close()
			}
			if got != tc.wantBody || (err != nil) != (tc.wantErr != "") {
				t.Errorf("the client got %q, %v", got, err)
			}
			if r := b.requests(t)[0].Response; r.Error != tc.wantErr {
				t.Errorf("recorded %+v", r)
			}
			if reached != tc.reached {
				t.Errorf("the API server was reached %d times, want %d", reached, tc.reached)
			}
		})
	}
}
