package topology

import (
	"fmt"
	"slices"
)

// leavingPrimaries hands the slots of a primary that is to leave to a replica
// that stays, which costs a moment, where moving them costs a copy.
func (j *judge) leavingPrimaries() bool {
	for _, id := range j.owners {
		n := j.byID[id]
		if j.stays(n) || j.stayingOwners() >= j.Wanted.Shards {
			continue
		}
		for _, r := range j.replicasOf(id) {
			if !j.stays(r) {
				continue
			}
			if !r.inSync() {
				return j.wait(ReasonSyncing, fmt.Sprintf("%s is to take over from %s and does not have all its data yet.", r.Name, n.Name))
			}
			j.step(Step{Kind: Failover, Pod: r.Name, PodUID: r.UID, Peer: n.Name, ID: n.id})
			return false
		}
	}
	return true
}

func (j *judge) stayingOwners() int {
	staying := 0
	for _, id := range j.owners {
		if n := j.byID[id]; n != nil && j.stays(n) {
			staying++
		}
	}
	return staying
}

// replicas attaches nodes to shards that lack replicas, and waits until they
// have all data. It comes before slots are moved, so that no slot is ever with
// fewer copies than it had.
func (j *judge) replicas() bool {
	holders := j.holders()
	spare := j.spare(holders)
	if j.promoteSpare(holders, spare) {
		return false
	}
	for _, holder := range j.fewest(holders) {
		for missing := j.Wanted.ReplicasPerShard - len(j.stayingReplicas(holder)); missing > 0 && len(spare) > 0; missing-- {
			i := slices.IndexFunc(spare, func(n *node) bool { return n.Host == "" || n.Host != holder.Host })
			n := spare[max(i, 0)]
			spare = slices.Delete(spare, max(i, 0), max(i, 0)+1)
			j.step(Step{Kind: Replicate, Pod: n.Name, PodUID: n.UID, Peer: holder.Name, ID: holder.id})
		}
	}
	if len(j.Steps) > 0 {
		return false
	}
	for _, n := range j.live {
		if !n.self.Primary && !n.inSync() && j.counts[n.self.PrimaryID] > 0 && j.stays(n) && n.self.PrimaryID != "" {
			return j.wait(ReasonSyncing, n.Name+" does not have all data of its primary yet.")
		}
	}
	return true
}

// promoteSpare makes primaries without slots of replicas that no shard needs,
// where shards are missing, and reports whether it did. A replica becomes one
// only by a reset.
func (j *judge) promoteSpare(holders, spare []*node) bool {
	if len(j.dark) > 0 {
		return false
	}
	lacking := j.Wanted.Shards - len(holders) - j.beingDrained()
	for _, n := range spare {
		if lacking > 0 && !n.self.Primary {
			j.step(Step{Kind: Reset, Pod: n.Name, PodUID: n.UID})
			lacking--
		}
	}
	return len(j.Steps) > 0
}

// beingDrained is how many nodes are no holders for a time only.
func (j *judge) beingDrained() int {
	count := 0
	for _, n := range j.live {
		if j.stays(n) && n.self.Primary && (n == j.draining() || j.outdatedWhileDraining(n)) {
			count++
		}
	}
	return count
}

// fewest sorts shards by how few replicas they have.
func (j *judge) fewest(holders []*node) []*node {
	sorted := slices.Clone(holders)
	slices.SortStableFunc(sorted, func(a, b *node) int { return len(j.stayingReplicas(a)) - len(j.stayingReplicas(b)) })
	return sorted
}

func (j *judge) stayingReplicas(primary *node) []*node {
	return slices.DeleteFunc(j.replicasOf(primary.id), func(n *node) bool { return !j.stays(n) })
}

// spare are the nodes that stay and no shard needs where they are: primaries
// without slots, replicas of such, and replicas beyond those that are wanted.
func (j *judge) spare(holders []*node) []*node {
	var spare []*node
	for _, n := range j.live {
		if !j.stays(n) || slices.Contains(holders, n) || n == j.draining() || n.Terminating {
			continue
		}
		switch {
		case j.empty(n) && !j.outdatedWhileDraining(n):
			spare = append(spare, n)
		case !n.self.Primary && j.counts[n.self.PrimaryID] == 0 && !slices.ContainsFunc(holders, func(h *node) bool { return h.id == n.self.PrimaryID }):
			spare = append(spare, n)
		}
	}
	for _, holder := range holders {
		if replicas := j.stayingReplicas(holder); len(replicas) > j.Wanted.ReplicasPerShard {
			spare = append(spare, replicas[j.Wanted.ReplicasPerShard:]...)
		}
	}
	return spare
}

// leavingNodes takes nodes that are to leave out of the cluster, when they have
// nothing any more that others lack, and then lets their pods go.
func (j *judge) leavingNodes() bool {
	left := true
	for _, n := range j.live {
		if j.stays(n) || n.isolated() {
			continue
		}
		left = false
		switch {
		case j.counts[n.id] > 0:
			return j.wait(ReasonSlotStuck, n.Name+" is to leave and still owns slots, which nobody can take.")
		case n.self.Primary && n.Redis.Keys > 0:
			return j.block(ReasonForeignKeys, fmt.Sprintf("%s is to leave and holds %d keys of slots that it does not own.", n.Name, n.Redis.Keys))
		default:
			j.step(Step{Kind: Reset, Pod: n.Name, PodUID: n.UID})
		}
	}
	if left {
		j.Assessment.Pods = j.Wanted.Pods()
	}
	return left
}
