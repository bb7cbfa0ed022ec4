package redis

import (
	"context"
	"errors"
	"fmt"
)

// A password is changed in three phases, each on all nodes before the next
// begins: allow the new one beside the old, have replicas use it with their
// primary, take the old one away. No node is restarted, and no client that
// knows either password is turned away until the last phase.

// AllowPassword lets clients in with this password as well.
func (c *Client) AllowPassword(ctx context.Context, password string) error {
	return c.secretly(ctx, "allowing a password", "ACL", "SETUSER", "default", "on", ">"+password)
}

// UseWithPrimary has the node use this password with its primary.
func (c *Client) UseWithPrimary(ctx context.Context, password string) error {
	return c.secretly(ctx, "setting the password for the primary", "CONFIG", "SET", "masterauth", password)
}

// OnlyPassword turns away clients with any other password.
func (c *Client) OnlyPassword(ctx context.Context, password string) error {
	return c.secretly(ctx, "removing old passwords", "ACL", "SETUSER", "default", "on", "resetpass", ">"+password)
}

// secretly runs a command that holds a password, which no error may show:
// Redis quotes arguments that it does not like.
func (c *Client) secretly(ctx context.Context, what string, args ...any) error {
	err := c.do(ctx, nil, args...)
	if err == nil {
		return nil
	}
	if says(err, "ERR") {
		return fmt.Errorf("%s on the Redis node %s: Redis refuses it", what, c.address)
	}
	return fmt.Errorf("%s on the Redis node %s: %w", what, c.address, err)
}

// Password is the one that the node took.
func (c *Client) Password() string { return c.password }

// secret hides the arguments of a command that holds a password.
func secret(err error) error {
	if says(err, "ERR wrong") || says(err, "ERR syntax") || says(err, "ERR unknown") {
		return errCommand
	}
	return err
}

var errCommand = errors.New("no such command is known to Redis")
