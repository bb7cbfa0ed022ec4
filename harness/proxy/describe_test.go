package proxy

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history"
)

func TestDescribe(t *testing.T) {
	type request = history.Request
	for name, tc := range map[string]struct {
		method, path string
		want         request
		long         bool
		mutates      bool
	}{
		"a core object":            {"GET", "/api/v1/namespaces/d/pods/p", request{Verb: "get", Version: "v1", Resource: "pods", Namespace: "d", Name: "p"}, false, false},
		"its head":                 {"HEAD", "/api/v1/namespaces/d/pods/p", request{Verb: "get", Version: "v1", Resource: "pods", Namespace: "d", Name: "p"}, false, false},
		"an object of a group":     {"PUT", "/apis/apps/v1/namespaces/d/deployments/x", request{Verb: "update", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "d", Name: "x"}, false, true},
		"an object of no space":    {"DELETE", "/apis/a.io/v1/clusters/c", request{Verb: "delete", Group: "a.io", Version: "v1", Resource: "clusters", Name: "c"}, false, true},
		"a namespace":              {"GET", "/api/v1/namespaces/d", request{Verb: "get", Version: "v1", Resource: "namespaces", Name: "d"}, false, false},
		"a namespace's finalizers": {"PUT", "/api/v1/namespaces/d/finalize", request{Verb: "update", Version: "v1", Resource: "namespaces", Name: "d", Subresource: "finalize"}, false, true},
		"a list in a namespace":    {"GET", "/api/v1/namespaces/d/pods?limit=5", request{Verb: "list", Version: "v1", Resource: "pods", Namespace: "d"}, false, false},
		"a list of all":            {"GET", "/api/v1/pods", request{Verb: "list", Version: "v1", Resource: "pods"}, false, false},
		"a list of one":            {"GET", "/api/v1/namespaces/d/pods?fieldSelector=metadata.name%3Dp", request{Verb: "list", Version: "v1", Resource: "pods", Namespace: "d", Name: "p"}, false, false},
		"a watch":                  {"GET", "/apis/a.io/v1/clusters?watch=true", request{Verb: "watch", Group: "a.io", Version: "v1", Resource: "clusters"}, true, false},
		"a watch by number":        {"GET", "/apis/a.io/v1/clusters?watch=1", request{Verb: "watch", Group: "a.io", Version: "v1", Resource: "clusters"}, true, false},
		"a watch that is none":     {"GET", "/apis/a.io/v1/clusters?watch=false", request{Verb: "list", Group: "a.io", Version: "v1", Resource: "clusters"}, false, false},
		"an old way to watch":      {"GET", "/api/v1/watch/namespaces/d/pods", request{Verb: "watch", Version: "v1", Resource: "pods", Namespace: "d"}, true, false},
		"a create":                 {"POST", "/api/v1/namespaces/d/pods?fieldManager=m", request{Verb: "create", Version: "v1", Resource: "pods", Namespace: "d", FieldManager: "m"}, false, true},
		"a dry run":                {"PATCH", "/api/v1/namespaces/d/pods/p?dryRun=All", request{Verb: "patch", Version: "v1", Resource: "pods", Namespace: "d", Name: "p", DryRun: true}, false, false},
		"a delete of many":         {"DELETE", "/api/v1/namespaces/d/pods?labelSelector=a", request{Verb: "deletecollection", Version: "v1", Resource: "pods", Namespace: "d"}, false, true},
		"a status":                 {"PATCH", "/apis/a.io/v1/namespaces/d/clusters/c/status", request{Verb: "patch", Group: "a.io", Version: "v1", Resource: "clusters", Namespace: "d", Name: "c", Subresource: "status"}, false, true},
		"a scale":                  {"PUT", "/apis/apps/v1/namespaces/d/statefulsets/s/scale", request{Verb: "update", Group: "apps", Version: "v1", Resource: "statefulsets", Namespace: "d", Name: "s", Subresource: "scale"}, false, true},
		"an eviction":              {"POST", "/api/v1/namespaces/d/pods/p/eviction", request{Verb: "create", Version: "v1", Resource: "pods", Namespace: "d", Name: "p", Subresource: "eviction"}, false, true},
		"an exec":                  {"POST", "/api/v1/namespaces/d/pods/p/exec?command=ls", request{Verb: "create", Version: "v1", Resource: "pods", Namespace: "d", Name: "p", Subresource: "exec"}, true, false},
		"a proxied call":           {"POST", "/api/v1/namespaces/d/services/s:80/proxy/a/b", request{Verb: "create", Version: "v1", Resource: "services", Namespace: "d", Name: "s:80", Subresource: "proxy"}, true, false},
		"a log":                    {"GET", "/api/v1/namespaces/d/pods/p/log", request{Verb: "get", Version: "v1", Resource: "pods", Namespace: "d", Name: "p", Subresource: "log"}, false, false},
		"a log that goes on":       {"GET", "/api/v1/namespaces/d/pods/p/log?follow=true", request{Verb: "get", Version: "v1", Resource: "pods", Namespace: "d", Name: "p", Subresource: "log"}, true, false},
		"a review":                 {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", request{Verb: "create", Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}, false, false},
		"discovery":                {"GET", "/apis/apps/v1", request{Verb: "other"}, false, false},
		"discovery of the core":    {"GET", "/api/v1", request{Verb: "other"}, false, false},
		"no resource":              {"POST", "/healthz", request{Verb: "other"}, false, false},
		"an unknown method":        {"BREW", "/api/v1/namespaces/d/pods/p", request{Verb: "other", Version: "v1", Resource: "pods", Namespace: "d", Name: "p"}, false, false},
		"a path that ends early":   {"GET", "/api/v1/watch", request{Verb: "other"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil)
			tc.want.Method, tc.want.Path = tc.method, tc.path
			got := describe(r)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if long := longRunning(&got, r); long != tc.long {
				t.Errorf("long running: got %v", long)
			}
			if mutates := summary(&got).Mutates(); mutates != tc.mutates {
				t.Errorf("mutates: got %v", mutates)
			}
		})
	}
}

func TestUser(t *testing.T) {
	jwt := func(claims string) string {
		return "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	for name, tc := range map[string]struct {
		header http.Header
		want   string
	}{
		"a ServiceAccount's token": {http.Header{"Authorization": {jwt(`{"sub":"system:serviceaccount:d:op"}`)}}, "system:serviceaccount:d:op"},
		"somebody impersonated":    {http.Header{"Authorization": {jwt(`{"sub":"op"}`)}, "Impersonate-User": {"jane"}}, "jane"},
		"a password":               {http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("joe:pw"))}}, "joe"},
		"an opaque token":          {http.Header{"Authorization": {"Bearer abc"}}, ""},
		"a token of noise":         {http.Header{"Authorization": {"Bearer a.!.c"}}, ""},
		"a token without a name":   {http.Header{"Authorization": {jwt(`[]`)}}, ""},
		"no credentials":           {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			known := newIdentities()
			for range 2 { // read, and remembered
				if got := known.user(tc.header); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestTheMemoryOfUsersIsBounded(t *testing.T) {
	known := newIdentities()
	for i := range 10 * knownIdentities {
		known.user(http.Header{"Authorization": {"Bearer " + string(rune('a'+i))}})
	}
	if n := len(known.known); n > knownIdentities {
		t.Errorf("%d are remembered", n)
	}
}
