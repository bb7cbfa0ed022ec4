package topology

import (
	"fmt"
	"strings"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// Kind is what a step does.
type Kind string

// The kinds. Pod is where the command goes, in all of them.
const (
	// SetConfigEpoch gives a fresh node its Epoch.
	SetConfigEpoch Kind = "SetConfigEpoch"
	// Meet has Pod meet Peer at Address.
	Meet Kind = "Meet"
	// AddSlots gives Ranges, which nobody owns, to Pod.
	AddSlots Kind = "AddSlots"
	// Replicate makes Pod a replica of Peer, whose node is ID.
	Replicate Kind = "Replicate"
	// Failover makes Pod, a replica, the primary in place of Peer, which agrees.
	Failover Kind = "Failover"
	// FailoverForce does the same without Peer, which is not reached.
	FailoverForce Kind = "FailoverForce"
	// MoveSlots moves Slots from Pod to Peer, whose node is ID.
	MoveSlots Kind = "MoveSlots"
	// Forget has Pod forget the node ID.
	Forget Kind = "Forget"
	// Reset resets Pod hard: it loses its ID and whatever it replicated.
	Reset Kind = "Reset"
	// DeletePod deletes Pod, if it still has PodUID.
	DeletePod Kind = "DeletePod"
)

// Step is one command. Fields that its kind does not use are empty.
type Step struct {
	Kind Kind
	// Pod is the pod that the command goes to.
	Pod, PodUID string
	// Peer is the other pod, if there is one.
	Peer string
	// Address is that of Peer.
	Address redis.Address
	// ID is the other node's.
	ID     string
	Epoch  int64
	Ranges []redis.Range
	Slots  []int
}

// String says the step in a sentence.
func (s Step) String() string {
	switch s.Kind {
	case SetConfigEpoch:
		return fmt.Sprintf("Give %s the config epoch %d.", s.Pod, s.Epoch)
	case Meet:
		return fmt.Sprintf("Have %s meet %s at %s.", s.Pod, s.Peer, s.Address.Host)
	case AddSlots:
		return fmt.Sprintf("Give %s the slots %s, which nobody owns.", s.Pod, rangesText(s.Ranges))
	case Replicate:
		return fmt.Sprintf("Make %s a replica of %s.", s.Pod, s.Peer)
	case Failover:
		return fmt.Sprintf("Make %s the primary in place of %s.", s.Pod, s.Peer)
	case FailoverForce:
		return fmt.Sprintf("Make %s the primary without the consent of %s, which is not reached.", s.Pod, nameOr(s.Peer, s.ID))
	case MoveSlots:
		return fmt.Sprintf("Move the slots %s from %s to %s.", rangesText(rangesOf(s.Slots)), s.Pod, s.Peer)
	case Forget:
		return fmt.Sprintf("Have %s forget node %s.", s.Pod, s.ID)
	case Reset:
		return fmt.Sprintf("Reset %s.", s.Pod)
	case DeletePod:
		return fmt.Sprintf("Delete pod %s.", s.Pod)
	}
	return fmt.Sprintf("%s on %s.", string(s.Kind), s.Pod)
}

func nameOr(pod, id string) string {
	if pod != "" {
		return pod
	}
	return "node " + id
}

// rangesText writes ranges as Redis does: 0-5460,6000.
func rangesText(ranges []redis.Range) string {
	texts := make([]string, 0, len(ranges))
	for _, r := range ranges {
		if r.First == r.Last {
			texts = append(texts, fmt.Sprint(r.First))
			continue
		}
		texts = append(texts, fmt.Sprintf("%d-%d", r.First, r.Last))
	}
	return strings.Join(texts, ",")
}

// rangesOf joins slots, which are in order, to ranges.
func rangesOf(slots []int) []redis.Range {
	var ranges []redis.Range
	for _, s := range slots {
		if n := len(ranges); n > 0 && ranges[n-1].Last+1 == s {
			ranges[n-1].Last = s
			continue
		}
		ranges = append(ranges, redis.Range{First: s, Last: s})
	}
	return ranges
}
