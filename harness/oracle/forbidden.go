package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// ForbiddenRequests finds requests that the subject's own RBAC does not allow
// (class I1, and F10 where owner references are policed). What admission
// refuses is answered with 403 too, but no rule would grant it; and a question
// about one's own rights is no breach, whatever its answer.
//
// A request that is granted later is none either: rules take a moment to reach
// the authorizer.
func ForbiddenRequests(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	refused := map[right]*refusals{}
	for seq, r := range ownRequests(h, o) {
		if missing := wants(r); r.Response.Code == 403 && missing != "" {
			key := rightOf(r, missing)
			if refused[key] == nil {
				refused[key] = &refusals{}
			}
			refused[key].add(seq, r)
			continue
		}
		if authorized(r.Response.Code) {
			for _, missing := range []want{toRequest, toBlockOwner, toGrant} {
				refused[rightOf(r, missing)].granted(r)
			}
		}
	}
	var findings []trial.Finding
	for _, key := range slices.SortedFunc(maps.Keys(refused), right.compare) {
		if known := refused[key]; len(known.open) > 0 {
			findings = append(findings, known.finding(key))
		}
	}
	if len(findings) == 0 {
		return nil, complete(h)
	}
	return findings, nil
}

// right is what a rule grants, verbs apart: two verbs that one rule lacks are
// one finding.
type right struct {
	group, version, resource, subresource string
	// namespaced: in namespaces, or across the cluster.
	namespaced bool
	// want is what was asked for beyond the request itself.
	want want
}

func rightOf(r *history.Request, missing want) right {
	key := right{
		group: r.Group, version: r.Version, resource: r.Resource, subresource: r.Subresource,
		namespaced: r.Namespace != "", want: missing,
	}
	if r.Resource == "" {
		key.subresource = pathOf(r)
	}
	return key
}

func (k right) compare(other right) int {
	return cmp.Or(
		strings.Compare(k.name(), other.name()), strings.Compare(k.version, other.version),
		strings.Compare(string(k.want), string(other.want)), cmp.Compare(fmt.Sprint(k.namespaced), fmt.Sprint(other.namespaced)),
	)
}

// name is the resource as it stands in sentences.
func (k right) name() string {
	if k.resource == "" {
		return k.subresource
	}
	return resourceName(k.group, k.ruleResource())
}

func (k right) ruleResource() string {
	if k.subresource == "" {
		return k.resource
	}
	return k.resource + "/" + k.subresource
}

// want is what a refused request would have needed.
type want string

const (
	toRequest    want = "request"
	toBlockOwner want = "blockOwnerDeletion"
	toGrant      want = "grant"
)

// wants tells what a request that was answered 403 lacked; "" if RBAC is not
// what refused it.
func wants(r *history.Request) want {
	if r.Group == "authorization.k8s.io" && strings.HasPrefix(r.Resource, "selfsubject") {
		return ""
	}
	var status struct{ Message string }
	if err := json.Unmarshal(r.Response.Object, &status); err != nil || status.Message == "" {
		return toRequest
	}
	switch m := status.Message; {
	case strings.Contains(m, "cannot set blockOwnerDeletion"):
		return toBlockOwner
	case strings.Contains(m, "is attempting to grant RBAC permissions not currently held"):
		return toGrant
	case strings.Contains(m, " cannot "):
		return toRequest
	default:
		return ""
	}
}

// authorized reports whether a response can only be given to who may ask.
func authorized(code int) bool {
	return code >= 200 && code < 500 && code != 401 && code != 403 && code != 429
}

// refusals are the requests that lacked one right.
type refusals struct {
	open []refusal
}

type refusal struct {
	seq                   int64
	verb, namespace, name string
}

func (u *refusals) add(seq int64, r *history.Request) {
	u.open = append(u.open, refusal{seq, verbOf(r), r.Namespace, nameOf(r)})
}

// verbOf is the verb that a rule would have to grant.
func verbOf(r *history.Request) string {
	if r.Verb == history.VerbOther {
		return strings.ToLower(r.Method)
	}
	return string(r.Verb)
}

// nameOf is the name of the object that a request is about; that of a create
// stands in its body.
func nameOf(r *history.Request) string {
	var body struct{ Metadata struct{ Name string } }
	if r.Name != "" || len(r.Body) == 0 || json.Unmarshal(r.Body, &body) != nil {
		return r.Name
	}
	return body.Metadata.Name
}

// granted forgets the refusals of what is allowed by now.
func (u *refusals) granted(r *history.Request) {
	if u == nil {
		return
	}
	u.open = slices.DeleteFunc(u.open, func(f refusal) bool {
		return f.verb == verbOf(r) && f.namespace == r.Namespace && f.name == nameOf(r)
	})
}

func (u *refusals) finding(key right) trial.Finding {
	var verbs, namespaces []string
	var evidence []int64
	for _, f := range u.open {
		verbs = append(verbs, f.verb)
		namespaces = append(namespaces, f.namespace)
		evidence = append(evidence, f.seq)
	}
	verbs, namespaces = distinct(verbs), distinct(namespaces)
	f := trial.Finding{
		Object:   trial.ObjectRef{Group: key.group, Version: key.version, Resource: key.resource},
		Expected: "every request is granted by the RBAC that the operator ships",
		Evidence: shown(evidence),
		Hint:     key.hint(verbs, namespaces),
	}
	if len(namespaces) == 1 {
		f.Object.Namespace = namespaces[0]
	}
	f.Summary = fmt.Sprintf("may not %s %s%s: refused %s", strings.Join(verbs, ", "), key.name(), key.where(namespaces), times(len(u.open)))
	switch key.want {
	case toBlockOwner:
		f.Summary = fmt.Sprintf("may not set blockOwnerDeletion in owner references of %s: refused %s", key.name(), times(len(u.open)))
	case toGrant:
		f.Summary = fmt.Sprintf("may not grant rights that it lacks itself, in %s: refused %s", key.name(), times(len(u.open)))
	case toRequest:
	}
	return f
}

func (k right) where(namespaces []string) string {
	if !k.namespaced {
		if k.resource == "" {
			return ""
		}
		return " across the cluster"
	}
	return " in namespace " + few(namespaces)
}

// hint is the rule to add.
func (k right) hint(verbs, namespaces []string) string {
	switch {
	case k.want == toBlockOwner:
		return `allow the verb "update" on the subresource "finalizers" of the owner's resource, or leave blockOwnerDeletion out`
	case k.want == toGrant:
		return "give the operator the rights that it hands on; granting the verbs bind or escalate instead lets it take any right"
	case k.resource == "":
		return fmt.Sprintf("add to its ClusterRole: {nonResourceURLs: [%q], verbs: [%s]}", k.subresource, quote(verbs))
	case review(k.group):
		return "bind the ClusterRole system:auth-delegator to its ServiceAccount"
	}
	role := "ClusterRole"
	if k.namespaced {
		role = "Role in " + few(namespaces) + " (or to its ClusterRole)"
	}
	return fmt.Sprintf("add to its %s: {apiGroups: [%q], resources: [%q], verbs: [%s]}", role, k.group, k.ruleResource(), quote(verbs))
}

// pathOf is the path of a request that is not about a resource.
func pathOf(r *history.Request) string {
	u, err := url.Parse(r.Path)
	if err != nil {
		return r.Path
	}
	return u.Path
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

func quote(names []string) string {
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return strings.Join(quoted, ", ")
}
