package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// Slim is a transform for the cache. Strangers' objects are watched only for
// their names, so it keeps no more of them than who they are and who owns
// them: memory grows with the RedisClusters, not with what else is there.
func Slim(o any) (any, error) {
	object, ok := o.(client.Object)
	if !ok || mayBelong(object) {
		return o, nil
	}
	identity := metav1.ObjectMeta{
		Namespace:         object.GetNamespace(),
		Name:              object.GetName(),
		UID:               object.GetUID(),
		ResourceVersion:   object.GetResourceVersion(),
		DeletionTimestamp: object.GetDeletionTimestamp(),
		OwnerReferences:   object.GetOwnerReferences(),
	}
	switch o.(type) {
	case *corev1.Service:
		return &corev1.Service{ObjectMeta: identity}, nil
	case *corev1.ConfigMap:
		return &corev1.ConfigMap{ObjectMeta: identity}, nil
	case *appsv1.StatefulSet:
		return &appsv1.StatefulSet{ObjectMeta: identity}, nil
	case *policyv1.PodDisruptionBudget:
		return &policyv1.PodDisruptionBudget{ObjectMeta: identity}, nil
	default:
		return o, nil
	}
}

func mayBelong(o client.Object) bool {
	if controller := metav1.GetControllerOf(o); controller != nil {
		return controller.Kind == redisv1.Kind
	}
	_, labelled := o.GetLabels()[resource.LabelClusterUID]
	return labelled
}
