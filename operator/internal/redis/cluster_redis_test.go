//go:build redis

package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seatrial/seatrial/operator/internal/redis"
	"github.com/seatrial/seatrial/operator/internal/redis/redistest"
)

// within is how long the nodes may take to agree.
const within = 20 * time.Second

// form makes a Redis Cluster of nodes, each of which is a primary.
func form(t *testing.T, nodes ...*redistest.Node) []*redis.Client {
	t.Helper()
	var clients []*redis.Client
	for i, node := range nodes {
		c := node.Client(t)
		clients = append(clients, c)
		must(t, c.SetConfigEpoch(t.Context(), int64(i+1)))
		must(t, c.SetConfigEpoch(t.Context(), int64(i+1)))
	}
	for _, c := range clients[1:] {
		must(t, c.Meet(t.Context(), clients[0].Address()))
	}
	share := redis.Slots / len(clients)
	for i, c := range clients {
		last := (i+1)*share - 1
		if i == len(clients)-1 {
			last = redis.Slots - 1
		}
		must(t, c.AddSlots(t.Context(), []redis.Range{{First: i * share, Last: last}}))
		must(t, c.AddSlots(t.Context(), []redis.Range{{First: i * share, Last: last}}))
	}
	serving(t, clients)
	return clients
}

// serving waits until all nodes know all others and serve.
func serving(t *testing.T, clients []*redis.Client) {
	t.Helper()
	redistest.Eventually(t, within, "all nodes serve", func(ctx context.Context) error {
		for _, c := range clients {
			o, err := c.Observe(ctx)
			if err != nil {
				return err
			}
			if !o.OK || len(o.Nodes) != len(clients) {
				return fmt.Errorf("%s knows %d nodes, ok: %t", c.Address(), len(o.Nodes), o.OK)
			}
			for _, node := range o.Nodes {
				if node.Handshake || !node.Connected {
					return fmt.Errorf("%s has no link to %s", c.Address(), node.Address)
				}
			}
		}
		return nil
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func observe(t *testing.T, c *redis.Client) redis.Observation {
	t.Helper()
	o, err := c.Observe(t.Context())
	must(t, err)
	return o
}

func TestFormingReplicatingAndFailover(t *testing.T) {
	one, two := redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{})
	clients := form(t, one)
	replica := two.Client(t)
	must(t, replica.Meet(t.Context(), one.Address()))
	serving(t, append(clients, replica))
	primary := observe(t, clients[0])
	must(t, replica.Replicate(t.Context(), primary.ID))
	must(t, replica.Replicate(t.Context(), primary.ID))
	redistest.Eventually(t, within, "the replica is in sync", func(ctx context.Context) error {
		o, err := replica.Observe(ctx)
		if err == nil && !o.Replication.LinkUp {
			return errors.New("its link is down")
		}
		return err
	})
	redistest.Eventually(t, within, "the primary knows the other for a replica", func(ctx context.Context) error {
		o, err := clients[0].Observe(ctx)
		for _, node := range o.Nodes {
			if !node.Myself && node.PrimaryID != primary.ID {
				return errors.New("it takes it for a primary")
			}
		}
		return err
	})
	if o := observe(t, clients[0]); len(o.Replication.Replicas) != 1 || !o.Replication.Replicas[0].Online {
		t.Errorf("the primary knows the replicas %+v", o.Replication.Replicas)
	}
	must(t, replica.Failover(t.Context()))
	redistest.Eventually(t, within, "the replica is the primary", func(ctx context.Context) error {
		o, err := replica.Observe(ctx)
		if myself, _ := o.Myself(); err == nil && !myself.Owns(0) {
			return errors.New("it owns no slot")
		}
		return err
	})
	must(t, replica.Failover(t.Context()))
}

func TestForgetAndReset(t *testing.T) {
	clients := form(t, redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{}))
	id := observe(t, clients[1]).ID
	set(t, clients[1], keysOf(observe(t, clients[1]), 1))
	if err := clients[1].Reset(t.Context()); err == nil {
		t.Fatal("a primary that holds keys was reset")
	}
	slots := slotsOf(observe(t, clients[1]))
	must(t, redis.MoveSlots(t.Context(), clients[1], clients[0], slots, redis.MoveOptions{}))
	must(t, clients[1].Reset(t.Context()))
	must(t, clients[0].Forget(t.Context(), id))
	must(t, clients[0].Forget(t.Context(), id))
	if o := observe(t, clients[0]); len(o.Nodes) != 1 || o.Keys != 1 {
		t.Errorf("the remaining node knows %d nodes and holds %d keys", len(o.Nodes), o.Keys)
	}
	if observe(t, clients[1]).ID == id {
		t.Error("the node kept its ID")
	}
}

func TestMeetingAgainAtNewAddresses(t *testing.T) {
	nodes := []*redistest.Node{redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{})}
	form(t, nodes...)
	for _, node := range nodes {
		node.End(t, syscall.SIGTERM)
	}
	var clients []*redis.Client
	for i, node := range nodes {
		node.Move(fmt.Sprintf("127.0.1.%d", i+1))
		node.Run(t)
		clients = append(clients, node.Client(t))
	}
	for _, c := range clients[1:] {
		must(t, c.Meet(t.Context(), clients[0].Address()))
	}
	serving(t, clients)
}

func TestPasswords(t *testing.T) {
	node := redistest.Start(t, redistest.Options{Password: `old "one'`})
	connect := func(passwords ...string) (*redis.Client, error) {
		c, err := redis.Connect(t.Context(), nil, node.Address(), passwords...)
		if err == nil {
			t.Cleanup(c.Close)
		}
		return c, err
	}
	c, err := connect("", "wrong", `old "one'`)
	must(t, err)
	must(t, c.AllowPassword(t.Context(), "new"))
	must(t, c.UseWithPrimary(t.Context(), "new"))
	for _, password := range []string{"new", `old "one'`} {
		if _, err := connect(password); err != nil {
			t.Errorf("between the phases: %v", err)
		}
	}
	must(t, c.OnlyPassword(t.Context(), "new"))
	if _, err := connect(`old "one'`); !errors.Is(err, redis.ErrPassword) || strings.Contains(err.Error(), "old") {
		t.Errorf("after the last phase the old password gives %v", err)
	}
	taken, err := connect("gone", "new")
	must(t, err)
	if taken.Password() != "new" {
		t.Errorf("the client goes by %q", taken.Password())
	}
}

func TestANodeWithoutPasswordTakesAny(t *testing.T) {
	node := redistest.Start(t, redistest.Options{})
	c, err := redis.Connect(t.Context(), nil, node.Address(), "some")
	must(t, err)
	defer c.Close()
	observe(t, c)
	if c.Password() != "" {
		t.Errorf("the client goes by %q", c.Password())
	}
}

func TestSettings(t *testing.T) {
	c := redistest.Start(t, redistest.Options{}).Client(t)
	must(t, c.SetSetting(t.Context(), "save", []string{"900 1", "300 10"}))
	must(t, c.SetSetting(t.Context(), "maxmemory", []string{"1048576"}))
	var refused *redis.RefusedError
	for _, setting := range []string{"databases", "no-such-setting"} {
		if err := c.SetSetting(t.Context(), setting, []string{"5"}); !errors.As(err, &refused) || refused.Setting != setting {
			t.Errorf("setting %s gives %v", setting, err)
		}
	}
}

func TestANodeThatIsNotThere(t *testing.T) {
	dials := atomic.Int32{}
	dial := func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		return nil, syscall.ECONNREFUSED
	}
	_, err := redis.Connect(t.Context(), dial, redis.Address{Host: "127.0.0.1", Port: 1}, "a", "b")
	if !errors.Is(err, syscall.ECONNREFUSED) || dials.Load() != 1 {
		t.Errorf("error is %v after %d dials", err, dials.Load())
	}
}
