package resource

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// ClaimSize is the size that spec asks for of each volume.
func ClaimSize(c *redisv1.RedisCluster) resource.Quantity {
	if p := c.Spec.Storage.Persistent; p != nil && !p.Size.IsZero() {
		return p.Size
	}
	return resource.MustParse(redisv1.DefaultStorageSize)
}

// ClaimName is the name of the claim that the StatefulSet makes for a pod.
func ClaimName(pod string) string { return volumeData + "-" + pod }

// emptyData is the volume for data where it goes with its pod.
func emptyData(c *redisv1.RedisCluster) []*corev1ac.VolumeApplyConfiguration {
	if c.Spec.Storage.IsPersistent() {
		return nil
	}
	return []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName(volumeData).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
	}
}

// claims is the template of the volumes. What cannot be changed in a live
// StatefulSet is left as it is there: claims grow one by one, and those that
// are made later grow after they were made.
func claims(t Target) []*corev1ac.PersistentVolumeClaimApplyConfiguration {
	if !t.Cluster.Spec.Storage.IsPersistent() {
		return nil
	}
	size, class := ClaimSize(t.Cluster), className(t.Cluster)
	if t.Claim != nil {
		size, class = t.Claim.Spec.Resources.Requests[corev1.ResourceStorage], t.Claim.Spec.StorageClassName
	}
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: size}))
	if class != nil {
		spec.WithStorageClassName(*class)
	}
	claim := corev1ac.PersistentVolumeClaim(volumeData, "").WithLabels(podLabels(t.Cluster)).WithSpec(spec)
	claim.Namespace = nil
	return []*corev1ac.PersistentVolumeClaimApplyConfiguration{claim}
}

// claimPolicy says what Kubernetes does with claims that no pod needs any more.
func claimPolicy(c *redisv1.RedisCluster) *appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicyApplyConfiguration {
	return appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
		WithWhenDeleted(appsv1.PersistentVolumeClaimRetentionPolicyType(c.Spec.WhenDeletedPolicy())).
		WithWhenScaled(appsv1.PersistentVolumeClaimRetentionPolicyType(c.Spec.Storage.WhenScaledPolicy()))
}

func className(c *redisv1.RedisCluster) *string {
	if c.Spec.Storage.Persistent == nil {
		return nil
	}
	return c.Spec.Storage.Persistent.ClassName
}
