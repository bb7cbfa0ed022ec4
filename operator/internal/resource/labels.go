package resource

import (
	"maps"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Labels and annotations of children.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelClusterUID holds the UID of the RedisCluster. It tells a child that
	// lost its owner reference from an object that only has its name.
	LabelClusterUID = redisv1.Group + "/cluster-uid"
	// AnnotationConfigHash stands on pods and changes with the configuration
	// that they must be restarted for.
	AnnotationConfigHash = redisv1.Group + "/config-hash"
)

// selectorLabels are the labels that find a RedisCluster's pods. They can
// never change: a StatefulSet's selector is immutable.
func selectorLabels(c *redisv1.RedisCluster) map[string]string {
	return map[string]string{
		LabelName:      "redis",
		LabelInstance:  c.Name,
		LabelComponent: "node",
	}
}

// podLabels are the labels of pods. The UID is not among them, since a change
// of pod labels restarts all pods.
func podLabels(c *redisv1.RedisCluster) map[string]string {
	all := selectorLabels(c)
	all[LabelManagedBy] = FieldManager
	return all
}

func childLabels(c *redisv1.RedisCluster) map[string]string {
	all := maps.Clone(podLabels(c))
	all[LabelClusterUID] = string(c.UID)
	return all
}

// Selector is the selector of a RedisCluster's pods as one string.
func Selector(c *redisv1.RedisCluster) string {
	return labels.SelectorFromSet(selectorLabels(c)).String()
}

func selector(c *redisv1.RedisCluster) *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(selectorLabels(c))
}

// owner makes the RedisCluster the child's controller. blockOwnerDeletion lets
// a foreground deletion wait until the child is gone.
func owner(c *redisv1.RedisCluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(redisv1.GroupVersion.String()).
		WithKind(redisv1.Kind).
		WithName(c.Name).
		WithUID(c.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

func groupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}
