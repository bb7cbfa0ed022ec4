package topology

import (
	"fmt"
	"slices"
	"strings"
)

// update brings pods to the current revision. It is reached only when nothing
// else is to be done: all nodes agree, no slot is open, every replica is in
// sync.
func (j *judge) update() bool {
	outdated := slices.DeleteFunc(slices.Clone(j.View.Pods), func(p Pod) bool { return p.Updated || p.Terminating })
	if len(outdated) == 0 || j.Wanted.Strategy == OnDelete {
		return true
	}
	if j.Wanted.Strategy == Recreate {
		for _, p := range outdated {
			j.step(Step{Kind: DeletePod, Pod: p.Name, PodUID: p.UID})
		}
		return false
	}
	if !j.restReady() {
		return false
	}
	for _, id := range j.owners {
		primary := j.byID[id]
		if primary == nil {
			continue
		}
		if done := j.updateShard(primary); done {
			return false
		}
	}
	return j.updateEmpty()
}

// restReady waits until every pod is ready, so that no two are away at a time.
func (j *judge) restReady() bool {
	if len(j.dark) > 0 {
		return j.wait(ReasonPodsNotReached, "Not reached: "+strings.Join(j.dark, ", ")+".")
	}
	for _, p := range j.View.Pods {
		if p.Failing && p.Updated {
			return j.block(ReasonUpdateStuck, p.Name+" cannot start on the new revision; the others keep the old one.")
		}
		if !p.Ready || p.Terminating {
			return j.wait(ReasonPodsNotReady, p.Name+" is not ready.")
		}
	}
	return true
}

// updateShard takes the next step in one shard, and reports whether there was
// one: replicas first, then the primary, after one of them has taken over.
func (j *judge) updateShard(primary *node) bool {
	replicas := j.replicasOf(primary.id)
	for _, r := range replicas {
		if !r.Updated {
			j.replace(r)
			return true
		}
	}
	if primary.Updated {
		return false
	}
	if len(replicas) > 0 {
		best := slices.MaxFunc(replicas, func(a, b *node) int {
			return int(a.Redis.Replication.Offset - b.Redis.Replication.Offset)
		})
		j.step(Step{Kind: Failover, Pod: best.Name, PodUID: best.UID, Peer: primary.Name, ID: primary.id})
		return true
	}
	if j.drains() {
		// It is emptied by balance, and replaced as an empty node.
		return false
	}
	if j.Wanted.Persistent || j.Wanted.Unsafe == AllowDataLoss {
		j.replace(primary)
		return true
	}
	j.block(ReasonUnsafeShard, fmt.Sprintf(
		"%s holds the only copy of its data, which would go with its pod. Add replicas, or choose another unsafeShardPolicy.", primary.Name))
	return true
}

// updateEmpty replaces nodes that own nothing, such as one that was drained.
func (j *judge) updateEmpty() bool {
	for _, n := range j.live {
		if !n.Updated && j.counts[n.id] == 0 && n.self.Primary {
			j.replace(n)
			return false
		}
	}
	return true
}

func (j *judge) replace(n *node) { j.step(Step{Kind: DeletePod, Pod: n.Name, PodUID: n.UID}) }

// drains reports whether nodes are to be emptied before their pods are replaced.
func (j *judge) drains() bool {
	return j.Wanted.Strategy == RollingUpdate && j.Wanted.Unsafe == Drain &&
		!j.Wanted.Persistent && j.Wanted.ReplicasPerShard == 0 && j.Wanted.Shards > 1
}

// draining is the node that is emptied now: of the outdated ones that which has
// the fewest slots, so that one that has begun is finished.
func (j *judge) draining() *node {
	if !j.drains() {
		return nil
	}
	var least *node
	for _, n := range j.live {
		if n.Updated || j.counts[n.id] == 0 || !j.stays(n) {
			continue
		}
		if least == nil || j.counts[n.id] < j.counts[least.id] {
			least = n
		}
	}
	if least != nil && slices.ContainsFunc(j.live, j.outdatedWhileDraining) {
		// One is empty already, and is replaced before the next is emptied.
		return nil
	}
	return least
}

// outdatedWhileDraining reports whether the node has been emptied to be
// replaced, and must not be filled again before.
func (j *judge) outdatedWhileDraining(n *node) bool {
	return j.drains() && !n.Updated && j.counts[n.id] == 0
}
