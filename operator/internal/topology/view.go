package topology

import "github.com/seatrial/seatrial/operator/internal/redis"

// Strategy is how pods come to a new revision.
type Strategy string

// The strategies.
const (
	RollingUpdate Strategy = "RollingUpdate"
	Recreate      Strategy = "Recreate"
	OnDelete      Strategy = "OnDelete"
)

// UnsafePolicy is what a rolling update does with a shard whose only copy of
// the data would go with its pod.
type UnsafePolicy string

// The policies: stop and say so, move the data to other shards first, or lose
// them.
const (
	Block         UnsafePolicy = "Block"
	Drain         UnsafePolicy = "Drain"
	AllowDataLoss UnsafePolicy = "AllowDataLoss"
)

// Wanted is what the spec asks for.
type Wanted struct {
	Shards, ReplicasPerShard int
	Strategy                 Strategy
	Unsafe                   UnsafePolicy
	// Persistent is true where data outlive their pod.
	Persistent bool
	// SlotsPerStep is how many slots one assessment may move at most.
	SlotsPerStep int
}

// Pods is how many pods are wanted in all.
func (w Wanted) Pods() int { return w.Shards * (1 + w.ReplicasPerShard) }

// Pod is one pod of the StatefulSet as seen now.
type Pod struct {
	Name, UID string
	Ordinal   int
	IP        string
	// Host is the Kubernetes node that the pod runs on.
	Host                        string
	Ready, Terminating, Updated bool
	// Failing is true where the pod's container cannot start.
	Failing bool
	// Redis is nil where the node was not reached.
	Redis *redis.Observation
}

// View is all that was observed.
type View struct {
	Wanted Wanted
	Pods   []Pod
	// Replicas is spec.replicas of the StatefulSet, 0 where there is none.
	Replicas int
}

// Reason says why something waits or stands still.
type Reason struct {
	// Code is constant, in CamelCase.
	Code string
	// Message is a sentence that names pods.
	Message string
}

// Assessment is what to do about a View.
type Assessment struct {
	// Steps is what to do now, one after another in this order. Each is safe on
	// its own, so an executor may stop after any of them; where one fails, the
	// rest must not be run. After them everything is observed anew. Steps that
	// stand beside each other and are all MoveSlots touch pairs of pods that are
	// disjoint, and only those may run at the same time.
	Steps []Step
	// Pods is how many pods the StatefulSet should have now: more than wanted
	// while there are still nodes to be emptied.
	Pods int
	// Waiting is what is waited for, Blocked what will not mend by waiting, and
	// Warnings what is not as good as it could be.
	Waiting, Blocked, Warnings []Reason
	Facts                      Facts
}

// Facts is what is known of the cluster.
type Facts struct {
	// Formed is true where all slots are owned and every reached node agrees on
	// by whom.
	Formed bool
	// Available is true where most owners of slots say that the cluster serves,
	// and every slot is owned by a reached node.
	Available bool
	// Shards are in the order of their first slot.
	Shards []Shard
	// Migration is nil where no slot is moved.
	Migration *Migration
	// Updated is how many pods are on the current revision.
	Updated int
}

// Shard is a primary that owns slots, and its replicas.
type Shard struct {
	Index    int
	Primary  Member
	Replicas []Member
	Ranges   []redis.Range
}

// Member is one node of a shard. Pod is empty for a node that no pod of ours
// is known to run.
type Member struct {
	Pod, ID string
	// InSync is always true for a primary.
	InSync bool
}

// Migration is the slot that is open, or the first that will be moved.
type Migration struct {
	Slot int
	// From and To are IDs of nodes.
	From, To string
	// Remaining is how many slots are to be moved, this one among them.
	Remaining int
}
