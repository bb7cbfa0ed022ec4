package topology

import (
	"cmp"
	"slices"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// holders are the nodes that are to own the slots, by ordinal: owners that stay
// first, those with most slots, then primaries without slots.
func (j *judge) holders() []*node {
	var owners, fresh []*node
	draining := j.draining()
	for _, n := range j.live {
		switch {
		case !j.stays(n) || n == draining:
		case j.counts[n.id] > 0:
			owners = append(owners, n)
		case j.empty(n) && !j.outdatedWhileDraining(n):
			fresh = append(fresh, n)
		}
	}
	slices.SortStableFunc(owners, func(a, b *node) int { return cmp.Compare(j.counts[b.id], j.counts[a.id]) })
	holders := slices.Concat(owners, fresh)
	holders = holders[:min(len(holders), j.Wanted.Shards)]
	slices.SortFunc(holders, func(a, b *node) int { return a.Ordinal - b.Ordinal })
	return holders
}

// shares is how many slots each holder is to own. Where they cannot be equal,
// who has more keeps one more.
func (j *judge) shares(holders []*node) map[string]int {
	shares := map[string]int{}
	if len(holders) == 0 {
		return shares
	}
	most := slices.Clone(holders)
	slices.SortStableFunc(most, func(a, b *node) int { return cmp.Compare(j.counts[b.id], j.counts[a.id]) })
	for i, n := range most {
		shares[n.id] = redis.Slots / len(holders)
		if i < redis.Slots%len(holders) {
			shares[n.id]++
		}
	}
	return shares
}

// surplus is how many slots are still to be moved.
func (j *judge) surplus() int {
	shares := j.shares(j.holders())
	surplus := 0
	for _, id := range j.owners {
		surplus += max(0, j.counts[id]-shares[id])
	}
	return surplus
}

// balance moves slots from nodes that have too many to those that have too few.
// No node is in two moves at a time.
func (j *judge) balance() bool {
	holders := j.holders()
	shares := j.shares(holders)
	var givers, takers []*node
	for _, n := range j.live {
		if j.counts[n.id] > shares[n.id] {
			givers = append(givers, n)
		}
	}
	for _, n := range holders {
		if j.counts[n.id] < shares[n.id] {
			takers = append(takers, n)
		}
	}
	pairs := min(len(givers), len(takers))
	if pairs == 0 {
		return true
	}
	slices.SortStableFunc(givers, func(a, b *node) int {
		return cmp.Compare(j.counts[b.id]-shares[b.id], j.counts[a.id]-shares[a.id])
	})
	for i := range pairs {
		from, to := givers[i], takers[i]
		n := min(j.counts[from.id]-shares[from.id], shares[to.id]-j.counts[to.id], max(1, j.Wanted.SlotsPerStep/pairs))
		owned := j.slots(from.id)
		j.step(j.move(from, to, owned[len(owned)-n:]))
	}
	return false
}
