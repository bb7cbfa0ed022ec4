package spoke

import (
	"cmp"
	"slices"
	"strings"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// ShardsByPod builds shard statuses from what older versions say of each pod.
type ShardsByPod map[string]*redisv1.ShardStatus

// AddPrimary adds a shard whose slots are written as redisv1.FormatSlots does. Slots
// that cannot be read count as none.
func (s ShardsByPod) AddPrimary(node redisv1.ShardNode, slots string) {
	ranges, err := redisv1.ParseSlots(slots)
	if err != nil {
		ranges = nil
	}
	s[node.PodName] = &redisv1.ShardStatus{Primary: node, SlotRanges: ranges}
}

// AddReplica adds a replica to the shard of a pod that was added before. A
// replica of nobody that is known is left out.
func (s ShardsByPod) AddReplica(node redisv1.ShardNode, follows string) {
	if shard, found := s[follows]; found {
		shard.Replicas = append(shard.Replicas, redisv1.ShardReplica{ShardNode: node})
	}
}

// Statuses are the shards by their first slot, those without slots last.
func (s ShardsByPod) Statuses() []redisv1.ShardStatus {
	var statuses []redisv1.ShardStatus
	for _, shard := range s {
		slices.SortFunc(shard.Replicas, func(a, b redisv1.ShardReplica) int { return strings.Compare(a.PodName, b.PodName) })
		statuses = append(statuses, *shard)
	}
	slices.SortFunc(statuses, func(a, b redisv1.ShardStatus) int {
		return cmp.Or(cmp.Compare(firstSlot(a), firstSlot(b)), strings.Compare(a.Primary.PodName, b.Primary.PodName))
	})
	for i := range statuses {
		statuses[i].Index = int32(i)
	}
	return statuses
}

func firstSlot(s redisv1.ShardStatus) int32 {
	if len(s.SlotRanges) == 0 {
		return redisv1.Slots
	}
	return s.SlotRanges[0].Start
}
