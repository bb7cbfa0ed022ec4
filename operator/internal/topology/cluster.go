package topology

import (
	"slices"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// node is a pod whose node was reached and has its data.
type node struct {
	Pod
	id   string
	self redis.Node
}

// cluster is a View put in order: who is reached, who owns what.
type cluster struct {
	View
	// live are the reached nodes, by ordinal.
	live []*node
	byID map[string]*node
	// dark are pods that ought to be there and are not reached.
	dark []string
	// owner is the ID that owns each slot, empty where nobody does.
	owner [redis.Slots]string
	// owners are the IDs that own slots, in the order of their first slot.
	owners []string
	counts map[string]int
}

func newCluster(v View) *cluster {
	c := &cluster{View: v, byID: map[string]*node{}, counts: map[string]int{}}
	c.Pods = slices.Clone(v.Pods)
	slices.SortFunc(c.Pods, func(a, b Pod) int { return a.Ordinal - b.Ordinal })
	seen := map[int]bool{}
	for _, p := range c.Pods {
		seen[p.Ordinal] = true
		n := reached(p)
		if n == nil {
			c.dark = append(c.dark, p.Name)
			continue
		}
		c.live = append(c.live, n)
		c.byID[n.id] = n
	}
	for i := range max(v.Replicas, v.Wanted.Pods()) {
		if !seen[i] {
			c.dark = append(c.dark, "the pod with ordinal "+itoa(i))
		}
	}
	c.findOwners()
	return c
}

func reached(p Pod) *node {
	if p.Redis == nil || p.Redis.Loading {
		return nil
	}
	self, ok := p.Redis.Myself()
	if !ok {
		return nil
	}
	return &node{Pod: p, id: p.Redis.ID, self: self}
}

// findOwners takes a node at its word on itself, and the others' word on those
// that are not reached. Of two that claim a slot the higher epoch has it, as in
// Redis.
func (c *cluster) findOwners() {
	var epochs [redis.Slots]int64
	claim := func(n redis.Node) {
		for _, r := range n.Ranges {
			for s := max(r.First, 0); s <= r.Last && s < redis.Slots; s++ {
				if c.owner[s] == "" || n.ConfigEpoch > epochs[s] {
					c.owner[s], epochs[s] = n.ID, n.ConfigEpoch
				}
			}
		}
	}
	for _, n := range c.live {
		claim(n.self)
	}
	for _, n := range c.live {
		for _, o := range n.Redis.Nodes {
			if c.byID[o.ID] == nil {
				claim(o)
			}
		}
	}
	for _, id := range c.owner {
		if id == "" {
			continue
		}
		if c.counts[id] == 0 {
			c.owners = append(c.owners, id)
		}
		c.counts[id]++
	}
}

// slots are those that the node owns, in order. The empty ID has those that
// nobody owns.
func (c *cluster) slots(id string) []int {
	var slots []int
	for s, o := range c.owner {
		if o == id {
			slots = append(slots, s)
		}
	}
	return slots
}

// sees is what the node believes of another one.
func (n *node) sees(id string) (redis.Node, bool) {
	for _, o := range n.Redis.Nodes {
		if o.ID == id && !o.Handshake {
			return o, true
		}
	}
	return redis.Node{}, false
}

// linked reports whether the node has a connection to another at the address
// that its pod has now.
func (n *node) linked(o *node) bool {
	seen, ok := n.sees(o.id)
	return ok && seen.Connected && !seen.NoAddress && seen.Address.Host == o.IP
}

// isolated reports whether the node knows nobody and owns nothing: it is no
// part of any cluster.
func (n *node) isolated() bool {
	return len(n.self.Ranges) == 0 && !slices.ContainsFunc(n.Redis.Nodes, func(o redis.Node) bool {
		return !o.Myself && !o.Handshake
	})
}

// empty reports whether the node is a primary that holds and owns nothing.
func (c *cluster) empty(n *node) bool {
	return n.self.Primary && c.counts[n.id] == 0 && n.Redis.Keys == 0
}

// inSync reports whether the node is a replica that has its primary's data.
func (n *node) inSync() bool {
	r := n.Redis.Replication
	return !n.self.Primary && !r.Primary && r.LinkUp && !r.Syncing
}

// stays reports whether the pod is one of those that are wanted.
func (c *cluster) stays(n *node) bool { return n.Ordinal < c.Wanted.Pods() }

// replicasOf are the live replicas of a node, by ordinal.
func (c *cluster) replicasOf(id string) []*node {
	var found []*node
	for _, n := range c.live {
		if !n.self.Primary && n.self.PrimaryID == id {
			found = append(found, n)
		}
	}
	return found
}

// members are the live nodes that belong to a cluster already.
func (c *cluster) members() []*node {
	return slices.DeleteFunc(slices.Clone(c.live), (*node).isolated)
}
