package certificate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// world is an API server with consumers, and a clock.
type world struct {
	client.WithWatch
	clock *clocktesting.FakePassiveClock

	mu     sync.Mutex
	writes []string
	// before and after are called around each write, and may make it fail.
	before, after func(write string) error
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(string) error { return nil }
	w := &world{clock: clocktesting.NewFakePassiveClock(start), before: nothing, after: nothing}
	w.WithWatch = interceptor.NewClient(
		fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().Build(),
		interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return w.write("create", o, func() error { return c.Create(ctx, o, opts...) })
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				return w.write("update", o, func() error { return c.Update(ctx, o, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
				return w.write("patch", o, func() error { return c.Patch(ctx, o, patch, opts...) })
			},
		})
	return w
}

func (w *world) write(verb string, o client.Object, do func() error) error {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")
	write := verb + " " + kind
	if err := w.before(write); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	w.mu.Lock()
	w.writes = append(w.writes, write)
	w.mu.Unlock()
	return w.after(write)
}

// taken returns the writes since the last call.
func (w *world) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.writes
	w.writes = nil
	return taken
}

func (w *world) keeper() *Keeper {
	k := New(Options{
		Namespace: "redis-system", SecretName: "certificate", ServiceName: "webhook",
		Validating: []string{"rules"}, Mutating: []string{"defaults"}, CRDs: []string{"redisclusters"},
		Lifetimes: lives, Clock: w.clock,
	})
	k.api = w
	return k
}

// visit lets a Keeper look, and returns when it wants to look next.
func visit(t *testing.T, k *Keeper) time.Time {
	t.Helper()
	result, err := k.Reconcile(t.Context(), ctrl.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if result.RequeueAfter <= 0 {
		t.Fatal("never wants to look again")
	}
	return k.clock.Now().Add(result.RequeueAfter)
}

func (w *world) secret(t *testing.T) Material {
	t.Helper()
	secret := &corev1.Secret{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: "redis-system", Name: "certificate"}, secret); err != nil {
		t.Fatal(err)
	}
	return Decode(secret)
}

// bundles returns the caBundle of every webhook, ours and others.
func (w *world) bundles(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	v, m, c := validating(), mutating(), crd()
	for _, o := range []client.Object{v, m, c} {
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, webhook := range v.Webhooks {
		found[webhook.Name] = string(webhook.ClientConfig.CABundle)
	}
	for _, webhook := range m.Webhooks {
		found[webhook.Name] = string(webhook.ClientConfig.CABundle)
	}
	found["conversion"] = string(c.Spec.Conversion.Webhook.ClientConfig.CABundle)
	return found
}

func consumers() []client.Object { return []client.Object{validating(), mutating(), crd()} }

func admission(service string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{
		Service: &admissionv1.ServiceReference{Namespace: "redis-system", Name: service, Path: new("/path")},
	}
}

func validating() *admissionv1.ValidatingWebhookConfiguration {
	elsewhere := admission("webhook")
	elsewhere.Service.Namespace = "other"
	url := admissionv1.WebhookClientConfig{URL: new("https://example.com"), CABundle: []byte("theirs")}
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "rules"},
		Webhooks: []admissionv1.ValidatingWebhook{
			{Name: "other-service", ClientConfig: admission("other"), SideEffects: new(admissionv1.SideEffectClassNone)},
			{Name: "rule", ClientConfig: admission("webhook"), SideEffects: new(admissionv1.SideEffectClassNone), MatchPolicy: new(admissionv1.Exact)},
			{Name: "other-namespace", ClientConfig: elsewhere},
			{Name: "url", ClientConfig: url},
			{Name: "another-rule", ClientConfig: admission("webhook")},
		},
	}
}

func mutating() *admissionv1.MutatingWebhookConfiguration {
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "defaults"},
		Webhooks:   []admissionv1.MutatingWebhook{{Name: "default", ClientConfig: admission("webhook")}},
	}
}

func crd() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "redisclusters"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "cache.example.com",
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig: &apiextensionsv1.WebhookClientConfig{
						Service: &apiextensionsv1.ServiceReference{Namespace: "redis-system", Name: "webhook", Path: new("/convert")},
					},
				},
			},
		},
	}
}
