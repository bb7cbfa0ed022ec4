package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func encode(tb testing.TB, m Material) *corev1.Secret {
	tb.Helper()
	secret := &corev1.Secret{}
	if err := m.Encode(secret); err != nil {
		tb.Fatal(err)
	}
	return secret
}

func sameKey(a, b *ecdsa.PrivateKey) bool {
	return a == b || a != nil && b != nil && a.Equal(b)
}

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	tests := map[string]Material{
		"nothing":               {},
		"a CA and its serving":  material(t, after{Found, 0}),
		"two CAs with keys":     material(t, after{Found, 0}, after{Announce, day}),
		"two CAs, one switched": material(t, after{Found, 0}, after{Announce, day}, after{Record, day + 1}, after{Switch, 2 * day}),
	}
	for name, m := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(m, Decode(encode(t, m)), cmp.Comparer((*x509.Certificate).Equal), cmp.Comparer(sameKey)); diff != "" {
				t.Errorf("material (-written +read):\n%s", diff)
			}
		})
	}
}

func TestEncodeLeavesTheRestAlone(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"team": "redis"}, Labels: map[string]string{"a": "b"}},
		Data:       map[string][]byte{"other": []byte("kept")},
	}
	if err := material(t, after{Found, 0}, after{Record, 1}).Encode(secret); err != nil {
		t.Fatal(err)
	}
	if secret.Annotations["team"] != "redis" || secret.Labels["a"] != "b" || string(secret.Data["other"]) != "kept" {
		t.Errorf("lost what others wrote: %v %v", secret.ObjectMeta, secret.Data["other"])
	}
	if _, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err != nil {
		t.Errorf("the pair cannot be served with: %v", err)
	}
}

func TestDecodeOfWhatIsBroken(t *testing.T) {
	good, other := encode(t, material(t, after{Found, 0}, after{Announce, 0}, after{Record, 0})), encode(t, material(t, after{Found, 0}))
	tests := map[string]struct {
		spoil                 func(*corev1.Secret)
		authorities, signers  int
		hasServing, published bool
	}{
		"nothing is broken":         {func(*corev1.Secret) {}, 2, 2, true, true},
		"no data":                   {func(s *corev1.Secret) { s.Data = nil }, 0, 0, false, false},
		"garbage for the bundle":    {func(s *corev1.Secret) { s.Data[KeyAuthorities] = []byte("garbage") }, 0, 0, true, false},
		"garbage for the CAs' keys": {func(s *corev1.Secret) { s.Data[KeyAuthorityKeys] = []byte("garbage") }, 2, 0, true, true},
		"garbage before the bundle": {func(s *corev1.Secret) {
			s.Data[KeyAuthorities] = append([]byte("# ours\n"), s.Data[KeyAuthorities]...)
		}, 2, 2, true, true},
		"the bundle twice": {func(s *corev1.Secret) {
			s.Data[KeyAuthorities] = append(bytes.Clone(s.Data[KeyAuthorities]), s.Data[KeyAuthorities]...)
		}, 2, 2, true, true},
		"a strange CA in the bundle": {func(s *corev1.Secret) {
			s.Data[KeyAuthorities] = append(bytes.Clone(s.Data[KeyAuthorities]), other.Data[KeyAuthorities]...)
		}, 3, 2, true, false},
		"a certificate that is no CA in the bundle": {func(s *corev1.Secret) {
			s.Data[KeyAuthorities] = append(bytes.Clone(s.Data[KeyAuthorities]), s.Data[corev1.TLSCertKey]...)
		}, 2, 2, true, true},
		"a broken certificate in the bundle": {func(s *corev1.Secret) {
			s.Data[KeyAuthorities] = append(bytes.Clone(s.Data[KeyAuthorities]), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"...)
		}, 2, 2, true, true},
		"the key of another certificate": {func(s *corev1.Secret) {
			s.Data[corev1.TLSPrivateKeyKey] = other.Data[corev1.TLSPrivateKeyKey]
		}, 2, 2, false, true},
		"garbage for the certificate": {func(s *corev1.Secret) { s.Data[corev1.TLSCertKey] = []byte("garbage") }, 2, 2, false, true},
		"garbage for the time":        {func(s *corev1.Secret) { s.Annotations[AnnotationPublished] = "soon" }, 2, 2, true, false},
		"a time for another bundle":   {func(s *corev1.Secret) { s.Annotations[AnnotationPublishedBundle] = "0" }, 2, 2, true, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			secret := good.DeepCopy()
			tc.spoil(secret)
			m := Decode(secret)
			signers := 0
			for _, a := range m.Authorities {
				if a.Key != nil {
					signers++
				}
			}
			if len(m.Authorities) != tc.authorities || signers != tc.signers || m.Serving != nil != tc.hasServing || m.Published.IsZero() == tc.published {
				t.Errorf("read %d CAs, %d of which can sign, serving %t, published %s", len(m.Authorities), signers, m.Serving != nil, m.Published)
			}
		})
	}
}

// FuzzDecode makes sure that whatever is in the Secret can be read, decided on
// and put right. Keys are made at random, so the fuzzer's minimizing finds no
// end: run it with -fuzzminimizetime=1x.
func FuzzDecode(f *testing.F) {
	founded := material(f, after{Found, 0})
	for _, m := range []Material{{}, founded, material(f, after{Found, 0}, after{Announce, day}, after{Record, day})} {
		s := encode(f, m)
		f.Add(s.Data[KeyAuthorities], s.Data[KeyAuthorityKeys], s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey],
			s.Annotations[AnnotationPublished], s.Annotations[AnnotationPublishedBundle])
	}
	f.Fuzz(func(t *testing.T, ca, caKey, chain, key []byte, published, bundle string) {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationPublished: published, AnnotationPublishedBundle: bundle}},
			Data:       map[string][]byte{KeyAuthorities: ca, KeyAuthorityKeys: caKey, corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key},
		}
		m := Decode(secret)
		again := encode(t, m)
		if diff := cmp.Diff(again, encode(t, Decode(again))); diff != "" {
			t.Errorf("what was written is read as something else (-written +read):\n%s", diff)
		}
		if settled, ok := settle(t, start.Add(2*day), m); !ok {
			t.Errorf("never settled, last with %d CAs", len(settled.Authorities))
		}
	})
}
