package topology

import (
	"fmt"
	"slices"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// simNode is a Redis node as it is on its disk: it survives a restart of its
// pod where data are persistent.
type simNode struct {
	id      string
	epoch   int64
	primary string // empty for a primary
	keys    bool
	inSync  bool
	slots   map[int]bool
	// known are the nodes that it knows, with the address that it has of each.
	known     map[string]string
	importing map[int]string
	migrating map[int]string
}

type simPod struct {
	ordinal int
	uid, ip string
	updated bool
	down    int // visits until it is reached again
	disk    *simNode
}

// simulator is a StatefulSet of Redis nodes. Gossip is done between visits; it
// is as honest about refusals as Redis.
type simulator struct {
	wanted   Wanted
	replicas int
	pods     map[int]*simPod
	serial   int
	epoch    int64
	// former is the node that each slot was given to last, gone or not.
	former map[int]string
	// lost says which step took the last copy of data away.
	lost string
}

func newSimulator(w Wanted) *simulator {
	s := &simulator{wanted: w, replicas: w.Pods(), pods: map[int]*simPod{}, former: map[int]string{}}
	s.statefulSet()
	return s
}

func (s *simulator) next() int { s.serial++; return s.serial }

func (s *simulator) fresh() *simNode {
	return &simNode{
		id: fmt.Sprintf("id-%d", s.next()), slots: map[int]bool{}, known: map[string]string{},
		importing: map[int]string{}, migrating: map[int]string{},
	}
}

// statefulSet makes pods that are missing and removes those that are too many.
func (s *simulator) statefulSet() {
	for i := range s.replicas {
		p := s.pods[i]
		if p == nil {
			s.pods[i] = &simPod{ordinal: i, uid: fmt.Sprint("uid-", s.next()), ip: fmt.Sprint("ip-", s.next()), updated: true, disk: s.fresh()}
		}
	}
	for i, p := range s.pods {
		if i >= s.replicas {
			if len(p.disk.slots) > 0 {
				s.lost = fmt.Sprintf("scaling in removed %s, which owned slots", podName(i))
			}
			delete(s.pods, i)
		}
	}
}

// restart replaces a pod: a new address and, without a volume, a new node.
func (s *simulator) restart(p *simPod) {
	p.uid, p.ip, p.updated, p.down = fmt.Sprint("uid-", s.next()), fmt.Sprint("ip-", s.next()), true, 1
	if !s.wanted.Persistent {
		p.disk = s.fresh()
		return
	}
	if p.disk.primary != "" {
		p.disk.inSync = false
	}
}

func podName(ordinal int) string { return fmt.Sprint("demo-", ordinal) }

func (s *simulator) sorted() []*simPod {
	var pods []*simPod
	for _, p := range s.pods {
		pods = append(pods, p)
	}
	slices.SortFunc(pods, func(a, b *simPod) int { return a.ordinal - b.ordinal })
	return pods
}

func (s *simulator) byID(id string) *simPod {
	for _, p := range s.pods {
		if p.disk.id == id {
			return p
		}
	}
	return nil
}

func (s *simulator) byName(name string) *simPod {
	for _, p := range s.pods {
		if podName(p.ordinal) == name {
			return p
		}
	}
	return nil
}

// reaches reports whether a knows b where b is now.
func (p *simPod) reaches(o *simPod) bool { return p.disk.known[o.disk.id] == o.ip && o.down == 0 }

// settle does what happens between two visits: gossip, replication, elections.
func (s *simulator) settle() {
	for _, p := range s.pods {
		p.down = max(0, p.down-1)
	}
	for range len(s.pods) {
		for _, a := range s.sorted() {
			for _, b := range s.sorted() {
				if a == b || a.down > 0 || b.down > 0 || !a.reaches(b) {
					continue
				}
				// The bus updates addresses of who calls, and tells of others.
				b.disk.known[a.disk.id] = a.ip
				for id := range a.disk.known {
					if o := s.byID(id); o != nil && id != b.disk.id && b.disk.known[id] == "" && a.reaches(o) {
						b.disk.known[id] = o.ip
					}
				}
			}
		}
	}
	for _, p := range s.sorted() {
		primary := s.byID(p.disk.primary)
		if p.disk.primary != "" && p.down == 0 && primary != nil && primary.down == 0 && p.reaches(primary) {
			p.disk.inSync, p.disk.keys = true, primary.disk.keys
		}
	}
	s.elect()
}

// owners are all nodes that own slots, those of pods that are gone among them.
func (s *simulator) owners() []*simPod {
	return slices.DeleteFunc(s.sorted(), func(p *simPod) bool { return len(p.disk.slots) == 0 })
}

// elect replaces primaries that are down by replicas, where a majority votes.
func (s *simulator) elect() {
	owners := s.owners()
	up := 0
	for _, o := range owners {
		if o.down == 0 {
			up++
		}
	}
	s.electForGone(up, len(owners))
	for _, o := range owners {
		if o.down == 0 || up <= len(owners)/2 {
			continue
		}
		for _, r := range s.sorted() {
			if r.disk.primary == o.disk.id && r.down == 0 && r.disk.inSync {
				s.promote(r, o)
				break
			}
		}
	}
}

// electForGone replaces primaries that are gone with their pods.
func (s *simulator) electForGone(up, owners int) {
	for _, r := range s.sorted() {
		gone := r.disk.primary
		if gone == "" || s.byID(gone) != nil || r.down > 0 || !r.disk.inSync || up <= (owners+1)/2 {
			continue
		}
		s.epoch++
		r.disk.primary, r.disk.epoch, r.disk.keys = "", s.epoch, true
		for slot, owner := range s.former {
			if owner == gone {
				s.give(r, slot)
			}
		}
		for _, p := range s.pods {
			if p.disk.primary == gone {
				p.disk.primary, p.disk.inSync = r.disk.id, false
			}
		}
	}
}

func (s *simulator) promote(r, primary *simPod) {
	s.epoch++
	r.disk.slots, primary.disk.slots = primary.disk.slots, map[int]bool{}
	for slot := range r.disk.slots {
		s.former[slot] = r.disk.id
	}
	r.disk.primary, r.disk.epoch, r.disk.keys = "", s.epoch, true
	for _, p := range s.pods {
		if p.disk.primary == primary.disk.id {
			p.disk.primary, p.disk.inSync = r.disk.id, false
		}
	}
	primary.disk.primary, primary.disk.inSync = r.disk.id, false
	primary.disk.migrating, primary.disk.importing = map[int]string{}, map[int]string{}
}

func (s *simulator) view() View {
	v := View{Wanted: s.wanted, Replicas: s.replicas}
	for _, p := range s.sorted() {
		pod := Pod{
			Name: podName(p.ordinal), UID: p.uid, Ordinal: p.ordinal, IP: p.ip,
			Host: fmt.Sprint("host-", p.ordinal%3), Ready: p.down == 0, Updated: p.updated,
		}
		if p.down == 0 {
			pod.Redis = s.observe(p)
		}
		v.Pods = append(v.Pods, pod)
	}
	return v
}

func (s *simulator) observe(p *simPod) *redis.Observation {
	n := p.disk
	o := &redis.Observation{ID: n.id, OK: true, CurrentEpoch: s.epoch}
	if len(n.known) == 0 {
		o.CurrentEpoch = n.epoch
	}
	if n.keys {
		o.Keys = 1
	}
	o.Replication = redis.Replication{Primary: n.primary == "", LinkUp: n.inSync}
	o.Nodes = append(o.Nodes, s.line(p, p.ip, true))
	for id, ip := range n.known {
		other := s.byID(id)
		if other == nil {
			o.Nodes = append(o.Nodes, redis.Node{ID: id, Primary: true, Address: redis.Address{Host: ip, Port: 6379}, Failed: true, Ranges: s.ghost(id)})
			continue
		}
		o.Nodes = append(o.Nodes, s.line(other, ip, false))
	}
	return o
}

// ghost is what a node that is gone owns, until it is forgotten.
func (s *simulator) ghost(id string) []redis.Range {
	var slots []int
	for slot := range redis.Slots {
		if s.former[slot] == id {
			slots = append(slots, slot)
		}
	}
	return rangesOf(slots)
}

func (s *simulator) give(p *simPod, slot int) {
	p.disk.slots[slot] = true
	s.former[slot] = p.disk.id
}

func (s *simulator) line(p *simPod, ip string, myself bool) redis.Node {
	n := redis.Node{
		ID: p.disk.id, Address: redis.Address{Host: ip, Port: 6379}, Myself: myself,
		Primary: p.disk.primary == "", PrimaryID: p.disk.primary, ConfigEpoch: p.disk.epoch,
		Connected: p.down == 0 && ip == p.ip,
	}
	var slots []int
	for slot := range p.disk.slots {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	n.Ranges = rangesOf(slots)
	if myself {
		n.Migrating, n.Importing = p.disk.migrating, p.disk.importing
	}
	return n
}
