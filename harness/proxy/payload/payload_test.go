package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

func toProtobuf(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func toCBOR(t *testing.T, v any) []byte {
	t.Helper()
	b, err := direct.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func zip(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "demo"},
		Data:       map[string]string{"k": "v"},
	}
}

const configMapJSON = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"demo"},"data":{"k":"v"}}`

func TestJSON(t *testing.T) {
	for name, tc := range map[string]struct {
		contentType, encoding string
		body                  []byte
		want                  string
		wantErr               string
	}{
		"JSON":                      {"application/json", "", []byte(configMapJSON), configMapJSON, ""},
		"JSON with a charset":       {"application/json; charset=utf-8", "", []byte(`{}`), `{}`, ""},
		"a JSON patch":              {"application/json-patch+json", "", []byte(`[]`), `[]`, ""},
		"a strategic patch, zipped": {"application/strategic-merge-patch+json", "gzip", zip(t, []byte(`{"a":1}`)), `{"a":1}`, ""},
		"no body":                   {"application/json", "", nil, ``, ""},
		"an applied YAML":           {"application/apply-patch+yaml", "", []byte("kind: ConfigMap\ndata: {k: v}\n"), `{"data":{"k":"v"},"kind":"ConfigMap"}`, ""},
		"an applied JSON":           {"application/apply-patch+yaml", "", []byte(configMapJSON), configMapJSON, ""},
		"protobuf":                  {"application/vnd.kubernetes.protobuf", "", toProtobuf(t, configMap()), configMapJSON, ""},
		"a failure in protobuf":     {"application/vnd.kubernetes.protobuf", "", toProtobuf(t, &metav1.Status{Code: 404}), `{"kind":"Status","apiVersion":"v1","metadata":{},"code":404}`, ""},
		"CBOR":                      {"application/cbor", "", toCBOR(t, map[string]any{"kind": "X"}), `{"kind":"X"}`, ""},
		"JSON that is cut short":    {"application/json", "", []byte(`{"a":`), ``, "not valid JSON"},
		"YAML that is none":         {"application/yaml", "", []byte("a: [b"), ``, "reading YAML"},
		"protobuf without its mark": {"application/vnd.kubernetes.protobuf", "", []byte("xyz"), ``, "does not begin with its mark"},
		"protobuf of an unknown kind": {
			"application/vnd.kubernetes.protobuf", "",
			bytes.ReplaceAll(toProtobuf(t, configMap()), []byte("ConfigMap"), []byte("ConfigTap")), ``, "ConfigTap",
		},
		"a format that nobody knows":    {"text/plain", "", []byte("x"), ``, `content type "text/plain"`},
		"an encoding that nobody knows": {"application/json", "br", []byte("x"), ``, `content encoding "br"`},
		"gzip that is none":             {"application/json", "gzip", []byte("x"), ``, "inflating"},
		"a zip bomb":                    {"application/json", "gzip", zip(t, make([]byte, 1<<20)), ``, "inflate to more than"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := NewDecoder()
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.JSON(tc.contentType, tc.encoding, tc.body)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got %s and error %v, want an error with %q", got, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(normal(t, tc.want), normal(t, string(got))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func normal(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestObject(t *testing.T) {
	const object = `{"metadata":{"uid":"u","resourceVersion":"7"},"data":{"metadata":{"uid":"x"}}}`
	for name, tc := range map[string]struct {
		contentType, body string
		want              Meta
		wantErr           string
	}{
		"an object":               {"application/json", object, Meta{"u", "7"}, ""},
		"an object in YAML":       {"application/yaml", "metadata: {uid: u}", Meta{UID: "u"}, ""},
		"a failure":               {"application/json", `{"kind":"Status","metadata":{}}`, Meta{}, ""},
		"nothing":                 {"application/json", ``, Meta{}, ""},
		"an object cut short":     {"application/json", object[:50], Meta{}, "not valid JSON"},
		"something else":          {"application/json", `[1]`, Meta{}, "not an object"},
		"metadata of other types": {"application/json", `{"metadata":{"uid":7}}`, Meta{}, "not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := NewDecoder()
			if err != nil {
				t.Fatal(err)
			}
			_, got, err := d.Object(tc.contentType, "", []byte(tc.body))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got %v and error %v, want an error with %q", got, err, tc.wantErr)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("got %v and error %v, want %v", got, err, tc.want)
			}
		})
	}
}

// frames returns a watch in protobuf.
func frames(t *testing.T, types ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := protobuf.LengthDelimitedFramer.NewFrameWriter(&b)
	for _, eventType := range types {
		event := &metav1.WatchEvent{Type: eventType, Object: runtime.RawExtension{Raw: toProtobuf(t, configMap())}}
		if err := protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme).Encode(event, w); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestCounter(t *testing.T) {
	const jsonList = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7","x":"\"items\":[{},{}]"},` +
		`"items":[{"metadata":{"name":"a"},"items":[{},{}]},{"data":{"k":"]}\\"}} , {}],"more":[{}]}`
	const jsonWatch = `{"type":"ADDED","object":{"type":"BOOKMARK","metadata":{"name":"}"}}}` + "\n" +
		`{"object":{"kind":"ConfigMap"},"type":"BOOKMARK"}` + "\n" +
		`{"type":"DELETED","object":{}}` + "\n" + `{"type":"MODIFIED","object":{`
	protobufList := func(n int) []byte {
		return toProtobuf(t, &corev1.ConfigMapList{
			ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: make([]corev1.ConfigMap, n),
		})
	}
	for name, tc := range map[string]struct {
		stream                Stream
		contentType, encoding string
		body                  []byte
		want                  int
	}{
		"a list":                           {Items, "application/json", "", []byte(jsonList), 3},
		"a list, zipped":                   {Items, "application/json", "gzip", zip(t, []byte(jsonList)), 3},
		"an empty list":                    {Items, "application/json", "", []byte(`{"metadata":{},"items":[]}`), 0},
		"a list of null":                   {Items, "application/json", "", []byte(`{"items":null,"x":[{}]}`), 0},
		"a table":                          {Items, "application/json;as=Table;v=v1;g=meta.k8s.io", "", []byte(`{"columnDefinitions":[{}],"rows":[{"cells":[{}]},{}]}`), 2},
		"a watch that was cut":             {Events, "application/json", "", []byte(jsonWatch), 2},
		"a list in protobuf":               {Items, "application/vnd.kubernetes.protobuf", "", protobufList(300), 300},
		"an empty list in protobuf":        {Items, "application/vnd.kubernetes.protobuf", "", protobufList(0), 0},
		"a list in protobuf, zipped":       {Items, "application/vnd.kubernetes.protobuf", "gzip", zip(t, protobufList(3)), 3},
		"a watch in protobuf":              {Events, "application/vnd.kubernetes.protobuf;stream=watch", "", frames(t, "ADDED", "BOOKMARK", "MODIFIED"), 2},
		"noise instead of a JSON list":     {Items, "application/json", "", []byte(`]}]}"`), 0},
		"noise instead of protobuf":        {Items, "application/vnd.kubernetes.protobuf", "", bytes.Repeat([]byte{0xff}, 64), 0},
		"noise instead of what was zipped": {Items, "application/json", "gzip", []byte("noise"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(tc.body)} {
				c := NewCounter(tc.stream, tc.contentType, tc.encoding)
				for piece := range chunks(tc.body, size) {
					if n, err := c.Write(piece); n != len(piece) || err != nil {
						t.Fatalf("writing: %d, %v", n, err)
					}
				}
				if got := c.Close(); got != tc.want {
					t.Errorf("in pieces of %d: got %d, want %d", size, got, tc.want)
				}
			}
		})
	}
}

func chunks(b []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

func TestCounterOfWhatCannotBeCounted(t *testing.T) {
	if c := NewCounter(Items, "application/cbor", ""); c != nil {
		t.Error("CBOR is not counted, yet there is a counter")
	}
	if c := NewCounter(Items, "application/json", "br"); c != nil {
		t.Error("brotli is not counted, yet there is a counter")
	}
}

func BenchmarkJSONCounter(b *testing.B) {
	item := `{"metadata":{"name":"a-name","labels":{"app":"demo","tier":"backend"}},"data":{"k":"` + strings.Repeat("v", 400) + `"}},`
	body := []byte(`{"items":[` + strings.TrimSuffix(strings.Repeat(item, 1000), ",") + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		c := NewCounter(Items, "application/json", "")
		_, _ = c.Write(body)
		if c.Close() != 1000 {
			b.Fatal("miscounted")
		}
	}
}
