package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/seatrial/seatrial/harness/manifest"
)

// FieldManager is the name under which the harness applies objects.
const FieldManager = "seatrial"

// EstablishedWithin is how long the API server may take to serve a new CRD.
const EstablishedWithin = 20 * time.Second

// RefusedError says that the API server refused an object: the input is
// wrong, not the machine.
type RefusedError struct {
	Object manifest.Object
	Err    error
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: the API server refuses %s %q: %v", e.Object.Source, e.Object.GetKind(), e.Object.GetName(), e.Err)
}

// Unwrap returns the API server's own error.
func (e *RefusedError) Unwrap() error { return e.Err }

// Installer applies objects to one cluster.
type Installer struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
	// namespace is given to namespaced objects that name none.
	namespace string
}

// New returns an installer that puts namespaced objects without a namespace
// into the given one.
func New(config *rest.Config, namespace string) (*Installer, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to install: %w", err)
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to install: %w", err)
	}
	return &Installer{
		client:    client,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found)),
		namespace: namespace,
	}, nil
}

// order is that in which kinds depend on each other; what is not listed comes
// after, webhooks last, since they stand in the way of everything else.
var order = []string{
	"Namespace", "CustomResourceDefinition", "StorageClass", "PriorityClass", "ServiceAccount",
	"Secret", "ConfigMap", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding", "Service",
}

var webhookKinds = []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}

func rank(kind string) int {
	if slices.Contains(webhookKinds, kind) {
		return len(order) + 1
	}
	if i := slices.Index(order, kind); i >= 0 {
		return i
	}
	return len(order)
}

// CRDs applies CustomResourceDefinitions and waits until each is served.
func (i *Installer) CRDs(ctx context.Context, crds []manifest.Object) error {
	for _, crd := range crds {
		if _, err := i.Apply(ctx, crd); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, EstablishedWithin)
	defer cancel()
	for _, crd := range crds {
		if err := i.established(ctx, crd); err != nil {
			return err
		}
	}
	for _, crd := range crds {
		if err := i.discovered(ctx, crd); err != nil {
			return err
		}
	}
	return nil
}

// discoveryInterval is how often discovery is asked whether it knows a CRD.
const discoveryInterval = 50 * time.Millisecond

// discovered waits until discovery knows every served version of the CRD, which
// it does a moment after the CRD is established.
func (i *Installer) discovered(ctx context.Context, o manifest.Object) error {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return fmt.Errorf("waiting for CRD %q: %w", o.GetName(), err)
	}
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	var missing error
	err := wait.PollUntilContextCancel(ctx, discoveryInterval, true, func(context.Context) (bool, error) {
		missing = nil
		for _, version := range crd.Spec.Versions {
			if version.Served && missing == nil {
				_, missing = i.mapper.RESTMapping(kind, version.Name)
			}
		}
		if missing != nil {
			i.mapper.Reset()
		}
		return missing == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for discovery to know CRD %q: %w (%w)", o.GetName(), context.Cause(ctx), missing)
	}
	return nil
}

// All applies objects in the order in which their kinds depend on each other.
func (i *Installer) All(ctx context.Context, objects []manifest.Object) error {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b manifest.Object) int { return rank(a.GetKind()) - rank(b.GetKind()) })
	for _, o := range sorted {
		if _, err := i.Apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Apply applies one object and returns it as the API server stored it. The
// error is a *RefusedError where the API server found the object wrong.
func (i *Installer) Apply(ctx context.Context, o manifest.Object) (*unstructured.Unstructured, error) {
	resource, namespace, err := i.resource(o)
	if err != nil {
		return nil, &RefusedError{Object: o, Err: err}
	}
	u := o.DeepCopy()
	u.SetNamespace(namespace)
	var applied *unstructured.Unstructured
	if u.GetName() == "" && u.GetGenerateName() != "" {
		// Only a create makes up names.
		applied, err = resource.Create(ctx, u, metav1.CreateOptions{FieldManager: FieldManager})
	} else {
		applied, err = resource.Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	}
	switch {
	case err == nil:
		return applied, nil
	case refuses(err):
		return nil, &RefusedError{Object: o, Err: err}
	default:
		return nil, fmt.Errorf("applying %s %q: %w", o.GetKind(), o.GetName(), err)
	}
}

// Delete asks for the deletion of one object, its dependents in the
// background. An object that is not there is not an error.
func (i *Installer) Delete(ctx context.Context, o manifest.Object) error {
	resource, _, err := i.resource(o)
	if err != nil {
		return fmt.Errorf("deleting %s %q: %w", o.GetKind(), o.GetName(), err)
	}
	background := metav1.DeletePropagationBackground
	err = resource.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %s %q: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

func (i *Installer) resource(o manifest.Object) (dynamic.ResourceInterface, string, error) {
	gvk := o.GroupVersionKind()
	mapping, err := i.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, "", err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return i.client.Resource(mapping.Resource), "", nil
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = i.namespace
	}
	return i.client.Resource(mapping.Resource).Namespace(namespace), namespace, nil
}

// refuses tells an API server that finds fault with the object from one that
// cannot answer.
func refuses(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		// A field that the schema lacks, or that is of another type, is answered
		// as an internal error by server-side apply.
		strings.Contains(err.Error(), "failed to create typed patch object")
}

var crdResource = schema.GroupVersionResource{
	Group: apiextensionsv1.GroupName, Version: "v1", Resource: "customresourcedefinitions",
}

// established waits for the CRD to be served, or returns why the API server
// will not serve it.
func (i *Installer) established(ctx context.Context, o manifest.Object) error {
	events, err := i.client.Resource(crdResource).Watch(ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=" + o.GetName(),
	})
	if err != nil {
		return fmt.Errorf("waiting for CRD %q: %w", o.GetName(), err)
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for CRD %q to be established: %w", o.GetName(), context.Cause(ctx))
		case event, ok := <-events.ResultChan():
			if !ok {
				return fmt.Errorf("waiting for CRD %q to be established: the watch ended", o.GetName())
			}
			done, err := crdServed(event)
			if err != nil {
				return &RefusedError{Object: o, Err: err}
			}
			if done {
				return nil
			}
		}
	}
}

func crdServed(event watch.Event) (bool, error) {
	u, ok := event.Object.(*unstructured.Unstructured)
	if !ok || event.Type == watch.Error {
		return false, apierrors.FromObject(event.Object)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &crd); err != nil {
		return false, err
	}
	for _, c := range crd.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			return false, errors.New(c.Message)
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			return true, nil
		}
	}
	return false, nil
}
