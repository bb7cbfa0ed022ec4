package topology

import (
	"fmt"
	"slices"
	"strings"
)

// strangersData stops where a node holds keys that no cluster of ours knows of:
// taking it in would delete them.
func (j *judge) strangersData() bool {
	for _, n := range j.live {
		if n.isolated() && n.Redis.Keys > 0 && len(n.self.Ranges) == 0 {
			return j.block(ReasonForeignKeys, fmt.Sprintf(
				"%s holds %d keys and belongs to no Redis Cluster. Remove the keys to let it in.", n.Name, n.Redis.Keys))
		}
	}
	return true
}

// meet introduces nodes that do not know each other, or do not reach each other
// where they are now. It comes before everything else: a node that has come
// back with another address heals so, and must not be forgotten.
func (j *judge) meet() bool {
	if len(j.owners) == 0 && len(j.dark) > 0 {
		return j.wait(ReasonPodsNotReached, "A Redis Cluster is formed of all its nodes; not reached: "+strings.Join(j.dark, ", ")+".")
	}
	seed := j.seed()
	if seed == nil {
		return j.wait(ReasonPodsNotReached, "No Redis node is reached.")
	}
	epoch := j.highestEpoch()
	joining := j.joining()
	for _, n := range joining {
		if n.isolated() && n.self.ConfigEpoch == 0 && n.Redis.CurrentEpoch == 0 {
			epoch++
			j.step(Step{Kind: SetConfigEpoch, Pod: n.Name, PodUID: n.UID, Epoch: epoch})
		}
	}
	for _, n := range joining {
		if n != seed && !n.linked(seed) && !seed.linked(n) {
			j.introduce(n, seed)
		}
	}
	for i, a := range joining {
		for _, b := range joining[i+1:] {
			_, knows := a.sees(b.id)
			if a != seed && b != seed && knows && !a.linked(b) && !b.linked(a) {
				j.introduce(a, b)
			}
		}
	}
	return len(j.Steps) == 0
}

func (j *judge) introduce(n, to *node) {
	j.step(Step{Kind: Meet, Pod: n.Name, PodUID: n.UID, Peer: to.Name, Address: addressOf(to)})
}

// seed is the node that all others are introduced to.
func (j *judge) seed() *node {
	for _, id := range j.owners {
		if n := j.byID[id]; n != nil {
			return n
		}
	}
	if members := j.members(); len(members) > 0 {
		return members[0]
	}
	if len(j.live) > 0 {
		return j.live[0]
	}
	return nil
}

// joining are the nodes that are, or are to be, part of the cluster. A node
// that is about to leave, and is part of nothing, is left alone.
func (j *judge) joining() []*node {
	return slices.DeleteFunc(slices.Clone(j.live), func(n *node) bool {
		return n.Terminating || !j.stays(n) && n.isolated()
	})
}

func (j *judge) highestEpoch() int64 {
	var highest int64
	for _, n := range j.live {
		highest = max(highest, n.Redis.CurrentEpoch)
		for _, o := range n.Redis.Nodes {
			highest = max(highest, o.ConfigEpoch)
		}
	}
	return highest
}

// agreement waits until all nodes know all others, and believe the same.
func (j *judge) agreement() bool {
	joining := j.joining()
	for _, a := range joining {
		for _, b := range joining {
			if a != b && !a.linked(b) {
				return j.wait(ReasonMeeting, fmt.Sprintf("%s has no connection to %s yet.", a.Name, b.Name))
			}
		}
	}
	if !j.agree() {
		return j.wait(ReasonAgreeing, "The Redis nodes do not agree yet on who owns which slot.")
	}
	return true
}

// unownedSlots gives slots that nobody owns to nodes that own none: all slots
// to all primaries where a cluster is formed, and what is left of it where that
// was cut off.
func (j *judge) unownedSlots() bool {
	slots := j.slots("")
	if len(slots) == 0 {
		return true
	}
	if len(j.dark) > 0 {
		return j.wait(ReasonPodsNotReached, "Slots without owner are given away when all nodes are reached; not reached: "+strings.Join(j.dark, ", ")+".")
	}
	takers := j.takers()
	if len(takers) == 0 {
		return j.wait(ReasonPodsNotReached, "No node can take the slots that nobody owns.")
	}
	for i, n := range takers {
		share := slots[i*len(slots)/len(takers) : (i+1)*len(slots)/len(takers)]
		if len(share) > 0 {
			j.step(Step{Kind: AddSlots, Pod: n.Name, PodUID: n.UID, Ranges: rangesOf(share)})
		}
	}
	return false
}

// takers are the nodes that get slots which nobody owns: primaries without
// slots, as many as shards are missing, or else all owners.
func (j *judge) takers() []*node {
	lacking := j.Wanted.Shards - len(j.owners)
	var takers, owners []*node
	for _, n := range j.live {
		switch {
		case !j.stays(n):
		case j.empty(n) && len(takers) < lacking:
			takers = append(takers, n)
		case j.counts[n.id] > 0:
			owners = append(owners, n)
		}
	}
	if len(takers) == 0 {
		return owners
	}
	return takers
}
