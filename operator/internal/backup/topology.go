package backup

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// ErrIncomplete is a Redis Cluster that does not have all its data in order.
var ErrIncomplete = errors.New("the Redis Cluster is not whole")

// shard is a primary that owns slots, and its replicas.
type shard struct {
	primary  redis.Node
	replicas []redis.Node
}

// slots writes the ranges of the shard as Redis does.
func (s shard) slots() string { return formatRanges(s.primary.Ranges) }

// file is the name of the shard's file.
func (s shard) file() string { return fmt.Sprintf("shard-%d.rdb", s.primary.Ranges[0].First) }

func formatRanges(ranges []redis.Range) string {
	parts := make([]string, 0, len(ranges))
	for _, r := range ranges {
		if r.First == r.Last {
			parts = append(parts, strconv.Itoa(r.First))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", r.First, r.Last))
	}
	return strings.Join(parts, ",")
}

func addressOf(n redis.Node) string {
	return net.JoinHostPort(n.Address.Host, strconv.Itoa(n.Address.Port))
}

// shardsOf groups what one node knows by the owners of slots, first slot first.
func shardsOf(nodes []redis.Node) ([]shard, error) {
	var shards []shard
	for _, n := range nodes {
		if !n.Primary || len(n.Ranges) == 0 {
			continue
		}
		s := shard{primary: n}
		for _, r := range nodes {
			if !r.Primary && r.PrimaryID == n.ID && !r.Failed && !r.NoAddress && !r.Handshake {
				s.replicas = append(s.replicas, r)
			}
		}
		shards = append(shards, s)
	}
	slices.SortFunc(shards, func(a, b shard) int {
		return cmp.Compare(a.primary.Ranges[0].First, b.primary.Ranges[0].First)
	})
	if missing := unowned(shards); len(missing) > 0 {
		return nil, fmt.Errorf("%w: nobody owns the slots %s", ErrIncomplete, formatRanges(missing))
	}
	return shards, nil
}

func unowned(shards []shard) []redis.Range {
	var owned [redis.Slots]bool
	for _, s := range shards {
		for _, r := range s.primary.Ranges {
			for slot := max(r.First, 0); slot <= min(r.Last, redis.Slots-1); slot++ {
				owned[slot] = true
			}
		}
	}
	var missing []redis.Range
	for slot, is := range owned {
		if is {
			continue
		}
		if last := len(missing) - 1; last >= 0 && missing[last].Last == slot-1 {
			missing[last].Last = slot
			continue
		}
		missing = append(missing, redis.Range{First: slot, Last: slot})
	}
	return missing
}

// lost names the shards whose primary is said to have failed.
func lost(nodes []redis.Node) string {
	var names []string
	for _, n := range nodes {
		if n.Primary && len(n.Ranges) > 0 && (n.Failed || n.Suspected) {
			names = append(names, fmt.Sprintf("the primary %s at %s of the slots %s is down", n.ID, addressOf(n), formatRanges(n.Ranges)))
		}
	}
	return strings.Join(names, "; ")
}

// moving names the slots of a node that are on their way. Its keys may then be
// at either end, and a copy of each may hold them twice or never.
func moving(n redis.Node) []int {
	var slots []int
	for slot := range n.Migrating {
		slots = append(slots, slot)
	}
	for slot := range n.Importing {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	return slots
}
