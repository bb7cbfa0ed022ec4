//go:build envtest

package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/servertest"
	"github.com/seatrial/seatrial/harness/proxy"
)

// operator is a client of a real API server that goes through a proxy.
type operator struct {
	kubernetes.Interface
	config *rest.Config
	bench  *bench
}

const operatorUser = "system:serviceaccount:default:op"

// startReal starts an API server, and a ServiceAccount that may do anything.
func startReal(t *testing.T) (config *rest.Config, token string) {
	t.Helper()
	config = servertest.Start(t)
	admin := kubernetes.NewForConfigOrDie(config)
	meta := metav1.ObjectMeta{Name: "op", Namespace: "default"}
	must(t)(admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}))
	must(t)(admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "op"},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "op"}},
	}, metav1.CreateOptions{}))
	request, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "op", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return config, request.Status.Token
}

// must returns a function that takes the results of a call which must succeed.
func must(t *testing.T) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newOperator(t *testing.T, upstream *rest.Config, token string, change func(*rest.Config), options ...func(*proxy.Options)) *operator {
	t.Helper()
	log := history.NewLog(nil, history.Header{}, time.Now)
	o := proxy.Options{Upstream: upstream, Recorder: log}
	for _, option := range options {
		option(&o)
	}
	p, err := proxy.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Proxy: p, log: log}
	t.Cleanup(func() { b.close(t) })
	config := &rest.Config{
		Host: p.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: p.CA()}, BearerToken: token, QPS: -1, UserAgent: "op/1",
	}
	change(config)
	return &operator{Interface: kubernetes.NewForConfigOrDie(config), config: config, bench: b}
}

// did is the essence of a recorded request.
type did struct {
	Verb                 history.Verb
	Resource, Sub, Name  string
	Code, Items, Events  int
	DryRun, Body, Object bool
}

func essenceOf(r *history.Request) did {
	return did{
		Verb: r.Verb, Resource: r.Resource, Sub: r.Subresource, Name: r.Name, Code: r.Response.Code,
		Items: r.Response.Items, Events: r.Response.Events, DryRun: r.DryRun, Body: r.Body != nil, Object: r.Response.Object != nil,
	}
}

func TestARealAPIServer(t *testing.T) {
	upstream, token := startReal(t)
	for name, tc := range map[string]struct {
		change func(*rest.Config)
		option func(*proxy.Options)
	}{
		"with a client that speaks JSON": {func(*rest.Config) {}, func(*proxy.Options) {}},
		"with a client that speaks protobuf over HTTP/2": {
			func(c *rest.Config) {
				c.ContentType = "application/vnd.kubernetes.protobuf"
				c.AcceptContentTypes = c.ContentType + ",application/json"
			},
			func(o *proxy.Options) { o.PreferHTTP2 = true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOperator(t, upstream, token, tc.change, tc.option)
			o.live(t)
			requests := o.bench.requests(t)
			var got []did
			for _, r := range requests {
				got = append(got, essenceOf(r))
				if r.BodyError != "" || r.Response.ObjectError != "" || r.User != operatorUser || r.UserAgent != "op/1" {
					t.Errorf("%s %s: %q %q %q by %q, %q", r.Method, r.Path, r.BodyError, r.Response.ObjectError, r.Response.Error, r.User, r.UserAgent)
				}
			}
			want := []did{
				{Verb: "create", Resource: "configmaps", Code: 201, Body: true, Object: true},
				{Verb: "get", Resource: "configmaps", Name: "a", Code: 200, Object: true},
				{Verb: "update", Resource: "configmaps", Name: "a", Code: 409, Body: true, Object: true},
				{Verb: "patch", Resource: "configmaps", Name: "b", Code: 201, Body: true, Object: true},
				{Verb: "create", Resource: "configmaps", Code: 201, DryRun: true, Body: true, Object: true},
				{Verb: "get", Resource: "configmaps", Name: "none", Code: 404, Object: true},
				{Verb: "list", Resource: "configmaps", Code: 200, Items: 2},
				{Verb: "create", Resource: "pods", Sub: "exec", Name: "none", Code: 404, Object: true},
				{Verb: "delete", Resource: "configmaps", Name: "a", Code: 200, DryRun: true, Body: true, Object: true},
				{Verb: "deletecollection", Resource: "configmaps", Code: 200, Items: 2, Body: true},
				{Verb: "watch", Resource: "configmaps", Code: 200, Events: 4},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, r := range requests {
				if closed := r.Response.Error == "the proxy was closed"; closed != (r.Verb == history.VerbWatch) {
					t.Errorf("%s %s ended with %q", r.Method, r.Path, r.Response.Error)
				}
			}
			checkCreated(t, requests[0])
		})
	}
}

// checkCreated looks into the bodies of the create.
func checkCreated(t *testing.T, r *history.Request) {
	t.Helper()
	var sent, stored corev1.ConfigMap
	if err := json.Unmarshal(r.Body, &sent); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Response.Object, &stored); err != nil {
		t.Fatal(err)
	}
	if sent.Name != "a" || sent.Data["k"] != "v" || sent.Kind != "ConfigMap" {
		t.Errorf("the body became %s", r.Body)
	}
	if string(stored.UID) != r.Response.UID || stored.ResourceVersion != r.Response.ResourceVersion || stored.UID == "" {
		t.Errorf("the response says %s and %s, its object %s", r.Response.UID, r.Response.ResourceVersion, r.Response.Object)
	}
}

// live is what the operator does.
func (o *operator) live(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const namespace = "kube-public" // empty in an API server without controllers
	maps := o.CoreV1().ConfigMaps(namespace)
	mine := metav1.ListOptions{LabelSelector: "mine=true"}
	w, err := maps.Watch(ctx, mine)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"mine": "true"}
	a := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labels}, Data: map[string]string{"k": "v"}}
	must(t)(maps.Create(ctx, a, metav1.CreateOptions{}))
	next(t, w, watch.Added)
	got, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got.ResourceVersion = "1"
	if _, err := maps.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	apply := applycorev1.ConfigMap("b", namespace).WithLabels(labels).WithData(map[string]string{"k": "v"})
	must(t)(maps.Apply(ctx, apply, metav1.ApplyOptions{FieldManager: "op"}))
	next(t, w, watch.Added)
	dry := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: labels}}
	must(t)(maps.Create(ctx, dry, metav1.CreateOptions{DryRun: []string{"All"}}))
	if _, err := maps.Get(ctx, "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
	must(t)(maps.List(ctx, mine))
	o.exec(t, namespace)
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{DryRun: []string{"All"}}); err != nil {
		t.Error(err)
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, mine); err != nil {
		t.Error(err)
	}
	next(t, w, watch.Deleted)
	next(t, w, watch.Deleted)
	o.bench.close(t) // ends the watch
	w.Stop()
}

func next(t *testing.T, w watch.Interface, want watch.EventType) {
	t.Helper()
	select {
	case event := <-w.ResultChan():
		if event.Type != want {
			t.Fatalf("the watch delivered %v, want %s", event, want)
		}
	case <-time.After(within):
		t.Fatalf("the watch delivered nothing within %v, want %s", within, want)
	}
}

// exec asks for a pod that is not there.
func (o *operator) exec(t *testing.T, namespace string) {
	t.Helper()
	url := o.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name("none").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"ls"}, Stdout: true}, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewSPDYExecutor(o.config, "POST", url)
	if err != nil {
		t.Fatal(err)
	}
	err = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &strings.Builder{}})
	if err == nil || !strings.Contains(err.Error(), `pods "none" not found`) {
		t.Errorf("exec: got %v, want the API server's own words", err)
	}
}

func TestTheSubjectIsNobodyElse(t *testing.T) {
	upstream, token := startReal(t)
	o := newOperator(t, upstream, token, func(c *rest.Config) { c.BearerToken = "" })
	if _, err := o.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("got %v: the proxy has lent its own credentials", err)
	}
	if r := o.bench.request(t); r.User != "" || r.Response.Code != 403 {
		t.Errorf("recorded %+v", r)
	}
}
