package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Deadlines of a connection.
const (
	// DialTimeout is how long a node may take to accept a connection.
	DialTimeout = time.Second
	// AnswerTimeout is how long a node may take to answer one command that
	// does not move keys.
	AnswerTimeout = 3 * time.Second
)

// ErrPassword is that none of the passwords is the node's.
var ErrPassword = errors.New("none of the known passwords is the node's")

// Dialer opens connections; nil dials as usual.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Client talks to one node. It keeps its connections until Close.
type Client struct {
	address  Address
	password string
	commands *goredis.Client
}

// Connect reaches a node with the first of the passwords that it takes. The
// empty one means none; no passwords at all mean the same. A node that has no
// password takes any.
func Connect(ctx context.Context, dial Dialer, address Address, passwords ...string) (*Client, error) {
	if len(passwords) == 0 {
		passwords = []string{""}
	}
	for _, password := range passwords {
		c := newClient(dial, address, password)
		err := c.commands.Ping(ctx).Err()
		switch {
		case err == nil, says(err, "LOADING"), says(err, "MASTERDOWN"):
			return c.without(ctx), nil
		}
		c.Close()
		if !says(err, "WRONGPASS") && !says(err, "NOAUTH") {
			return nil, fmt.Errorf("reaching the Redis node %s: %w", address, err)
		}
	}
	return nil, fmt.Errorf("reaching the Redis node %s: %w", address, ErrPassword)
}

// without drops the password of a client whose node has none: go-redis passes
// over such a node's objection, and MIGRATE does not.
func (c *Client) without(ctx context.Context) *Client {
	if c.password != "" && contains(c.commands.Do(ctx, "AUTH", c.password).Err(), "without any password") {
		c.password = ""
	}
	return c
}

// newClient retries nothing: a command that may have been carried out is only
// repeated after looking again.
func newClient(dial Dialer, address Address, password string) *Client {
	return &Client{address: address, password: password, commands: goredis.NewClient(&goredis.Options{
		Addr:                     address.String(),
		Dialer:                   dial,
		Password:                 password,
		Protocol:                 2,
		MaxRetries:               -1,
		DialerRetries:            1,
		PoolSize:                 2,
		DialTimeout:              DialTimeout,
		ReadTimeout:              AnswerTimeout,
		WriteTimeout:             AnswerTimeout,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

// Close ends the connections.
func (c *Client) Close() {
	// What was asked has been answered; there is nothing to lose.
	_ = c.commands.Close()
}

// Address is the node's.
func (c *Client) Address() Address { return c.address }

// String is host:port.
func (a Address) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// says reports whether a node answered with an error that begins so.
func says(err error, prefix string) bool {
	return err != nil && strings.HasPrefix(err.Error(), prefix)
}

// Observe asks the node what it says of itself.
func (c *Client) Observe(ctx context.Context) (Observation, error) {
	o, err := c.observe(ctx)
	if err != nil {
		return Observation{}, fmt.Errorf("observing the Redis node %s: %w", c.address, err)
	}
	return o, nil
}

func (c *Client) observe(ctx context.Context) (Observation, error) {
	pipe := c.commands.Pipeline()
	info := pipe.Info(ctx)
	id := pipe.Do(ctx, "CLUSTER", "MYID")
	nodes := pipe.ClusterNodes(ctx)
	cluster := pipe.ClusterInfo(ctx)
	keys := pipe.DBSize(ctx)
	// Each answer has its own error.
	_, _ = pipe.Exec(ctx)

	text, err := info.Result()
	if err != nil {
		return Observation{}, err
	}
	said := values(text)
	o := Observation{
		Version: said["redis_version"],
		RunID:   said["run_id"],
		Loading: said["loading"] == "1",
	}
	if o.ID, err = id.Text(); err != nil {
		return o, tolerate(err, o.Loading)
	}
	if text, err = nodes.Result(); err != nil {
		return o, tolerate(err, o.Loading)
	}
	if o.Nodes, err = ParseNodes(text); err != nil {
		return o, err
	}
	if text, err = cluster.Result(); err != nil {
		return o, tolerate(err, o.Loading)
	}
	state := values(text)
	o.OK = state["cluster_state"] == "ok"
	if o.CurrentEpoch, err = integer(state, "cluster_current_epoch"); err != nil {
		return o, err
	}
	if o.Replication, err = parseReplication(said); err != nil {
		return o, err
	}
	o.Keys, err = keys.Result()
	return o, tolerate(err, o.Loading)
}

// tolerate forgives a node that loads its data what it does not answer.
func tolerate(err error, loading bool) error {
	if loading || says(err, "LOADING") {
		return nil
	}
	return err
}

func contains(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}
