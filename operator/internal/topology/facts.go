package topology

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

func itoa(i int) string { return strconv.Itoa(i) }

// names lists the pods of nodes for a sentence.
func names(nodes []*node) string {
	list := make([]string, 0, len(nodes))
	for _, n := range nodes {
		list = append(list, n.Name)
	}
	return strings.Join(list, ", ")
}

// signature is the slots and the roles of the live nodes, as one node believes
// them. The members agree where their signatures are equal. Nodes that are gone
// are left out: a node that joined later never hears of what they owned.
func (c *cluster) signature(n *node) string {
	var lines []string
	for _, o := range n.Redis.Nodes {
		if len(o.Ranges) > 0 && c.byID[o.ID] != nil {
			lines = append(lines, o.ID+" owns "+rangesText(sorted(o.Ranges)))
		}
		if c.byID[o.ID] != nil && !o.Primary {
			lines = append(lines, o.ID+" replicates "+o.PrimaryID)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func sorted(ranges []redis.Range) []redis.Range {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b redis.Range) int { return a.First - b.First })
	return ranges
}

// agree reports whether all members believe the same of slots and roles.
func (c *cluster) agree() bool {
	members := c.members()
	for _, n := range members {
		if c.signature(n) != c.signature(members[0]) {
			return false
		}
	}
	return true
}

func (c *cluster) facts() Facts {
	f := Facts{Formed: len(c.owners) > 0 && len(c.slots("")) == 0 && c.agree()}
	serving, reached := 0, true
	for i, id := range c.owners {
		f.Shards = append(f.Shards, c.shard(i, id))
		n := c.byID[id]
		reached = reached && n != nil
		if n != nil && n.Redis.OK {
			serving++
		}
	}
	f.Available = reached && len(c.owners) > 0 && len(c.slots("")) == 0 && serving > len(c.owners)/2
	for _, p := range c.Pods {
		if p.Updated {
			f.Updated++
		}
	}
	return f
}

func (c *cluster) shard(index int, id string) Shard {
	s := Shard{Index: index, Primary: Member{ID: id, InSync: true}, Ranges: rangesOf(c.slots(id))}
	if n := c.byID[id]; n != nil {
		s.Primary.Pod = n.Name
	}
	for _, r := range c.replicasOf(id) {
		s.Replicas = append(s.Replicas, Member{Pod: r.Name, ID: r.id, InSync: r.inSync()})
	}
	return s
}
