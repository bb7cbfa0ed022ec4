package topology

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seedFlag = flag.Int64("seed", 0, "seed of the first case; 0 takes one from the clock, and prints it")
	cases    = flag.Int("cases", 30, "random stories")
)

// story runs a simulation by a seed, and keeps what happened for who must find
// out why it went wrong.
type story struct {
	*simulator
	random *rand.Rand
	log    []string
}

func (s *story) tell(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

// visit assesses once and carries out some of the steps: all of them, or as
// many as an operator does that ends in between.
func (s *story) visit(all bool) Assessment {
	a := Assess(s.view())
	steps := a.Steps
	if !all && len(steps) > 0 {
		cut := s.random.IntN(len(steps) + 1)
		if cut < len(steps) && steps[cut].Kind == MoveSlots {
			defer s.moveHalf(steps[cut])
		}
		steps = steps[:cut]
	}
	for _, step := range steps {
		err := s.run(step)
		s.tell("  %s %v", step, err)
		if err != nil || s.lost != "" {
			break
		}
	}
	for _, reason := range slices.Concat(a.Waiting, a.Blocked) {
		s.tell("  %s: %s", reason.Code, reason.Message)
	}
	s.replicas = a.Pods
	s.statefulSet()
	s.settle()
	return a
}

// converge visits until nothing is left to do.
func (s *story) converge(most int) (Assessment, error) {
	var a Assessment
	for range most {
		a = s.visit(true)
		if s.lost != "" {
			return a, fmt.Errorf("data was lost by %s", s.lost)
		}
		if s.converged(a) {
			return a, nil
		}
	}
	return a, fmt.Errorf("after %d visits it is not as wanted", most)
}

func (s *story) converged(a Assessment) bool {
	if len(a.Steps)+len(a.Waiting)+len(a.Blocked) > 0 || a.Pods != s.wanted.Pods() || len(s.pods) != s.wanted.Pods() {
		return false
	}
	if !a.Facts.Formed || !a.Facts.Available || len(a.Facts.Shards) != s.wanted.Shards {
		return false
	}
	for _, shard := range a.Facts.Shards {
		if len(shard.Replicas) != s.wanted.ReplicasPerShard {
			return false
		}
	}
	return a.Facts.Updated == len(s.pods)
}

// disturb does one thing that the operator does not expect. A pod is only
// killed where another copy of its data is left, since no operator saves those
// that are gone.
func (s *story) disturb() {
	pods := s.sorted()
	p := pods[s.random.IntN(len(pods))]
	switch s.random.IntN(5) {
	case 0:
		p.down = 1 + s.random.IntN(3)
		s.tell("%s is not reached for %d visits", podName(p.ordinal), p.down)
	case 1:
		if s.wanted.Persistent || s.spared(p) {
			s.restart(p)
			s.tell("%s is restarted, now at %s", podName(p.ordinal), p.ip)
		}
	case 2:
		s.wanted.Shards = 1 + s.random.IntN(5)
		s.tell("%d shards are wanted", s.wanted.Shards)
	case 3:
		s.wanted.ReplicasPerShard = s.random.IntN(3)
		s.tell("%d replicas are wanted", s.wanted.ReplicasPerShard)
	case 4:
		if s.wanted.Persistent || s.wanted.ReplicasPerShard > 0 || s.wanted.Shards > 1 && s.wanted.Unsafe == Drain {
			for _, p := range pods {
				p.updated = false
			}
			s.tell("a new revision is wanted")
		}
	}
}

// spared reports whether the others can go on without a pod and its data: it
// owns nothing, or they elect a replica of it.
func (s *story) spared(p *simPod) bool {
	up, replica := 0, false
	for _, o := range s.pods {
		if o.down > 0 {
			return false
		}
		if len(o.disk.slots) > 0 && o != p {
			up++
		}
		replica = replica || o.disk.primary == p.disk.id && o.disk.inSync
	}
	return len(p.disk.slots) == 0 && !p.disk.keys || replica && up > (up+1)/2
}

func TestStoriesEndWell(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	t.Logf("seed %d", seed)
	for i := range *cases {
		s := &story{random: rand.New(rand.NewPCG(uint64(seed), uint64(i)))} //nolint:gosec // a replay needs the same numbers
		s.simulator = newSimulator(Wanted{
			Shards: 1 + s.random.IntN(5), ReplicasPerShard: s.random.IntN(3), Strategy: RollingUpdate,
			Unsafe: Drain, Persistent: s.random.IntN(2) == 0, SlotsPerStep: 4096,
		})
		s.tell("%+v", s.wanted)
		for range s.random.IntN(20) {
			s.visit(s.random.IntN(3) > 0)
			if s.random.IntN(3) == 0 && s.lost == "" {
				s.disturb()
			}
		}
		// A revision that could not be rolled out with what is wanted by now.
		if !s.wanted.Persistent && s.wanted.ReplicasPerShard == 0 && s.wanted.Shards == 1 {
			s.wanted.Unsafe = AllowDataLoss
		}
		a, err := s.converge(150)
		if err != nil {
			t.Fatalf("case %d of seed %d: %v: %+v\n%s", i, seed, err, a.Facts.Shards, strings.Join(s.log[max(0, len(s.log)-60):], "\n"))
		}
	}
}
