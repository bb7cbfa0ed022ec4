package proxy

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/seatrial/seatrial/harness/history"
)

// Summary is what is known of a request before anything is decoded.
type Summary struct {
	// Verb is that of authorization: a request to a subresource such as exec
	// has the verb of its method.
	Verb        history.Verb
	Group       string
	Version     string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	// User is the name that the credentials claim; see history.Request.
	User string
	// DryRun is what the query asks for. A delete can ask for it in its body
	// too, which only the history tells.
	DryRun bool
	// Done marks the end of the request. Code is then the status that it was
	// answered with, 0 if there was no answer.
	Done bool
	Code int
}

// Mutates reports whether the request asks for a change of an object: a review
// or a connection to a pod does not, though it is a create to authorization.
func (s Summary) Mutates() bool {
	return s.Verb.Mutates() && !s.DryRun && !connects(s.Subresource) &&
		s.Group != "authorization.k8s.io" && s.Group != "authentication.k8s.io"
}

// connects reports whether a subresource is a way to a pod, node or service,
// and what goes there is not the API's.
func connects(subresource string) bool {
	switch subresource {
	case "proxy", "exec", "attach", "portforward":
		return true
	}
	return false
}

// resolver reads paths as the API server does.
var resolver = apirequest.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// describe returns what a request's head tells.
func describe(r *http.Request) history.Request {
	d := history.Request{
		UserAgent:   r.UserAgent(),
		Method:      r.Method,
		Path:        r.RequestURI,
		ContentType: r.Header.Get("Content-Type"),
		Verb:        history.VerbOther,
	}
	info, err := resolver.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return d
	}
	d.Group, d.Version = info.APIGroup, info.APIVersion
	d.Resource, d.Subresource = info.Resource, info.Subresource
	d.Namespace, d.Name = info.Namespace, info.Name
	if d.Resource == "namespaces" {
		// Authorization counts a namespace as in itself; as an object it is not.
		d.Namespace = ""
	}
	if slices.Contains(verbs, history.Verb(info.Verb)) {
		d.Verb = history.Verb(info.Verb)
	}
	if d.Verb.Mutates() && r.URL.RawQuery != "" {
		query := r.URL.Query()
		d.DryRun = query.Get("dryRun") != ""
		d.FieldManager = query.Get("fieldManager")
	}
	return d
}

var verbs = []history.Verb{
	history.VerbGet, history.VerbList, history.VerbWatch, history.VerbCreate, history.VerbUpdate,
	history.VerbPatch, history.VerbDelete, history.VerbDeleteCollection,
}

// longRunning reports whether a request lasts until somebody ends it.
func longRunning(d *history.Request, r *http.Request) bool {
	return d.Verb == history.VerbWatch || connects(d.Subresource) || upgrade(r.Header) != "" ||
		d.Subresource == "log" && strings.Contains(r.URL.RawQuery, "follow=")
}

// summary returns the summary of a request that has not ended.
func summary(d *history.Request) Summary {
	return Summary{
		Verb: d.Verb, Group: d.Group, Version: d.Version, Resource: d.Resource, Subresource: d.Subresource,
		Namespace: d.Namespace, Name: d.Name, User: d.User, DryRun: d.DryRun,
	}
}
