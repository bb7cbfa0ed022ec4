package redis

import (
	"context"
	"fmt"
	"strings"
)

// RefusedError is that a node refused a setting.
type RefusedError struct {
	Setting string
	// Reason is what Redis said.
	Reason string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("Redis refuses the setting '%s': %s", e.Setting, e.Reason)
}

// do runs a command whose answer does not matter. An answer that contains one
// of done says that what was asked for is so already.
func (c *Client) do(ctx context.Context, done []string, args ...any) error {
	err := c.commands.Do(ctx, args...).Err()
	if err == nil {
		return nil
	}
	for _, text := range done {
		if strings.Contains(err.Error(), text) {
			return nil
		}
	}
	return err
}

// SetConfigEpoch gives a node that knows no other its config epoch, so that no
// two nodes of a new Redis Cluster have the same. It does nothing to one that
// has an epoch, or company, already.
func (c *Client) SetConfigEpoch(ctx context.Context, epoch int64) error {
	done := []string{"config epoch is already non-zero", "only set a config epoch when the node does not know any other node"}
	if err := c.do(ctx, done, "CLUSTER", "SET-CONFIG-EPOCH", epoch); err != nil {
		return fmt.Errorf("giving the Redis node %s the config epoch %d: %w", c.address, epoch, err)
	}
	return nil
}

// Meet introduces the node to another. Its success says no more than that the
// handshake has begun.
func (c *Client) Meet(ctx context.Context, other Address) error {
	if err := c.do(ctx, nil, "CLUSTER", "MEET", other.Host, other.Port); err != nil {
		return fmt.Errorf("introducing the Redis node %s to %s: %w", c.address, other, err)
	}
	return nil
}

// AddSlots gives the node slots that nobody owns, as far as it knows. Slots
// that it owns already are left out.
func (c *Client) AddSlots(ctx context.Context, ranges []Range) error {
	o, err := c.Observe(ctx)
	if err != nil {
		return err
	}
	myself, known := o.Myself()
	if !known {
		return fmt.Errorf("giving slots to the Redis node %s: it does not answer for itself yet", c.address)
	}
	args := []any{"CLUSTER", "ADDSLOTSRANGE"}
	for _, r := range missing(myself, ranges) {
		args = append(args, r.First, r.Last)
	}
	if len(args) == 2 {
		return nil
	}
	if err := c.do(ctx, nil, args...); err != nil {
		return fmt.Errorf("giving slots to the Redis node %s: %w", c.address, err)
	}
	return nil
}

// missing are those of the slots that the node does not own.
func missing(node Node, ranges []Range) []Range {
	var lacking []Range
	for _, r := range ranges {
		for slot := r.First; slot <= r.Last; slot++ {
			if node.Owns(slot) {
				continue
			}
			if last := len(lacking) - 1; last >= 0 && lacking[last].Last == slot-1 {
				lacking[last].Last = slot
				continue
			}
			lacking = append(lacking, Range{slot, slot})
		}
	}
	return lacking
}

// Replicate makes the node a replica of another, which it must know already. A
// primary must own no slots and hold no keys for it.
func (c *Client) Replicate(ctx context.Context, id string) error {
	if err := c.do(ctx, nil, "CLUSTER", "REPLICATE", id); err != nil {
		return fmt.Errorf("making the Redis node %s a replica of %s: %w", c.address, id, err)
	}
	return nil
}

// Failover makes the node, a replica, the primary of its shard, with the
// consent of the primary and without losing a write. Its success says no more
// than that it has begun.
func (c *Client) Failover(ctx context.Context) error {
	return c.failover(ctx, "CLUSTER", "FAILOVER")
}

// FailoverForce does so without the primary, which is not reached: writes that
// it alone had are lost. A majority of the primaries must still agree.
func (c *Client) FailoverForce(ctx context.Context) error {
	return c.failover(ctx, "CLUSTER", "FAILOVER", "FORCE")
}

func (c *Client) failover(ctx context.Context, args ...any) error {
	if err := c.do(ctx, []string{"send CLUSTER FAILOVER to a replica"}, args...); err != nil {
		return fmt.Errorf("making the Redis node %s the primary: %w", c.address, err)
	}
	return nil
}

// Forget has the node forget another, for at least a minute.
func (c *Client) Forget(ctx context.Context, id string) error {
	if err := c.do(ctx, []string{"Unknown node"}, "CLUSTER", "FORGET", id); err != nil {
		return fmt.Errorf("having the Redis node %s forget %s: %w", c.address, id, err)
	}
	return nil
}

// Reset gives the node a new identity and has it forget all others. A primary
// that holds keys refuses; a replica is emptied.
func (c *Client) Reset(ctx context.Context) error {
	if err := c.do(ctx, nil, "CLUSTER", "RESET", "HARD"); err != nil {
		return fmt.Errorf("resetting the Redis node %s: %w", c.address, err)
	}
	return nil
}

// SetSetting changes a setting of the running node. It returns a *RefusedError
// where Redis does not take the value.
func (c *Client) SetSetting(ctx context.Context, name string, values []string) error {
	err := c.commands.ConfigSet(ctx, name, strings.Join(values, " ")).Err()
	if says(err, "ERR") {
		return &RefusedError{Setting: name, Reason: strings.TrimPrefix(err.Error(), "ERR ")}
	}
	if err != nil {
		return fmt.Errorf("setting '%s' of the Redis node %s: %w", name, c.address, err)
	}
	return nil
}
