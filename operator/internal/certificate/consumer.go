package certificate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// consumers returns an empty object, with its name, for everything that is to
// carry the bundle.
func (o Options) consumers() []client.Object {
	var objects []client.Object
	for _, name := range o.Validating {
		c := &admissionv1.ValidatingWebhookConfiguration{}
		c.Name = name
		objects = append(objects, c)
	}
	for _, name := range o.Mutating {
		c := &admissionv1.MutatingWebhookConfiguration{}
		c.Name = name
		objects = append(objects, c)
	}
	for _, name := range o.CRDs {
		c := &apiextensionsv1.CustomResourceDefinition{}
		c.Name = name
		objects = append(objects, c)
	}
	return objects
}

// readConsumers reads those consumers that there are. One that is missing is
// no error: nobody trusts anything by it, and its creation is watched for.
func readConsumers(ctx context.Context, reader client.Reader, o Options) ([]client.Object, error) {
	var found []client.Object
	var failures []error
	for _, consumer := range o.consumers() {
		switch err := reader.Get(ctx, client.ObjectKeyFromObject(consumer), consumer); {
		case err == nil:
			found = append(found, consumer)
		case !apierrors.IsNotFound(err):
			failures = append(failures, fmt.Errorf("reading %T %s: %w", consumer, consumer.GetName(), err))
		}
	}
	return found, errors.Join(failures...)
}

// caBundles returns the caBundle fields of those webhooks of a consumer that
// call the Service.
func caBundles(consumer client.Object, service types.NamespacedName) []*[]byte {
	var fields []*[]byte
	switch c := consumer.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range c.Webhooks {
			fields = append(fields, admissionBundle(&c.Webhooks[i].ClientConfig, service)...)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range c.Webhooks {
			fields = append(fields, admissionBundle(&c.Webhooks[i].ClientConfig, service)...)
		}
	case *apiextensionsv1.CustomResourceDefinition:
		fields = conversionBundle(conversionOf(c), service)
	}
	return fields
}

func admissionBundle(c *admissionv1.WebhookClientConfig, service types.NamespacedName) []*[]byte {
	if c.Service == nil || c.Service.Namespace != service.Namespace || c.Service.Name != service.Name {
		return nil
	}
	return []*[]byte{&c.CABundle}
}

func conversionBundle(c *apiextensionsv1.WebhookClientConfig, service types.NamespacedName) []*[]byte {
	if c == nil || c.Service == nil || c.Service.Namespace != service.Namespace || c.Service.Name != service.Name {
		return nil
	}
	return []*[]byte{&c.CABundle}
}

func conversionOf(c *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.WebhookClientConfig {
	if c.Spec.Conversion == nil || c.Spec.Conversion.Webhook == nil {
		return nil
	}
	return c.Spec.Conversion.Webhook.ClientConfig
}

// carries reports whether a consumer carries the bundle wherever it should.
func carries(consumer client.Object, service types.NamespacedName, bundle []byte) bool {
	for _, field := range caBundles(consumer, service) {
		if !bytes.Equal(*field, bundle) {
			return false
		}
	}
	return true
}

// publish puts the bundle into a consumer, and changes nothing else in it. It
// fails if the consumer is not as it was when it was read.
func publish(ctx context.Context, writer client.Writer, consumer client.Object, service types.NamespacedName, bundle []byte) error {
	base, ok := consumer.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object when copied", consumer)
	}
	for _, field := range caBundles(consumer, service) {
		*field = bundle
	}
	// Webhooks are merged by name. A CRD knows no such merging, and has no list
	// on the way to the field.
	patch := client.StrategicMergeFrom(base, client.MergeFromWithOptimisticLock{})
	if _, crd := consumer.(*apiextensionsv1.CustomResourceDefinition); crd {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	if err := writer.Patch(ctx, consumer, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("putting the CA bundle into %T %s: %w", consumer, consumer.GetName(), err)
	}
	return nil
}
