package install

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/seatrial/seatrial/harness/manifest"
)

func object(t *testing.T, text string) manifest.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return manifest.Object{Unstructured: u, Source: "test"}
}

func TestRedirect(t *testing.T) {
	server := WebhookServer{Address: "127.0.0.1:9443", CA: []byte("ca")}
	tests := map[string]struct{ given, want string }{
		"an admission webhook of a Service": {
			"{kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {service: {name: s, namespace: n, path: /validate}}}]}",
			"{kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {url: 'https://127.0.0.1:9443/validate', caBundle: Y2E=}}]}",
		},
		"a conversion webhook": {
			"{kind: CustomResourceDefinition, spec: {conversion: {webhook: {clientConfig: {service: {path: /convert}}}}}}",
			"{kind: CustomResourceDefinition, spec: {conversion: {webhook: {clientConfig: {url: 'https://127.0.0.1:9443/convert', caBundle: Y2E=}}}}}",
		},
		"a webhook that names a URL stays as it is": {
			"{kind: MutatingWebhookConfiguration, webhooks: [{clientConfig: {url: 'https://elsewhere/'}}]}",
			"{kind: MutatingWebhookConfiguration, webhooks: [{clientConfig: {url: 'https://elsewhere/'}}]}",
		},
		"a CRD without conversion stays as it is": {
			"{kind: CustomResourceDefinition, spec: {group: g}}", "{kind: CustomResourceDefinition, spec: {group: g}}",
		},
		"a configuration without webhooks": {"{kind: MutatingWebhookConfiguration, webhooks: []}", "{kind: MutatingWebhookConfiguration, webhooks: []}"},
		"another kind stays as it is":      {"{kind: Service, webhooks: 1}", "{kind: Service, webhooks: 1}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			given := object(t, tc.given)
			got, err := server.Redirect([]manifest.Object{given})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(t, tc.want).Object, got[0].Object); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(object(t, tc.given).Object, given.Object); diff != "" {
				t.Errorf("the given object was changed: %s", diff)
			}
		})
	}
}

func TestWebhooksComeLastAndNamespacesFirst(t *testing.T) {
	if rank("Namespace") >= rank("ServiceAccount") || rank("ServiceAccount") >= rank("Deployment") ||
		rank("Deployment") >= rank("ValidatingWebhookConfiguration") {
		t.Error("kinds are not applied in the order of their dependence")
	}
}
