package redact_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/redact"
)

// symbols names the symbols of a text by their order, so that tests can say
// which ones are equal.
func symbols(text string) string {
	names := map[string]string{}
	return regexp.MustCompile(redact.Prefix+`[0-9a-f]{12}`).ReplaceAllStringFunc(text, func(s string) string {
		if names[s] == "" {
			names[s] = "#" + string(rune('a'+len(names)))
		}
		return names[s]
	})
}

func TestJSON(t *testing.T) {
	secrets := redact.Target{Resource: "secrets"}
	for name, tc := range map[string]struct {
		target     redact.Target
		body, want string
	}{
		"values of a Secret become symbols, equal for equal values in either field": {
			secrets,
			`{"kind":"Secret","metadata":{"name":"s"},"data":{"a":"cHc=","b":"b3RoZXI="},"stringData":{"c":"pw"}}`,
			`{"data":{"a":"#a","b":"#b"},"kind":"Secret","metadata":{"name":"s"},"stringData":{"c":"#a"}}`,
		},
		"what kubectl applied is in an annotation": {
			secrets,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":1}","x":"y"}}}`,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"#a","x":"y"}}}`,
		},
		"a merge patch still deletes a key": {
			secrets, `{"data":{"a":null,"b":"cHc="},"stringData":null}`, `{"data":{"a":null,"b":"#a"},"stringData":null}`,
		},
		"a JSON patch of one key, of the map, of the whole, and of something else": {
			secrets,
			`[{"op":"add","path":"/data/a","value":"cHc="},{"op":"add","path":"/stringData","value":{"b":"pw"}},` +
				`{"op":"replace","path":"","value":{"data":{"c":"cHc="}}},{"op":"add","path":"/metadata/labels/l","value":"v"},` +
				`{"op":"remove","path":"/data/d"}]`,
			`[{"op":"add","path":"/data/a","value":"#a"},{"op":"add","path":"/stringData","value":{"b":"#a"}},` +
				`{"op":"replace","path":"","value":{"data":{"c":"#a"}}},{"op":"add","path":"/metadata/labels/l","value":"v"},` +
				`{"op":"remove","path":"/data/d"}]`,
		},
		"a JSON patch of the annotation, whose pointer is escaped": {
			secrets,
			`[{"op":"add","path":"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration","value":"pw"}]`,
			`[{"op":"add","path":"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration","value":"#a"}]`,
		},
		"wrong types hide nothing": {
			secrets, `{"data":"cHc=","stringData":{"n":7,"o":{"p":"pw"}}}`, `{"data":"#a","stringData":{"n":"#b","o":"#c"}}`,
		},
		"a token that was asked for": {
			redact.Target{Resource: "serviceaccounts", Subresource: "token"},
			`{"spec":{"audiences":["a"]},"status":{"token":"eyJ"}}`, `{"spec":{"audiences":["a"]},"status":{"token":"#a"}}`,
		},
		"a token under review": {
			redact.Target{Group: "authentication.k8s.io", Resource: "tokenreviews"},
			`{"spec":{"token":"eyJ"}}`, `{"spec":{"token":"#a"}}`,
		},
		"anything else comes back byte for byte": {
			redact.Target{Resource: "configmaps"}, `{"data": {"a":"b"} }`, `{"data": {"a":"b"} }`,
		},
		"a custom resource named secrets is none": {
			redact.Target{Group: "example.com", Resource: "secrets"}, `{"data":{"a":"b"}}`, `{"data":{"a":"b"}}`,
		},
		"numbers keep their digits": {
			secrets, `{"metadata":{"generation":12345678901234567890}}`, `{"metadata":{"generation":12345678901234567890}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := redact.New().JSON(tc.target, json.RawMessage(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, symbols(string(got))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestJSONRefusesWhatItCannotRead(t *testing.T) {
	if got, err := redact.New().JSON(redact.Target{Resource: "secrets"}, json.RawMessage(`{"data":{"a":"cHc="`)); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}

func TestSymbolsOfTwoRedactorsDiffer(t *testing.T) {
	body := json.RawMessage(`{"data":{"a":"cHc="}}`)
	a, errA := redact.New().JSON(redact.Target{Resource: "secrets"}, body)
	b, errB := redact.New().JSON(redact.Target{Resource: "secrets"}, body)
	if errA != nil || errB != nil || string(a) == string(b) || !strings.Contains(string(a), redact.Prefix) {
		t.Errorf("got %s (%v) and %s (%v), want two symbols", a, errA, b, errB)
	}
}
