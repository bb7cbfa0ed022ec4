package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"k8s.io/apimachinery/pkg/util/wait"
)

// MoveOptions adapts a move of slots.
type MoveOptions struct {
	// Keys is how many keys one command moves; 0 means 100.
	Keys int
	// Timeout is how long such a command may pause; 0 means a second. It must
	// stay under half of the node timeout, or others take both nodes for
	// failed (redis#3396).
	Timeout time.Duration
	// Largest is the most memory, in bytes, that a key may take; a larger one
	// ends the move with a *KeyTooLargeError. 0 means no limit.
	Largest int64
	// Others are the other primaries, which are told the new owner at once.
	Others []*Client
	// Progress is told of each slot that was moved, with its number of keys.
	Progress func(slot, keys int)
}

// KeyTooLargeError is that a slot holds a key which cannot be moved without
// blocking two nodes for too long.
type KeyTooLargeError struct {
	Slot  int
	Bytes int64
}

// Error implements error.
func (e *KeyTooLargeError) Error() string {
	return fmt.Sprintf("slot %d holds a key of %d bytes, which would block two nodes for too long", e.Slot, e.Bytes)
}

// ErrKeyExists is that a key of a slot is on both nodes and it cannot be told
// which one counts.
var ErrKeyExists = errors.New("a key is on both nodes")

// mover moves slots between two nodes.
type mover struct {
	from, to     *Client
	fromID, toID string
	MoveOptions
}

// SettleTime is how long slots must stay where they are before they are moved
// back to where they came from. A node of Redis 7.0 that gets a slot back while
// messages of the first move are still on their way takes the old claim for the
// newer one, gives the slot up and deletes its keys: it has noted that the owner
// did not claim the slot, and the note outlives the change of owner.
const SettleTime = 3 * time.Second

// MoveSlots moves slots from one primary to another, one after the other. It
// may be called again after it ended at any point: a slot that is moved already
// is passed over, and one that is half moved is finished. See SettleTime on
// moving slots back.
func MoveSlots(ctx context.Context, from, to *Client, slots []int, o MoveOptions) error {
	source, target, err := agree(ctx, from, to)
	if err != nil {
		return err
	}
	if o.Keys == 0 {
		o.Keys = 100
	}
	if o.Timeout == 0 {
		o.Timeout = time.Second
	}
	m := mover{from: from, to: to, fromID: source.ID, toID: target.ID, MoveOptions: o}
	for _, slot := range slots {
		keys, err := m.move(ctx, slot, source, target)
		if contains(err, "I'm not the owner of hash slot") {
			// The source has heard in the meantime that the target owns it.
			keys, err = m.again(ctx, slot)
		}
		if err != nil {
			return fmt.Errorf("moving slot %d from the Redis node %s to %s: %w", slot, from.address, to.address, err)
		}
		if o.Progress != nil {
			o.Progress(slot, keys)
		}
	}
	return nil
}

// agreeWithin is how long two nodes may take to learn each other's config epoch,
// which travels with every message of the bus.
const agreeWithin = 5 * time.Second

// agree waits until each of the nodes knows the config epoch of the other. A
// target that does not know the source's believes that its own is the highest,
// and takes no new one when it gets a slot. The next message of the source that
// still names the slot then takes it back, and the target deletes the keys.
func agree(ctx context.Context, from, to *Client) (source, target Observation, err error) {
	err = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, agreeWithin, true, func(ctx context.Context) (bool, error) {
		if source, err = from.Observe(ctx); err != nil {
			return false, err
		}
		if target, err = to.Observe(ctx); err != nil {
			return false, err
		}
		return source.knowsEpochOf(target) && target.knowsEpochOf(source), nil
	})
	if err != nil {
		err = fmt.Errorf("waiting until the Redis nodes %s and %s know each other's config epoch: %w", from.address, to.address, err)
	}
	return source, target, err
}

func (o Observation) knowsEpochOf(other Observation) bool {
	itself, _ := other.Myself()
	return slices.ContainsFunc(o.Nodes, func(n Node) bool { return n.ID == other.ID && n.ConfigEpoch == itself.ConfigEpoch })
}

// again moves one slot by what the nodes say now.
func (m mover) again(ctx context.Context, slot int) (int, error) {
	source, err := m.from.Observe(ctx)
	if err != nil {
		return 0, err
	}
	target, err := m.to.Observe(ctx)
	if err != nil {
		return 0, err
	}
	return m.move(ctx, slot, source, target)
}

// move moves one slot. The order is that of redis.io's "Resharding": the target
// is told first that it imports, and first that it owns. In the other order a
// crash can leave a slot without an owner (redis#7116).
func (m mover) move(ctx context.Context, slot int, source, target Observation) (int, error) {
	owner, _ := target.Myself()
	former, _ := source.Myself()
	if owner.Owns(slot) && !former.Owns(slot) {
		return 0, m.close(ctx, slot, owner, former)
	}
	if !owner.Owns(slot) {
		if err := m.to.setSlot(ctx, slot, "IMPORTING", m.fromID); err != nil {
			return 0, err
		}
	}
	if former.Owns(slot) {
		if err := m.from.setSlot(ctx, slot, "MIGRATING", m.toID); err != nil {
			return 0, err
		}
	}
	keys, err := m.drain(ctx, slot)
	if err != nil {
		return keys, err
	}
	if err := m.to.setSlot(ctx, slot, "NODE", m.toID); err != nil {
		return keys, err
	}
	more, err := m.release(ctx, slot)
	if err != nil {
		return keys + more, err
	}
	return keys + more, m.announce(ctx, slot)
}

// close ends what is left of the move of a slot that has its new owner. A node
// that hears of the new owner by gossip does not close the slot by itself.
func (m mover) close(ctx context.Context, slot int, owner, former Node) error {
	if _, open := owner.Importing[slot]; open {
		if err := m.to.setSlot(ctx, slot, "NODE", m.toID); err != nil {
			return err
		}
	}
	if _, open := former.Migrating[slot]; open {
		if err := m.from.setSlot(ctx, slot, "NODE", m.toID); err != nil {
			return err
		}
	}
	return m.announce(ctx, slot)
}

// release tells the source that the slot is not its own any more. A key that a
// client wrote in the last moment is moved first: the source refuses to give a
// slot away of which it holds keys.
func (m mover) release(ctx context.Context, slot int) (int, error) {
	moved := 0
	for {
		err := m.from.setSlot(ctx, slot, "NODE", m.toID)
		if err == nil || !contains(err, "I still hold keys") {
			return moved, err
		}
		keys, err := m.drain(ctx, slot)
		moved += keys
		if err != nil {
			return moved, err
		}
	}
}

// announce tells the other primaries, which would learn it by gossip.
func (m mover) announce(ctx context.Context, slot int) error {
	for _, other := range m.Others {
		if other.address == m.from.address || other.address == m.to.address {
			continue
		}
		if err := other.setSlot(ctx, slot, "NODE", m.toID); err != nil {
			return err
		}
	}
	return nil
}

// setSlot is idempotent. A node that has lost its last slot may have become a
// replica, and needs not be told (redis#9223).
func (c *Client) setSlot(ctx context.Context, slot int, state, id string) error {
	done := []string{"Please use SETSLOT only with masters", "I'm already the owner of hash slot"}
	if err := c.do(ctx, done, "CLUSTER", "SETSLOT", slot, state, id); err != nil {
		return fmt.Errorf("setting the slot on %s to %s: %w", c.address, state, err)
	}
	return nil
}

// drain moves all keys of a slot.
func (m mover) drain(ctx context.Context, slot int) (int, error) {
	moved := 0
	for {
		keys, err := m.from.commands.ClusterGetKeysInSlot(ctx, slot, m.Keys).Result()
		if err != nil {
			return moved, fmt.Errorf("listing its keys: %w", err)
		}
		if len(keys) == 0 {
			return moved, nil
		}
		if err := m.small(ctx, slot, keys); err != nil {
			return moved, err
		}
		if err := m.migrate(ctx, slot, keys); err != nil {
			return moved, err
		}
		moved += len(keys)
	}
}

// small looks for keys that are too large.
func (m mover) small(ctx context.Context, slot int, keys []string) error {
	if m.Largest == 0 {
		return nil
	}
	pipe := m.from.commands.Pipeline()
	sizes := make([]*goredis.IntCmd, len(keys))
	for i, key := range keys {
		sizes[i] = pipe.MemoryUsage(ctx, key)
	}
	_, _ = pipe.Exec(ctx)
	for _, size := range sizes {
		bytes, err := size.Result()
		if err != nil && !errors.Is(err, goredis.Nil) {
			return fmt.Errorf("measuring its keys: %w", err)
		}
		if bytes > m.Largest {
			return &KeyTooLargeError{Slot: slot, Bytes: bytes}
		}
	}
	return nil
}

// migrate moves some keys. A key that the target has already is there because
// an earlier command was cut off half-way: as long as the source owns the slot
// and is giving it away, clients write such a key at the source alone, so what
// the source has counts.
func (m mover) migrate(ctx context.Context, slot int, keys []string) error {
	err := m.from.migrate(ctx, m.to, keys, m.Timeout, false)
	if err == nil || !contains(err, "BUSYKEY") && !says(err, "IOERR") {
		return err
	}
	o, observing := m.from.Observe(ctx)
	if observing != nil {
		return observing
	}
	myself, _ := o.Myself()
	if !myself.Owns(slot) || myself.Migrating[slot] != m.toID {
		return fmt.Errorf("%w: %s does not own slot %d any more", ErrKeyExists, m.from.address, slot)
	}
	return m.from.migrate(ctx, m.to, keys, m.Timeout, true)
}

func (c *Client) migrate(ctx context.Context, to *Client, keys []string, timeout time.Duration, replace bool) error {
	args := []any{"MIGRATE", to.address.Host, to.address.Port, "", 0, timeout.Milliseconds()}
	if replace {
		args = append(args, "REPLACE")
	}
	if to.password != "" {
		args = append(args, "AUTH", to.password)
	}
	args = append(args, "KEYS")
	for _, key := range keys {
		args = append(args, key)
	}
	// The command may take its timeout on either side, and then answers.
	command := goredis.NewCmd(ctx, args...)
	patient := c.commands.WithTimeout(2*timeout + AnswerTimeout)
	if err := patient.Process(ctx, command); err != nil {
		return secret(err)
	}
	return nil
}
