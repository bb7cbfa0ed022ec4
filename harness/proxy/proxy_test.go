package proxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy"
)

// bench is a proxy before an API server that a test plays.
type bench struct {
	*proxy.Proxy
	server *httptest.Server
	log    *history.Log
	// cut: Close has returned an error already, as it should.
	cut bool
}

// within is how long anything in these tests may take.
const within = 10 * time.Second

func start(t *testing.T, api http.HandlerFunc, change ...func(*proxy.Options)) *bench {
	t.Helper()
	server := httptest.NewUnstartedServer(api)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	log := history.NewLog(nil, history.Header{}, time.Now)
	options := proxy.Options{Upstream: upstreamConfig(server), Recorder: log}
	for _, c := range change {
		c(&options)
	}
	p, err := proxy.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Proxy: p, server: server, log: log}
	t.Cleanup(func() { b.close(t) })
	return b
}

func upstreamConfig(s *httptest.Server) *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}, BearerToken: "the harness's own"}
}

func (b *bench) close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), within)
	defer cancel()
	if err := b.Close(ctx); (err != nil) != b.cut {
		t.Error(err)
	}
}

// requests returns what was recorded, after all that has ended is.
func (b *bench) requests(t *testing.T) []*history.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := b.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	var all []*history.Request
	for _, r := range b.log.History().Requests() {
		all = append(all, r)
	}
	return all
}

func (b *bench) request(t *testing.T) *history.Request {
	t.Helper()
	all := b.requests(t)
	if len(all) != 1 {
		t.Fatalf("%d requests were recorded, want 1", len(all))
	}
	return all[0]
}

// trust returns how a client trusts the proxy.
func (b *bench) trust() *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(b.CA())
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// client returns a client that speaks only HTTP/1.1 or only HTTP/2, and that
// leaves bodies and headers alone.
func (b *bench) client(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	var protocols http.Protocols
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	transport := &http.Transport{TLSClientConfig: b.trust(), Protocols: &protocols, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: within}
}

// versions are the protocols that a client may speak.
var versions = map[string]bool{"over HTTP/1.1": false, "over HTTP/2": true}

// call makes a request and returns its response with the body.
func (b *bench) call(t *testing.T, c *http.Client, method, path, contentType, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(got)
}

// untilOver returns an option with which a channel is closed when a request
// has ended.
func untilOver() (func(*proxy.Options), <-chan struct{}) {
	over := make(chan struct{})
	return func(o *proxy.Options) {
		o.OnRequest = func(s proxy.Summary) {
			if s.Done {
				close(over)
			}
		}
	}, over
}

// token returns a token of that user, signed by nobody.
func token(user string) string {
	claims := fmt.Sprintf(`{"sub":%q}`, user)
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// respond returns an API server that always answers the same.
func respond(contentType, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Add(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(w, body)
	}
}

const configMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"demo","uid":"u-1","resourceVersion":"7"},"data":{"k":"v"}}`

func TestARequestIsRecordedWithItsResponse(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			clock := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
			b := start(t, respond("application/json", configMap, "Warning", `299 - "old"`, "Warning", `299 - "older"`),
				func(o *proxy.Options) { o.Now = func() time.Time { return clock } })
			const path = "/api/v1/namespaces/demo/configmaps/c?fieldManager=me&dryRun=All"
			_, got := b.call(t, b.client(t, http2), "PATCH", path, "application/merge-patch+json", `{"data":{"k":"v"}}`,
				"Authorization", "Bearer "+token("system:serviceaccount:demo:op"), "User-Agent", "op/1.0")
			if got != configMap {
				t.Errorf("the client got %s", got)
			}
			want := &history.Request{
				Start: clock, User: "system:serviceaccount:demo:op", UserAgent: "op/1.0", Method: "PATCH", Path: path,
				Verb: history.VerbPatch, Version: "v1", Resource: "configmaps", Namespace: "demo", Name: "c",
				DryRun: true, FieldManager: "me",
				ContentType: "application/merge-patch+json", Body: json.RawMessage(`{"data":{"k":"v"}}`),
				Response: history.Response{
					Code: 200, Warnings: []string{"old", "older"}, Object: json.RawMessage(configMap),
					UID: "u-1", ResourceVersion: "7", BodyBytes: int64(len(configMap)),
				},
			}
			if diff := cmp.Diff(want, b.request(t)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestARequestPassesUntouched(t *testing.T) {
	for name, http2 := range versions {
		t.Run(name, func(t *testing.T) {
			var seen *http.Request
			var sent []byte
			b := start(t, func(w http.ResponseWriter, r *http.Request) {
				seen = r
				sent, _ = io.ReadAll(r.Body)
				w.Header().Set("X-Kubernetes-Pf-Flowschema-Uid", "f")
				w.WriteHeader(http.StatusCreated)
			})
			response, _ := b.call(t, b.client(t, http2), "POST", "/apis/a.b/v1/x%2Fy?q=%20&r", "application/yaml", "a: 1\n",
				"Authorization", "Bearer secret", "User-Agent", "", "X-Own", "1", "Accept", "application/json")
			if seen.RequestURI != "/apis/a.b/v1/x%2Fy?q=%20&r" || string(sent) != "a: 1\n" || seen.ContentLength != 5 {
				t.Errorf("the API server got %s with %q, %d bytes long", seen.RequestURI, sent, seen.ContentLength)
			}
			want := http.Header{
				"Authorization": {"Bearer secret"}, "X-Own": {"1"}, "Accept": {"application/json"},
				"Content-Type": {"application/yaml"}, "Content-Length": {"5"},
			}
			if diff := cmp.Diff(want, seen.Header); diff != "" {
				t.Errorf("headers (-want +got)\n%s", diff)
			}
			if response.StatusCode != http.StatusCreated || response.Header.Get("X-Kubernetes-Pf-Flowschema-Uid") != "f" {
				t.Errorf("the client got %d, %v", response.StatusCode, response.Header)
			}
		})
	}
}

func TestTheHooksAreToldOfEachRequest(t *testing.T) {
	told := make(chan proxy.Summary, 2)
	b := start(t, respond("application/json", configMap), func(o *proxy.Options) {
		o.OnRequest = func(s proxy.Summary) { told <- s }
	})
	b.call(t, b.client(t, false), "PUT", "/apis/apps/v1/namespaces/demo/deployments/d/scale", "application/json", `{}`)
	begin := proxy.Summary{
		Verb: history.VerbUpdate, Group: "apps", Version: "v1", Resource: "deployments", Subresource: "scale",
		Namespace: "demo", Name: "d",
	}
	end := begin
	end.Done, end.Code = true, 200
	if diff := cmp.Diff([]proxy.Summary{begin, end}, []proxy.Summary{<-told, <-told}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheSubjectsKubeconfigLeadsToTheProxy(t *testing.T) {
	b := start(t, respond("application/json", configMap))
	data, err := b.Kubeconfig("t0ken", "op-system")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := clientcmd.NewClientConfigFromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		t.Fatal(err)
	}
	config, err := loaded.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	if namespace != "op-system" || config.BearerToken != "t0ken" {
		t.Errorf("got namespace %q and token %q", namespace, config.BearerToken)
	}
	for _, name := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc"} {
		config.ServerName = name
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := b.call(t, client, "GET", "/api", "", ""); got != configMap {
			t.Errorf("as %s: got %s", name, got)
		}
	}
}

func TestClientsThatOfferBothVersionsGetThePreferredOne(t *testing.T) {
	for name, tc := range map[string]struct {
		prefer2 bool
		want    string
	}{"HTTP/1.1 by default": {false, "http/1.1"}, "HTTP/2 when asked to": {true, "h2"}} {
		t.Run(name, func(t *testing.T) {
			b := start(t, respond("text/plain", "ok"), func(o *proxy.Options) { o.PreferHTTP2 = tc.prefer2 })
			c := b.trust()
			c.NextProtos = []string{"h2", "http/1.1"}
			conn, err := tls.Dial("tcp", strings.TrimPrefix(b.URL(), "https://"), c)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if got := conn.ConnectionState().NegotiatedProtocol; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestStartRefusesAnAddressThatIsNone(t *testing.T) {
	_, err := proxy.Start(t.Context(), proxy.Options{Upstream: &rest.Config{Host: "https://a b"}})
	if err == nil || !strings.Contains(err.Error(), `"https://a b"`) {
		t.Errorf("got %v, want an error that names the address", err)
	}
}
