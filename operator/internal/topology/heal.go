package topology

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stuckPods replaces pods that cannot start on an old revision. Waiting would
// not help them, and the new revision may (kubernetes.io, StatefulSets, "Forced
// rollback"). A pod that may hold the only copy of data is left.
func (j *judge) stuckPods() bool {
	for _, p := range j.View.Pods {
		if !p.Failing || p.Updated || p.Redis != nil || p.Terminating || j.Wanted.Strategy == OnDelete {
			continue
		}
		if !j.Wanted.Persistent && !j.ownersReached() {
			return j.block(ReasonUnsafeShard, fmt.Sprintf(
				"%s cannot start and may hold the only copy of its data; delete the pod to give them up.", p.Name))
		}
		j.step(Step{Kind: DeletePod, Pod: p.Name, PodUID: p.UID})
		return false
	}
	return true
}

// ownersReached reports whether every node that owns slots is reached; where
// nobody owns any, nobody has data.
func (c *cluster) ownersReached() bool {
	return !slices.ContainsFunc(c.owners, func(id string) bool { return c.byID[id] == nil })
}

// lostOwners looks at nodes that own slots and are not reached.
func (j *judge) lostOwners() bool {
	if j.ownersReached() {
		return true
	}
	for _, id := range j.owners {
		if j.byID[id] == nil && !j.lost(id) {
			return false
		}
	}
	return false
}

// lost decides on one node that owns slots and is not reached.
func (j *judge) lost(id string) bool {
	if replicas := j.replicasOf(id); len(replicas) > 0 {
		reached := 0
		for _, owner := range j.owners {
			if j.byID[owner] != nil {
				reached++
			}
		}
		if reached > len(j.owners)/2 {
			return j.wait(ReasonFailingOver, fmt.Sprintf("The Redis nodes elect %s in place of a primary that is not reached.", names(replicas)))
		}
		return j.block(ReasonNoMajority, fmt.Sprintf(
			"A primary is not reached, and too few others are to elect %s in its place. It goes on when the primary is back; CLUSTER FAILOVER TAKEOVER on %s gives up writes that it does not have.",
			names(replicas), replicas[0].Name))
	}
	if len(j.dark) > 0 {
		return j.wait(ReasonPodsNotReached, "Slots are owned by a node that is not reached; not reached: "+strings.Join(j.dark, ", ")+".")
	}
	if j.Wanted.Persistent {
		return j.block(ReasonDataLost, fmt.Sprintf(
			"Node %s is gone with its volume and owned %d slots. Restore a backup, or have every node forget it to go on without its data.", id, j.counts[id]))
	}
	j.Warnings = append(j.Warnings, Reason{ReasonDataLost, fmt.Sprintf(
		"Node %s is gone and owned %d slots; its data went with its pod.", id, j.counts[id])})
	j.forgetEverywhere(id)
	return true
}

func (j *judge) forgetEverywhere(id string) {
	for _, n := range j.live {
		if _, knows := n.sees(id); knows && n.id != id {
			j.step(Step{Kind: Forget, Pod: n.Name, PodUID: n.UID, ID: id})
		}
	}
}

// forget has all nodes forget those that are gone for good: no pod of ours has
// the identity, and all pods are reached, so none can come back with it.
func (j *judge) forget() bool {
	if len(j.dark) > 0 {
		return true
	}
	gone := map[string]bool{}
	for _, n := range j.live {
		for _, o := range n.Redis.Nodes {
			if !o.Handshake && j.byID[o.ID] == nil && j.counts[o.ID] == 0 && len(j.replicasOf(o.ID)) == 0 {
				gone[o.ID] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		j.forgetEverywhere(id)
	}
	return len(j.Steps) == 0
}

// openSlots finishes moves that were cut off, before anything else is moved or
// restarted: a slot that is half moved has keys on two nodes.
func (j *judge) openSlots() bool {
	seen := map[int]bool{}
	for _, n := range j.live {
		for _, slot := range slices.Sorted(maps.Keys(n.self.Migrating)) {
			j.finish(seen, slot, n.id, n.self.Migrating[slot])
		}
		for _, slot := range slices.Sorted(maps.Keys(n.self.Importing)) {
			from := importedFrom(j.owner[slot], n.self.Importing[slot], n.id)
			j.finish(seen, slot, from, n.id)
		}
	}
	return len(seen) == 0
}

// importedFrom is where a slot is imported from: from its owner, unless that is the
// importing node itself, which then has still to close the slot.
func importedFrom(owner, importing, self string) string {
	if owner == self || owner == "" {
		return importing
	}
	return owner
}

func (j *judge) finish(seen map[int]bool, slot int, fromID, toID string) {
	if seen[slot] {
		return
	}
	seen[slot] = true
	from, to := j.byID[fromID], j.byID[toID]
	if from != nil && to != nil && from != to {
		j.step(j.move(from, to, []int{slot}))
		return
	}
	message := fmt.Sprintf("Slot %d is half moved between %s and %s, of which one is not reached.", slot, fromID, toID)
	if len(j.dark) > 0 {
		j.wait(ReasonSlotStuck, message)
		return
	}
	j.block(ReasonSlotStuck, message+" Close it by CLUSTER SETSLOT STABLE on the other.")
}

func (j *judge) move(from, to *node, slots []int) Step {
	return Step{Kind: MoveSlots, Pod: from.Name, PodUID: from.UID, Peer: to.Name, Address: addressOf(to), ID: to.id, Slots: slots}
}
