package redis

import "time"

// Slots is how many slots a Redis Cluster has.
const Slots = 16384

// Address is where a node is reached.
type Address struct {
	// Host is an IP address: CLUSTER MEET and MIGRATE take nothing else.
	Host string
	// Port is the port for clients.
	Port int
}

// Observation is what one node said of itself at one time.
type Observation struct {
	// ID is the node's own, 40 hexadecimal digits. It changes with a hard
	// reset and with the loss of its nodes.conf.
	ID string
	// Nodes is what the node believes of every node that it knows, itself
	// among them.
	Nodes []Node
	// OK is cluster_state: true where the node serves.
	OK bool
	// CurrentEpoch is the highest config epoch that the node has seen.
	CurrentEpoch int64
	// Keys is how many keys the node holds.
	Keys int64
	// Loading is true while the node reads its data from disk. It answers
	// little else then: only ID and Version may be relied on.
	Loading bool
	// Replication is the node's end of the replication.
	Replication Replication
	// Version is redis_version, such as 7.0.15.
	Version string
	// RunID changes with each start of the process.
	RunID string
}

// Myself returns the node's entry on itself.
func (o Observation) Myself() (Node, bool) {
	for _, n := range o.Nodes {
		if n.Myself {
			return n, true
		}
	}
	return Node{}, false
}

// Node is one line of CLUSTER NODES.
type Node struct {
	ID      string
	Address Address
	// Hostname is what the node announces for clients. The bus never uses it.
	Hostname string
	Myself   bool
	// Primary is true for a primary, with slots or without; where it is false
	// the node is a replica of PrimaryID.
	Primary   bool
	PrimaryID string
	// Suspected is fail?: this node alone cannot reach it. Failed is fail:
	// most primaries cannot.
	Suspected bool
	Failed    bool
	// Handshake is true for a node that has not been admitted yet. Its ID is
	// made up.
	Handshake bool
	// NoAddress is true where the address is not known.
	NoAddress bool
	// ConfigEpoch decides who owns a slot that two nodes claim.
	ConfigEpoch int64
	// Connected is the state of the link to the node, true for Myself.
	Connected bool
	// Ranges are the slots that the node owns, in order.
	Ranges []Range
	// Migrating are slots on their way out, to the node with that ID, and
	// Importing slots on their way in, from it. Only the entry on Myself tells.
	Migrating map[int]string
	Importing map[int]string
}

// Owns reports whether the node owns the slot.
func (n Node) Owns(slot int) bool {
	for _, r := range n.Ranges {
		if r.First <= slot && slot <= r.Last {
			return true
		}
	}
	return false
}

// Range is a range of slots, both ends included.
type Range struct{ First, Last int }

// Len is how many slots there are in the range.
func (r Range) Len() int { return r.Last - r.First + 1 }

// Replication is INFO replication.
type Replication struct {
	// Primary is the role as replication has it, which trails CLUSTER NODES.
	Primary bool
	// LinkUp is true for a replica that is connected to its primary, and
	// Syncing while it reads all of the primary's data.
	LinkUp  bool
	Syncing bool
	// Offset is how far the node's data are.
	Offset int64
	// SilentFor is how long a replica has not heard of its primary.
	SilentFor time.Duration
	// Replicas are the replicas that a primary sends to.
	Replicas []Follower
}

// Follower is a replica as its primary sees it.
type Follower struct {
	Address Address
	// Online is false until the replica has all data of its primary.
	Online bool
	Offset int64
}
