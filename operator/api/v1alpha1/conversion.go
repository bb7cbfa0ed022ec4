package v1alpha1

import (
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/seatrial/seatrial/operator/api/internal/lens"
	"github.com/seatrial/seatrial/operator/api/internal/spoke"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

const annotationResidue = redisv1.AnnotationResidue + "v1alpha1"

// ConvertTo converts to v1. It never fails for a RedisCluster, however odd: an
// error would keep every client from listing the whole kind. It changes nothing
// of the metadata but annotations.
func (c *RedisCluster) ConvertTo(hub conversion.Hub) error {
	dst, err := spoke.Hub(hub)
	if err != nil {
		return err
	}
	*dst = redisv1.RedisCluster{TypeMeta: dst.TypeMeta}
	c.ObjectMeta.DeepCopyInto(&dst.ObjectMeta)
	kept, annotations := lens.Detach(dst.Annotations, redisv1.AnnotationConversionData)
	spelled := converter().Lift(c.DeepCopy(), dst, kept)
	dst.Annotations = lens.Attach(annotations, annotationResidue, spelled)
	return nil
}

// ConvertFrom converts from v1. It never fails for a RedisCluster, and changes
// nothing of the metadata but annotations.
func (c *RedisCluster) ConvertFrom(hub conversion.Hub) error {
	src, err := spoke.Hub(hub)
	if err != nil {
		return err
	}
	*c = RedisCluster{TypeMeta: c.TypeMeta}
	src.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	spelled, annotations := lens.Detach(c.Annotations, annotationResidue)
	kept := converter().Project(src.DeepCopy(), c, spelled)
	c.Annotations = lens.Attach(annotations, redisv1.AnnotationConversionData, kept)
	return nil
}

type (
	group = lens.Group[RedisCluster, redisv1.RedisCluster]
	hub   = redisv1.RedisCluster
)

func converter() lens.Converter[RedisCluster, redisv1.RedisCluster] {
	return lens.Converter[RedisCluster, redisv1.RedisCluster]{
		Sections: []lens.Section[RedisCluster, redisv1.RedisCluster]{
			{
				SpokeAbsent: func(c *RedisCluster) bool { return reflect.ValueOf(c.Spec).IsZero() },
				HubAbsent:   func(c *hub) bool { return reflect.ValueOf(c.Spec).IsZero() },
				Groups: []group{
					topologyGroup(), imageGroup(), settingsGroup(), storageGroup(), authGroup(), timeoutGroup(),
					updateGroup(), affinityGroup(), placementGroup(), backupGroup(), resourcesGroup(), behaviourGroup(),
				},
			},
			{
				SpokeAbsent: func(c *RedisCluster) bool { return reflect.ValueOf(c.Status).IsZero() },
				HubAbsent:   func(c *hub) bool { return reflect.ValueOf(c.Status).IsZero() },
				Groups: []group{
					conditionsGroup(), phaseGroup(), countsGroup(), nodesGroup(), lastBackupGroup(), progressGroup(),
				},
			},
		},
	}
}
