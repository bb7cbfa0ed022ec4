package backup

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

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// Access is how the nodes of a Redis Cluster are reached.
type Access struct {
	// Addresses are any of the nodes, as host:port. The others are found.
	Addresses []string
	Password  string
}

func (a Access) client(address string) *goredis.Client {
	return goredis.NewClient(&goredis.Options{
		Addr: address, Password: a.Password, Protocol: 2, MaxRetries: -1, PoolSize: 1,
		DisableIdentity: true, ContextTimeoutEnabled: true,
		DialTimeout: 2 * time.Second, ReadTimeout: 5 * time.Second,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// ask has do talk to one node.
func (a Access) ask(address string, do func(*goredis.Client) error) error {
	client := a.client(address)
	defer func() { _ = client.Close() }()
	if err := do(client); err != nil {
		return fmt.Errorf("asking %s: %w", address, err)
	}
	return nil
}

// view is what one node says of the Redis Cluster.
func (a Access) view(ctx context.Context, address string) (nodes []redis.Node, ok bool, err error) {
	err = a.ask(address, func(c *goredis.Client) error {
		text, err := c.ClusterNodes(ctx).Result()
		if err != nil {
			return err
		}
		info, err := c.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		ok = field(info, "cluster_state") == "ok"
		nodes, err = redis.ParseNodes(text)
		return err
	})
	for i := range nodes {
		// A node that was never met by another does not know its own address.
		if host, _, splitErr := net.SplitHostPort(address); nodes[i].Myself && nodes[i].Address.Host == "" && splitErr == nil {
			nodes[i].Address.Host = host
		}
	}
	return nodes, ok, err
}

// field is the value of a line of INFO or CLUSTER INFO.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// observe asks the seeds, then all that they know, until one says that the
// Redis Cluster is whole.
func (a Access) observe(ctx context.Context) ([]shard, error) {
	addresses := append([]string(nil), a.Addresses...)
	asked := map[string]bool{}
	var problems []error
	for len(addresses) > 0 && ctx.Err() == nil {
		address := addresses[0]
		addresses = addresses[1:]
		if asked[address] {
			continue
		}
		asked[address] = true
		nodes, ok, err := a.view(ctx, address)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if ok {
			return shardsOf(nodes)
		}
		problems = append(problems, unwell(address, nodes))
		for _, n := range nodes {
			if !n.NoAddress && !n.Failed {
				addresses = append(addresses, addressOf(n))
			}
		}
	}
	return nil, errors.Join(append(problems, ctx.Err())...)
}

func unwell(address string, nodes []redis.Node) error {
	if why := lost(nodes); why != "" {
		return fmt.Errorf("%w: %s says that %s", ErrIncomplete, address, why)
	}
	if _, err := shardsOf(nodes); err != nil {
		return fmt.Errorf("asking %s: %w", address, err)
	}
	return fmt.Errorf("%w: cluster_state of %s is not ok", ErrIncomplete, address)
}

// settled is the shards at a time when no slot is on its way.
func (a Access) settled(ctx context.Context) ([]shard, error) {
	shards, err := a.observe(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		nodes, _, err := a.view(ctx, addressOf(s.primary))
		if err != nil {
			return nil, fmt.Errorf("shard with slots %s, node %s: %w", s.slots(), s.primary.ID, err)
		}
		for _, n := range nodes {
			if slots := moving(n); n.Myself && len(slots) > 0 {
				return nil, fmt.Errorf("%w: node %s is moving the slots %v", ErrIncomplete, n.ID, slots)
			}
		}
	}
	return shards, nil
}

// source is the node that a shard is copied from, and its role there.
type source struct {
	node redis.Node
	role string
}

// source chooses the replica that is furthest, or else the primary, which has
// to fork for the copy while it serves.
func (a Access) source(ctx context.Context, s shard, log func(string, ...any)) source {
	best, furthest := source{node: s.primary, role: "primary"}, int64(-1)
	for _, r := range s.replicas {
		var info string
		err := a.ask(addressOf(r), func(c *goredis.Client) (err error) {
			info, err = c.Info(ctx, "replication").Result()
			return err
		})
		if err != nil || field(info, "master_link_status") != "up" {
			log("shard %s: passing over the replica %s: link to its primary %q, error: %v", s.slots(), r.ID, field(info, "master_link_status"), err)
			continue
		}
		offset, err := strconv.ParseInt(field(info, "slave_repl_offset"), 10, 64)
		if err == nil && offset > furthest {
			best, furthest = source{node: r, role: "replica"}, offset
		}
	}
	return best
}

func (a Access) version(ctx context.Context, n redis.Node) (string, error) {
	var info string
	err := a.ask(addressOf(n), func(c *goredis.Client) (err error) {
		info, err = c.Info(ctx, "server").Result()
		return err
	})
	return field(info, "redis_version"), err
}
