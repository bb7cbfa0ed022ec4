package install

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/manifest"
)

// WebhookServer is where the subject serves its webhooks during a trial.
type WebhookServer struct {
	// Host and port, such as "127.0.0.1:9443".
	Address string
	// CA is the PEM certificate that signs the serving certificate.
	CA []byte
}

// Redirect returns the objects with every webhook that names a Service pointed
// at the server: in webhook configurations and in the conversion of CRDs.
func (s WebhookServer) Redirect(objects []manifest.Object) ([]manifest.Object, error) {
	redirected := make([]manifest.Object, 0, len(objects))
	for _, o := range objects {
		copied := manifest.Object{Unstructured: o.DeepCopy(), Source: o.Source}
		if err := s.redirect(copied); err != nil {
			return nil, fmt.Errorf("%s: pointing the webhooks of %s %q at the trial: %w", o.Source, o.GetKind(), o.GetName(), err)
		}
		redirected = append(redirected, copied)
	}
	return redirected, nil
}

// IsWebhookConfiguration reports whether o registers admission webhooks.
func IsWebhookConfiguration(o manifest.Object) bool {
	return slices.Contains(webhookKinds, o.GetKind())
}

func (s WebhookServer) redirect(o manifest.Object) error {
	switch o.GetKind() {
	case "CustomResourceDefinition":
		config, found, err := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook", "clientConfig")
		if err != nil || !found {
			return err
		}
		s.rewrite(config)
		return unstructured.SetNestedMap(o.Object, config, "spec", "conversion", "webhook", "clientConfig")
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, hook := range hooks {
			if m, ok := hook.(map[string]any); ok {
				if config, ok := m["clientConfig"].(map[string]any); ok {
					s.rewrite(config)
				}
			}
		}
		return unstructured.SetNestedSlice(o.Object, hooks, "webhooks")
	default:
		return nil
	}
}

// rewrite leaves a configuration alone that already names a URL: whoever wrote
// it serves it elsewhere.
func (s WebhookServer) rewrite(config map[string]any) {
	service, ok := config["service"].(map[string]any)
	if !ok {
		return
	}
	path, _ := service["path"].(string)
	target := url.URL{Scheme: "https", Host: s.Address, Path: path}
	delete(config, "service")
	config["url"] = target.String()
	config["caBundle"] = base64.StdEncoding.EncodeToString(s.CA)
}
