package spoke

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Hub returns the hub as a RedisCluster. Conversion gets no other kind unless
// the caller mixes kinds up.
func Hub(hub conversion.Hub) (*redisv1.RedisCluster, error) {
	cluster, ok := hub.(*redisv1.RedisCluster)
	if !ok {
		return nil, fmt.Errorf("converting a RedisCluster to or from a %T", hub)
	}
	return cluster, nil
}
