package topology

import (
	"errors"
	"fmt"
)

// run carries a step out, as Redis would, or refuses it.
func (s *simulator) run(step Step) error {
	p := s.byName(step.Pod)
	if p == nil || p.uid != step.PodUID {
		return fmt.Errorf("there is no such pod: %s", step.Pod)
	}
	if step.Kind == DeletePod {
		return s.deletePod(p)
	}
	if p.down > 0 {
		return errors.New("it is not reached")
	}
	switch step.Kind {
	case SetConfigEpoch:
		return s.setEpoch(p, step)
	case Meet:
		return s.meet(p, step)
	case AddSlots:
		return s.addSlots(p, step)
	case Replicate:
		return s.replicate(p, step)
	case Failover, FailoverForce:
		return s.failover(p)
	case MoveSlots:
		return s.moveSlots(p, step)
	case Forget:
		return s.forget(p, step)
	case Reset:
		return s.reset(p)
	default:
		return fmt.Errorf("unknown step %s", step.Kind)
	}
}

func (s *simulator) deletePod(p *simPod) error {
	if len(p.disk.slots) > 0 && !s.wanted.Persistent && s.wanted.Unsafe != AllowDataLoss && s.wanted.Strategy != Recreate {
		s.lost = "deleting " + podName(p.ordinal) + ", which owned slots, without a volume"
	}
	s.restart(p)
	return nil
}

func (s *simulator) setEpoch(p *simPod, step Step) error {
	if len(p.disk.known) > 0 || p.disk.epoch != 0 {
		return nil
	}
	p.disk.epoch = step.Epoch
	s.epoch = max(s.epoch, step.Epoch)
	return nil
}

func (s *simulator) meet(p *simPod, step Step) error {
	for _, o := range s.pods {
		if o.ip == step.Address.Host && o.down == 0 {
			p.disk.known[o.disk.id] = o.ip
			return nil
		}
	}
	return nil // CLUSTER MEET says OK, and nothing comes of it.
}

func (s *simulator) addSlots(p *simPod, step Step) error {
	for _, r := range step.Ranges {
		for slot := r.First; slot <= r.Last; slot++ {
			for _, o := range s.pods {
				if o != p && o.disk.slots[slot] {
					return fmt.Errorf("slot %d is already busy", slot)
				}
			}
			s.give(p, slot)
		}
	}
	p.disk.keys = true
	return nil
}

func (s *simulator) replicate(p *simPod, step Step) error {
	primary := s.byID(step.ID)
	switch {
	case primary == nil || p.disk.known[step.ID] == "":
		return errors.New("unknown node " + step.ID)
	case primary.disk.primary != "":
		return errors.New("can only replicate a primary")
	case len(p.disk.slots) > 0 || p.disk.primary == "" && p.disk.keys:
		return errors.New("to set a primary the node must be empty and without assigned slots")
	}
	p.disk.primary, p.disk.inSync = step.ID, false
	return nil
}

func (s *simulator) failover(p *simPod) error {
	primary := s.byID(p.disk.primary)
	if primary == nil || primary.down > 0 || !p.disk.inSync {
		return errors.New("the primary is not reached, or the replica is not in sync")
	}
	s.promote(p, primary)
	return nil
}

func (s *simulator) moveSlots(p *simPod, step Step) error {
	to := s.byID(step.ID)
	if to == nil || to.down > 0 {
		return errors.New("the target is not reached")
	}
	if to.disk.primary != "" {
		return errors.New("the target is no primary")
	}
	for _, slot := range step.Slots {
		delete(p.disk.migrating, slot)
		delete(to.disk.importing, slot)
		if to.disk.slots[slot] {
			continue
		}
		if !p.disk.slots[slot] {
			return fmt.Errorf("the source does not own slot %d", slot)
		}
		delete(p.disk.slots, slot)
		s.give(to, slot)
		to.disk.keys = true
	}
	s.epoch++
	to.disk.epoch = s.epoch
	p.disk.keys = len(p.disk.slots) > 0
	return nil
}

// moveHalf is cut off in the middle of a move: some slots have moved, and one is
// open on one side or on both.
func (s *simulator) moveHalf(step Step) {
	p, to := s.byName(step.Pod), s.byID(step.ID)
	half := step.Slots[:len(step.Slots)/2]
	if p == nil || p.down > 0 || s.moveSlots(p, Step{ID: step.ID, Slots: half}) != nil {
		return
	}
	slot := step.Slots[len(step.Slots)-1]
	to.disk.importing[slot] = p.disk.id
	if s.next()%2 == 0 {
		p.disk.migrating[slot] = to.disk.id
	}
}

func (s *simulator) forget(p *simPod, step Step) error {
	if p.disk.primary == step.ID {
		return errors.New("a replica cannot forget its primary")
	}
	if o := s.byID(step.ID); o != nil && len(o.disk.slots) > 0 {
		s.lost = "forgetting the node of " + podName(o.ordinal) + ", which owned slots"
	}
	delete(p.disk.known, step.ID)
	return nil
}

func (s *simulator) reset(p *simPod) error {
	if p.disk.primary == "" && p.disk.keys {
		return errors.New("CLUSTER RESET can't be called with primary nodes containing keys")
	}
	p.disk = s.fresh()
	return nil
}
