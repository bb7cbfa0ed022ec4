package subject

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/trial"
)

const crdKind = "CustomResourceDefinition"

// resolvePrimary reads off the CRDs what they define. Objects of other kinds
// among them, such as a kustomization adds, are applied with the manifests.
func (r *Resolved) resolvePrimary() error {
	var crds []manifest.Object
	for _, o := range r.CRDs {
		if o.GetKind() != crdKind {
			r.Manifests = append(r.Manifests, o)
			continue
		}
		primary, err := primaryOf(o)
		if err != nil {
			return fmt.Errorf("%s: CRD %q: %w", o.Source, o.GetName(), err)
		}
		crds = append(crds, o)
		r.Primary = append(r.Primary, primary)
	}
	if len(crds) == 0 {
		return errors.New("spec.crds holds no CustomResourceDefinition")
	}
	r.CRDs = crds
	return nil
}

func primaryOf(o manifest.Object) (history.PrimaryResource, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return history.PrimaryResource{}, fmt.Errorf("is not one: %w", err)
	}
	p := history.PrimaryResource{
		Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Resource: crd.Spec.Names.Plural,
	}
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		p.Versions = append(p.Versions, v.Name)
		for _, f := range features(v) {
			if !slices.Contains(p.Features, f) {
				p.Features = append(p.Features, f)
			}
		}
	}
	if p.Group == "" || p.Kind == "" || p.Resource == "" {
		return p, errors.New("spec.group, spec.names.kind and spec.names.plural must be set")
	}
	if len(p.Versions) == 0 {
		return p, errors.New("serves no version")
	}
	return p, nil
}

// features reads off a version's schema which promises can be asked of it.
func features(v apiextensionsv1.CustomResourceDefinitionVersion) []trial.Feature {
	var found []trial.Feature
	if v.Subresources != nil && v.Subresources.Status != nil {
		found = append(found, trial.FeatureStatus)
	}
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return found
	}
	status := v.Schema.OpenAPIV3Schema.Properties["status"]
	if _, ok := status.Properties["observedGeneration"]; ok {
		found = append(found, trial.FeatureObservedGeneration)
	}
	if conditions, ok := status.Properties["conditions"]; ok && conditions.Type == "array" {
		found = append(found, trial.FeatureConditions)
	}
	return found
}

// Features returns what the subject has: a feature of any of its resources,
// and samples.
func (r *Resolved) Features() []trial.Feature {
	var found []trial.Feature
	for _, p := range r.Primary {
		for _, f := range p.Features {
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	if len(r.Samples) > 0 {
		found = append(found, trial.FeatureSamples)
	}
	return found
}

// checkSamples refuses a sample that the subject has nothing to do with.
// Objects of built-in kinds, such as a Secret that a sample refers to, may
// stand beside the samples as long as there is one of the subject's own.
func (r *Resolved) checkSamples() error {
	if len(r.Samples) == 0 {
		r.inferf("no samples are named: only checks that need none are judged")
		return nil
	}
	own := 0
	for _, s := range r.Samples {
		i := slices.IndexFunc(r.Primary, func(p history.PrimaryResource) bool {
			return p.Group == s.GroupVersionKind().Group && p.Kind == s.GetKind()
		})
		switch {
		case i >= 0 && !slices.Contains(r.Primary[i].Versions, s.GroupVersionKind().Version):
			return fmt.Errorf("%s: %s %q: version %s is not served by its CRD, which serves %v",
				s.Source, s.GetKind(), s.GetName(), s.GroupVersionKind().Version, r.Primary[i].Versions)
		case i >= 0:
			own++
		case !builtIn(s.GroupVersionKind().Group):
			return fmt.Errorf("%s: %s %q is not of the subject's kinds (%s)",
				s.Source, s.GroupVersionKind().GroupKind(), s.GetName(), r.kinds())
		}
	}
	if own == 0 {
		return fmt.Errorf("spec.samples holds no object of the subject's kinds (%s)", r.kinds())
	}
	return nil
}

func (r *Resolved) kinds() string {
	names := make([]string, 0, len(r.Primary))
	for _, p := range r.Primary {
		names = append(names, p.Kind+"."+p.Group)
	}
	return strings.Join(names, ", ")
}

// IsPrimary reports whether an object is of one of the subject's kinds.
func (r *Resolved) IsPrimary(group, kind string) bool {
	return slices.ContainsFunc(r.Primary, func(p history.PrimaryResource) bool {
		return p.Group == group && p.Kind == kind
	})
}
