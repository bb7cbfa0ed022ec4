package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// +kubebuilder:webhook:path=/reattach-conversion-data,mutating=true,failurePolicy=fail,matchPolicy=Exact,groups=cache.example.com,resources=redisclusters,verbs=update,versions=v1alpha1;v1beta1,name=reattach.rediscluster.cache.example.com,sideEffects=None,admissionReviewVersions=v1,serviceName=rediscluster-webhook,serviceNamespace=redis-system,timeoutSeconds=10

// Reattacher puts the annotation back that holds what an older version of the
// API cannot show. A client that replaces an object by a manifest of its own
// drops the annotation, and one that applies a copy of last month brings an old
// one; both would take fields away from other users of the object. What the
// client did change in the older version still counts: conversion compares.
type Reattacher struct{}

// Handle implements admission.Handler.
func (Reattacher) Handle(_ context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	var before, after metav1.PartialObjectMetadata
	if err := json.Unmarshal(request.OldObject.Raw, &before); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if err := json.Unmarshal(request.Object.Raw, &after); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	return admission.Patched("", patches(before.Annotations, after.Annotations)...)
}

// patches give after the conversion data of before.
func patches(before, after map[string]string) []jsonpatch.Operation {
	const annotation = redisv1.AnnotationConversionData
	path := "/metadata/annotations/" + strings.ReplaceAll(annotation, "/", "~1")
	old, had := before[annotation]
	current, has := after[annotation]
	switch {
	case had == has && old == current:
		return nil
	case !had:
		return []jsonpatch.Operation{jsonpatch.NewOperation("remove", path, nil)}
	case after == nil:
		return []jsonpatch.Operation{
			jsonpatch.NewOperation("add", "/metadata/annotations", map[string]string{annotation: old}),
		}
	default:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", path, old)}
	}
}
