package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"

	"github.com/seatrial/seatrial/harness/history"
)

// resource is one that can be watched, in one of its versions.
type resource struct {
	schema.GroupVersionResource
	kind string
	// served are the versions that it can be watched in, where they are known.
	served []string
}

// path returns where it is listed and watched in all namespaces.
func (r resource) path() string {
	if r.Group == "" {
		return fmt.Sprintf("/api/%s/%s", r.Version, r.Resource)
	}
	return fmt.Sprintf("/apis/%s/%s/%s", r.Group, r.Version, r.Resource)
}

// definitions are the resource that defines resources.
var definitions = resource{
	GroupVersionResource: apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
	kind:                 "CustomResourceDefinition",
}

// discover returns the resources that can be listed and watched, in their
// preferred versions. Groups whose API server does not answer are left out.
func (o *Observer) discover(d discovery.DiscoveryInterface) ([]resource, error) {
	lists, err := d.ServerPreferredResources()
	var partial *discovery.ErrGroupDiscoveryFailed
	switch {
	case errors.As(err, &partial):
		for group, cause := range partial.Groups {
			o.options.Warn(fmt.Sprintf("API group %s is not watched: %v", group, cause))
		}
	case err != nil:
		return nil, fmt.Errorf("asking which resources there are: %w", err)
	}
	var found []resource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("asking which resources there are: %w", err)
		}
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") {
				found = append(found, resource{GroupVersionResource: gv.WithResource(r.Name), kind: r.Kind})
			}
		}
	}
	return found, nil
}

// defined takes up what a definition defines, once it is served, and lets go
// of it when the definition is gone.
func (o *Observer) defined(c *history.Change) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(c.Object, &crd); err != nil {
		o.options.Warn(fmt.Sprintf("what %s defines is not watched: %v", c.Name, err))
		return
	}
	r := definedBy(&crd)
	switch {
	case c.Type == history.Deleted:
		o.doom(r.GroupResource())
	case established(&crd) && len(r.served) > 0:
		o.ensure(r)
	}
}

// definedBy returns the resource that a definition defines, in the version
// that discovery prefers: the most stable, and of those the newest.
func definedBy(crd *apiextensionsv1.CustomResourceDefinition) resource {
	r := resource{kind: crd.Spec.Names.Kind}
	r.Group, r.Resource = crd.Spec.Group, crd.Spec.Names.Plural
	for _, v := range crd.Spec.Versions {
		if v.Served {
			r.served = append(r.served, v.Name)
		}
	}
	if len(r.served) > 0 {
		r.Version = slices.MaxFunc(r.served, version.CompareKubeAwareVersionStrings)
	}
	return r
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
