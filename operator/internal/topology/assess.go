package topology

import "github.com/seatrial/seatrial/operator/internal/redis"

// Assess says what to do about a view. The same view always gets the same
// answer. It goes by what nodes say now, never by what was done before, so an
// operator that ended anywhere goes on from there.
func Assess(v View) Assessment {
	j := &judge{cluster: newCluster(v)}
	j.Assessment.Pods = max(v.Replicas, v.Wanted.Pods())
	j.warn()
	for _, phase := range []func() bool{
		j.stuckPods,
		j.strangersData,
		j.meet,
		j.agreement,
		j.unownedSlots,
		j.lostOwners,
		j.openSlots,
		j.leavingPrimaries,
		j.replicas,
		j.forget,
		j.balance,
		j.leavingNodes,
		j.update,
	} {
		if !phase() {
			break
		}
	}
	j.Facts = j.facts()
	j.Facts.Migration = j.migration()
	return j.Assessment
}

// judge makes an Assessment phase by phase. A phase that returns false has
// something that must be done, or waited for, before the next may look.
type judge struct {
	*cluster
	Assessment
}

func (j *judge) step(steps ...Step) { j.Steps = append(j.Steps, steps...) }

func (j *judge) wait(code, message string) bool {
	j.Waiting = append(j.Waiting, Reason{code, message})
	return false
}

func (j *judge) block(code, message string) bool {
	j.Blocked = append(j.Blocked, Reason{code, message})
	return false
}

// Codes of reasons.
const (
	ReasonPodsNotReached      = "PodsNotReached"
	ReasonMeeting             = "Meeting"
	ReasonAgreeing            = "Agreeing"
	ReasonForeignKeys         = "ForeignKeys"
	ReasonFailingOver         = "FailingOver"
	ReasonNoMajority          = "NoMajority"
	ReasonDataLost            = "DataLost"
	ReasonSyncing             = "Syncing"
	ReasonPodsNotReady        = "PodsNotReady"
	ReasonUpdateStuck         = "UpdateStuck"
	ReasonUnsafeShard         = "UnsafeShard"
	ReasonSlotStuck           = "SlotStuck"
	ReasonNoAutomaticFailover = "NoAutomaticFailover"
)

// quorum is how many primaries it takes to elect a new one while one is lost.
const quorum = 3

func (j *judge) warn() {
	if j.Wanted.Shards < quorum && j.Wanted.ReplicasPerShard > 0 {
		j.Warnings = append(j.Warnings, Reason{ReasonNoAutomaticFailover,
			"With fewer than 3 shards a lost primary is not replaced by its replica: too few are left to vote."})
	}
}

func (j *judge) migration() *Migration {
	total := 0
	var first *Migration
	for _, s := range j.Steps {
		if s.Kind != MoveSlots {
			continue
		}
		total += len(s.Slots)
		if from := j.named(s.Pod); first == nil && from != nil {
			first = &Migration{Slot: s.Slots[0], From: from.id, To: s.ID}
		}
	}
	if first != nil {
		first.Remaining = max(total, j.surplus())
	}
	return first
}

func (c *cluster) named(pod string) *node {
	for _, n := range c.live {
		if n.Name == pod {
			return n
		}
	}
	return nil
}

func addressOf(n *node) redis.Address {
	port := n.self.Address.Port
	if port == 0 {
		port = defaultPort
	}
	return redis.Address{Host: n.IP, Port: port}
}

const defaultPort = 6379
