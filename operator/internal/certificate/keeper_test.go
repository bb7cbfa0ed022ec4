package certificate

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestKeeperBeginsFromNothing(t *testing.T) {
	w := newWorld(t, consumers()...)
	k := w.keeper()
	if err := k.Ready(nil); err == nil {
		t.Error("ready without a certificate")
	}
	if _, err := k.GetCertificate(nil); err == nil {
		t.Error("a handshake succeeded without a certificate")
	}
	visit(t, k)
	if err := k.Ready(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
	if got, want := k.NotAfter(), start.Add(30*day); !got.Equal(want) {
		t.Errorf("the certificate ends %s, want %s", got, want)
	}
	bundle := string(w.secret(t).Bundle())
	want := map[string]string{
		"rule": bundle, "another-rule": bundle, "default": bundle, "conversion": bundle,
		"other-service": "", "other-namespace": "", "url": "theirs",
	}
	if diff := cmp.Diff(want, w.bundles(t)); diff != "" {
		t.Errorf("caBundles (-want +got):\n%s", diff)
	}
	secret := &corev1.Secret{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: "redis-system", Name: "certificate"}, secret); err != nil {
		t.Fatal(err)
	}
	if secret.Type != corev1.SecretTypeTLS {
		t.Errorf("the Secret is of type %s", secret.Type)
	}
}

func TestKeeperChangesNothingButTheBundle(t *testing.T) {
	w := newWorld(t, consumers()...)
	visit(t, w.keeper())
	ignored := []cmp.Option{
		cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "ManagedFields"),
		cmpopts.IgnoreFields(metav1.TypeMeta{}, "Kind", "APIVersion"),
		cmpopts.IgnoreFields(admissionv1.WebhookClientConfig{}, "CABundle"),
		cmpopts.IgnoreFields(apiextensionsv1.WebhookClientConfig{}, "CABundle"),
	}
	for _, want := range consumers() {
		got, ok := want.DeepCopyObject().(client.Object)
		if !ok {
			t.Fatalf("%T is no object", want)
		}
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(want), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, ignored...); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", want.GetName(), diff)
		}
		if managers := got.GetManagedFields(); len(managers) == 0 || managers[len(managers)-1].Manager != FieldManager {
			t.Errorf("%s was not written as %s", want.GetName(), FieldManager)
		}
	}
}

func TestKeeperWritesNothingWhenAllIsWell(t *testing.T) {
	w := newWorld(t, consumers()...)
	first := w.keeper()
	visit(t, first)
	w.taken()
	for _, k := range []*Keeper{first, w.keeper()} {
		w.clock.SetTime(w.clock.Now().Add(day))
		visit(t, k)
	}
	if diff := cmp.Diff([]string(nil), w.taken()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestKeeperMendsWhatOthersOverwrite(t *testing.T) {
	w := newWorld(t, consumers()...)
	k := w.keeper()
	visit(t, k)
	want := w.bundles(t)
	for name, foreign := range map[string][]byte{"an empty bundle": nil, "another bundle": []byte("theirs")} {
		t.Run(name, func(t *testing.T) {
			v := validating()
			if err := w.Get(t.Context(), client.ObjectKeyFromObject(v), v); err != nil {
				t.Fatal(err)
			}
			v.Webhooks[1].ClientConfig.CABundle = foreign
			if err := w.Update(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			w.taken()
			visit(t, k)
			if diff := cmp.Diff([]string{"patch ValidatingWebhookConfiguration"}, w.taken()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, w.bundles(t)); diff != "" {
				t.Errorf("caBundles (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeeperCountsTheDelayAgainAfterAnOverwrite(t *testing.T) {
	w := newWorld(t, consumers()...)
	k := w.keeper()
	next := visit(t, k)
	for len(w.secret(t).Authorities) < 2 {
		w.clock.SetTime(next)
		next = visit(t, k)
	}
	w.clock.SetTime(next.Add(-time.Minute))
	c := crd()
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		t.Fatal(err)
	}
	c.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	if err := w.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, want := visit(t, k), w.clock.Now().Add(lives.Propagation); !got.Equal(want) {
		t.Errorf("looks next at %s, want %s", got, want)
	}
}

func TestKeeperWaitsForMissingObjects(t *testing.T) {
	w := newWorld(t)
	k := w.keeper()
	visit(t, k)
	if diff := cmp.Diff([]string{"create Secret"}, w.taken()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	for _, o := range consumers() {
		if err := w.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	visit(t, k)
	bundle := string(w.secret(t).Bundle())
	for _, name := range []string{"rule", "another-rule", "default", "conversion"} {
		if w.bundles(t)[name] != bundle {
			t.Errorf("%s does not carry the bundle", name)
		}
	}
}

func TestKeeperNeedsNoConversion(t *testing.T) {
	c := crd()
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	w := newWorld(t, c)
	visit(t, w.keeper())
	if diff := cmp.Diff([]string{"create Secret"}, w.taken()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestKeeperServesOnWhileTheSecretIsBroken(t *testing.T) {
	w := newWorld(t, consumers()...)
	k := w.keeper()
	visit(t, k)
	served, err := k.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: "redis-system", Name: "certificate"}, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data = map[string][]byte{corev1.TLSCertKey: []byte("garbage"), corev1.TLSPrivateKeyKey: nil}
	if err := w.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no more room")
	w.before = func(string) error { return broken }
	if _, err := k.Reconcile(t.Context(), ctrl.Request{}); !errors.Is(err, broken) {
		t.Fatalf("error is %v, want %v", err, broken)
	}
	still, err := k.GetCertificate(nil)
	if err != nil || !still.Leaf.Equal(served.Leaf) {
		t.Errorf("serves with another certificate, or none: %v", err)
	}
	w.before = func(string) error { return nil }
	visit(t, k)
	mended, err := k.GetCertificate(nil)
	if err != nil || mended.Leaf.Equal(served.Leaf) {
		t.Errorf("does not serve with the new certificate: %v", err)
	}
}

// TestKeeperRenewsWhatItCan makes sure that a consumer that must not be read
// or written does not keep the certificate from being renewed.
func TestKeeperRenewsWhatItCan(t *testing.T) {
	w := newWorld(t, consumers()...)
	k := w.keeper()
	visit(t, k)
	forbidden := errors.New("forbidden")
	w.before = func(write string) error {
		if write == "patch CustomResourceDefinition" {
			return forbidden
		}
		return nil
	}
	w.clock.SetTime(start.Add(60 * day)) // The certificate has expired, and the CA is to be rotated.
	if _, err := k.Reconcile(t.Context(), ctrl.Request{}); !errors.Is(err, forbidden) {
		t.Errorf("error is %v, want %v", err, forbidden)
	}
	if err := k.Ready(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
	m := w.secret(t)
	if issuer, _ := m.issuer(w.clock.Now(), names); issuer != 0 || len(m.Authorities) != 2 || !m.Published.IsZero() {
		t.Errorf("CA %d of %d is served with, published %s", issuer, len(m.Authorities), m.Published)
	}
	if w.bundles(t)["rule"] != string(m.Bundle()) {
		t.Error("a consumer that can be written does not carry the bundle")
	}
}

func TestStandbyWritesOnlyIfTheLeaderDoesNot(t *testing.T) {
	w := newWorld(t, consumers()...)
	standby, elected := w.keeper(), make(chan struct{})
	standby.elected = elected
	if got, want := visit(t, standby), start.Add(Patience); !got.Equal(want) {
		t.Errorf("looks next at %s, want %s", got, want)
	}
	w.clock.SetTime(start.Add(Patience - time.Second))
	visit(t, standby)
	if diff := cmp.Diff([]string(nil), w.taken()); diff != "" {
		t.Errorf("writes before its time (-want +got):\n%s", diff)
	}
	w.clock.SetTime(start.Add(Patience))
	visit(t, standby)
	if err := standby.Ready(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}

	// What it waited for once does not count for the next time.
	w.taken()
	w.clock.SetTime(start.Add(21 * day))
	visit(t, standby)
	if diff := cmp.Diff([]string(nil), w.taken()); diff != "" {
		t.Errorf("writes before its time (-want +got):\n%s", diff)
	}
	close(elected)
	visit(t, standby)
	if diff := cmp.Diff([]string{"update Secret"}, w.taken()); diff != "" {
		t.Errorf("writes when elected (-want +got):\n%s", diff)
	}
}

func TestKeepersAgree(t *testing.T) {
	w := newWorld(t, consumers()...)
	keepers := []*Keeper{w.keeper(), w.keeper(), w.keeper()}
	var all sync.WaitGroup
	for _, k := range keepers {
		all.Go(func() {
			if _, err := k.Reconcile(t.Context(), ctrl.Request{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	m := w.secret(t)
	if len(m.Authorities) != 1 {
		t.Errorf("there are %d CAs, want 1", len(m.Authorities))
	}
	for name, bundle := range w.bundles(t) {
		if ours := name == "rule" || name == "another-rule" || name == "default" || name == "conversion"; ours && bundle != string(m.Bundle()) {
			t.Errorf("%s does not carry the bundle", name)
		}
	}
	for _, k := range keepers {
		visit(t, k)
		c, err := k.GetCertificate(nil)
		if err != nil || !bytes.Equal(c.Certificate[0], m.Serving.Certificate.Raw) {
			t.Errorf("a replica serves with another certificate, or none: %v", err)
		}
	}
}

// TestKeeperLooksAgainAfterARace lets another replica be faster with each kind
// of write.
func TestKeeperLooksAgainAfterARace(t *testing.T) {
	for _, write := range []string{
		"create Secret", "patch ValidatingWebhookConfiguration", "patch MutatingWebhookConfiguration", "patch CustomResourceDefinition",
	} {
		t.Run(write, func(t *testing.T) {
			w := newWorld(t, consumers()...)
			other, lost := w.keeper(), false
			w.before = func(now string) error {
				if now == write && !lost {
					lost = true
					visit(t, other)
				}
				return nil
			}
			visit(t, w.keeper())
			m := w.secret(t)
			if !lost || len(m.Authorities) != 1 || w.bundles(t)["conversion"] != string(m.Bundle()) {
				t.Errorf("raced %t, %d CAs", lost, len(m.Authorities))
			}
		})
	}
}

// TestSlowKeeperPublishesNothingOld holds a replica up between its look and
// its write, while another one rotates the CA.
func TestSlowKeeperPublishesNothingOld(t *testing.T) {
	for _, consumer := range []client.Object{validating(), mutating(), crd()} {
		t.Run(consumer.GetName(), func(t *testing.T) {
			w := newWorld(t)
			slow, fast := w.keeper(), w.keeper()
			visit(t, slow)
			if err := w.Create(t.Context(), consumer); err != nil {
				t.Fatal(err)
			}
			held := false
			w.before = func(string) error {
				if !held {
					held = true
					w.clock.SetTime(start.Add(60 * day))
					visit(t, fast)
				}
				return nil
			}
			w.after = func(write string) error {
				read, err := readConsumers(t.Context(), w, slow.options)
				if err != nil {
					t.Fatal(err)
				}
				bundle := w.secret(t).Bundle()
				if strings.HasPrefix(write, "patch") && !carries(read[0], slow.options.service(), bundle) {
					t.Errorf("%s put an old bundle in place", write)
				}
				return nil
			}
			visit(t, slow)
			if len(w.secret(t).Authorities) != 2 {
				t.Errorf("the CA was not rotated meanwhile")
			}
		})
	}
}
