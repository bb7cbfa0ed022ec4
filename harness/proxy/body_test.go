package proxy_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy"
	"github.com/seatrial/seatrial/harness/redact"
)

const (
	configMaps = "/api/v1/namespaces/demo/configmaps"
	secrets    = "/api/v1/namespaces/demo/secrets"
	typeProto  = "application/vnd.kubernetes.protobuf"
)

func protobufConfigMap(t *testing.T) string {
	t.Helper()
	object := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "demo", UID: "u-1", ResourceVersion: "7"},
		Data:       map[string]string{"k": "v"},
	}
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t *testing.T, plain string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, plain)
	if err != nil || w.Close() != nil {
		t.Fatal("zipping failed")
	}
	return b.String()
}

func TestBodiesAreRecordedAsJSONAndPassAsTheyAre(t *testing.T) {
	const list = `{"kind":"ConfigMapList","items":[{},{}]}`
	object := json.RawMessage(configMap)
	for name, tc := range map[string]struct {
		method, path, contentType, body string
		gotType, gotEncoding, got       string
		want                            history.Request
	}{
		"an applied YAML, answered in JSON": {
			"PATCH", configMaps + "/c?fieldManager=m", "application/apply-patch+yaml", "data: {k: v}\n",
			"application/json", "", configMap,
			history.Request{Body: json.RawMessage(`{"data":{"k":"v"}}`), Response: history.Response{Object: object}},
		},
		"protobuf both ways": {
			"POST", configMaps, typeProto, protobufConfigMap(t), typeProto, "", protobufConfigMap(t),
			history.Request{Body: object, Response: history.Response{Object: object}},
		},
		"gzip back": {
			"GET", configMaps + "/c", "", "", "application/json", "gzip", gzipped(t, configMap),
			history.Request{Response: history.Response{Object: object}},
		},
		"a list is counted": {
			"GET", configMaps, "", "", "application/json", "gzip", gzipped(t, list),
			history.Request{Response: history.Response{Items: 2}},
		},
		"what a deletecollection deleted is counted": {
			"DELETE", configMaps, "application/json", `{"dryRun":["All"]}`, "application/json", "", list,
			history.Request{DryRun: true, Body: json.RawMessage(`{"dryRun":["All"]}`), Response: history.Response{Items: 2}},
		},
		"a list of an unknown format is not counted": {
			"GET", configMaps, "", "", "application/cbor", "", "\xa0",
			history.Request{Response: history.Response{ObjectError: `not counted: content type "application/cbor", encoding ""`}},
		},
		"bodies that nobody understands": {
			"POST", configMaps, "text/plain", "hello", "application/json", "", "world",
			history.Request{
				BodyError: `content type "text/plain" is not one that the API speaks`,
				Response:  history.Response{ObjectError: "not valid JSON"},
			},
		},
		"a document about the API is not kept": {
			"GET", "/openapi/v2", "", "", "application/json", "", `{"a":1}`, history.Request{},
		},
		"a log is not kept": {
			"GET", "/api/v1/namespaces/demo/pods/p/log", "", "", "text/plain", "", "line\n", history.Request{},
		},
		"bodies that are too long": {
			"PUT", configMaps + "/c", "application/json", `"` + strings.Repeat("x", 70<<10) + `"`,
			"application/json", "", `"` + strings.Repeat("y", 70<<10) + `"`,
			history.Request{
				BodyError: "longer than 65536 bytes: not kept",
				Response:  history.Response{ObjectError: "longer than 65536 bytes: not kept"},
			},
		},
	} {
		for version, http2 := range versions {
			t.Run(name+" "+version, func(t *testing.T) {
				var sent []byte
				b := start(t, func(w http.ResponseWriter, r *http.Request) {
					sent, _ = io.ReadAll(r.Body)
					w.Header().Set("Content-Type", tc.gotType)
					if tc.gotEncoding != "" {
						w.Header().Set("Content-Encoding", tc.gotEncoding)
					}
					_, _ = io.WriteString(w, tc.got)
				}, func(o *proxy.Options) { o.MaxBody = 64 << 10 })
				_, got := b.call(t, b.client(t, http2), tc.method, tc.path, tc.contentType, tc.body, "Accept-Encoding", "gzip")
				if got != tc.got || string(sent) != tc.body {
					t.Errorf("a body did not pass as it was sent: %d bytes became %d, %d became %d",
						len(tc.body), len(sent), len(tc.got), len(got))
				}
				r := b.request(t)
				if diff := cmp.Diff(essence(t, tc.want), essence(t, *r)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

// essence is what a request says of its bodies, in comparable form.
func essence(t *testing.T, r history.Request) map[string]any {
	t.Helper()
	decode := func(raw json.RawMessage) (v any) {
		if raw != nil && json.Unmarshal(raw, &v) != nil {
			t.Errorf("recorded what is not JSON: %s", raw)
		}
		return v
	}
	return map[string]any{
		"body": decode(r.Body), "bodyError": r.BodyError, "dryRun": r.DryRun,
		"object": decode(r.Response.Object), "objectError": r.Response.ObjectError, "items": r.Response.Items,
	}
}

func TestSecretsStayOutOfTheRecord(t *testing.T) {
	const secret = `{"kind":"Secret","metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="}}`
	symbols := redact.New()
	for name, tc := range map[string]struct{ method, path, contentType, body string }{
		"created":                 {"POST", secrets, "application/json", secret},
		"applied as YAML":         {"PATCH", secrets + "/s", "application/apply-patch+yaml", "stringData:\n  password: hunter2\n"},
		"patched":                 {"PATCH", secrets + "/s", "application/json-patch+json", `[{"op":"add","path":"/data/password","value":"aHVudGVyMg=="}]`},
		"sent in a broken format": {"POST", secrets, "application/json", `{"data":{"password":"aHVudGVyMg=="`},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, respond("application/json", secret), func(o *proxy.Options) { o.Redactor = symbols })
			b.call(t, b.client(t, false), tc.method, tc.path, tc.contentType, tc.body)
			recorded, err := json.Marshal(b.request(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range []string{"hunter2", "aHVudGVyMg"} {
				if bytes.Contains(recorded, []byte(value)) {
					t.Errorf("the record has the value: %s", recorded)
				}
			}
			if !bytes.Contains(recorded, []byte(redact.Prefix)) {
				t.Errorf("the record does not tell that there was a value: %s", recorded)
			}
		})
	}
}

func TestALargeBodyThatTheServerRefusesUnread(t *testing.T) {
	b := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	for _, size := range []int{3 << 20, 20 << 20} {
		response, _ := b.call(t, b.client(t, false), "POST", configMaps, "application/json", strings.Repeat("x", size))
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%d bytes: the client got %d", size, response.StatusCode)
		}
	}
	for _, r := range b.requests(t) {
		if r.Response.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("recorded %d, %s", r.Response.Code, r.Response.Error)
		}
	}
}

func TestRequestsAreRecordedInTheOrderInWhichTheyEnded(t *testing.T) {
	// The first to end is the one that takes longest to decode.
	large := `{"metadata":{"name":"large"},"data":"` + strings.Repeat("x", 3<<20) + `"}`
	release := make(chan struct{})
	b := start(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case configMaps + "/held":
			<-release
		case configMaps + "/large":
			_, _ = io.WriteString(w, large)
		}
	})
	c := b.client(t, false)
	held := make(chan error)
	go func() {
		response, err := c.Get(b.URL() + configMaps + "/held")
		if err == nil {
			err = response.Body.Close()
		}
		held <- err
	}()
	b.call(t, c, "GET", configMaps+"/large", "", "")
	for i := range 20 {
		b.call(t, c, "GET", fmt.Sprintf("%s/c%d", configMaps, i), "", "")
	}
	close(release)
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range b.requests(t) {
		got += " " + r.Name
	}
	want := " large c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 held"
	if got != want {
		t.Errorf("got %s\nwant%s", got, want)
	}
}
