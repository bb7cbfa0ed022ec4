//go:build redis

package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/seatrial/seatrial/operator/internal/redis"
	"github.com/seatrial/seatrial/operator/internal/redis/redistest"
)

// slotsOf are the slots that a node owns.
func slotsOf(o redis.Observation) []int {
	var slots []int
	myself, _ := o.Myself()
	for _, r := range myself.Ranges {
		for slot := r.First; slot <= r.Last; slot++ {
			slots = append(slots, slot)
		}
	}
	return slots
}

// keysOf are n keys in slots that the node owns.
func keysOf(o redis.Observation, n int) []string {
	var keys []string
	myself, _ := o.Myself()
	for i := 0; len(keys) < n; i++ {
		if key := fmt.Sprintf("key-%d", i); myself.Owns(redis.SlotOf(key)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// users is the client that users have: it follows slots where they go.
func users(t *testing.T, clients []*redis.Client) *goredis.ClusterClient {
	t.Helper()
	var addresses []string
	for _, c := range clients {
		addresses = append(addresses, c.Address().String())
	}
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addresses, MaxRedirects: 16})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func set(t *testing.T, c *redis.Client, keys []string) {
	t.Helper()
	user := goredis.NewClient(&goredis.Options{Addr: c.Address().String()})
	defer func() { _ = user.Close() }()
	for _, key := range keys {
		must(t, user.Set(t.Context(), key, key, 0).Err())
	}
}

// TestMovingUnderAWriter moves slots while a client writes, and then asks for every write that Redis acknowledged.
func TestMovingUnderAWriter(t *testing.T) {
	clients := form(t, redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{}))
	user := users(t, clients)
	ctx, stop := context.WithCancel(t.Context())
	acknowledged := make(chan []string, 1)
	go func() {
		var keys []string
		for i := 0; ctx.Err() == nil; i++ {
			key := fmt.Sprintf("written-%d", i)
			if user.Set(ctx, key, key, 0).Err() == nil {
				keys = append(keys, key)
			}
		}
		acknowledged <- keys
	}()
	slots := slotsOf(observe(t, clients[0]))[:400]
	options := redis.MoveOptions{Keys: 5}
	must(t, redis.MoveSlots(t.Context(), clients[0], clients[1], slots, options))
	must(t, redis.MoveSlots(t.Context(), clients[0], clients[1], slots, options))
	stop()
	keys := <-acknowledged
	if len(keys) < 100 {
		t.Fatalf("only %d writes were acknowledged: the test shows nothing", len(keys))
	}
	for _, key := range keys {
		if got, err := user.Get(t.Context(), key).Result(); got != key {
			t.Fatalf("%s is %q, error %v", key, got, err)
		}
	}
	t.Logf("%d acknowledged writes", len(keys))
}

// TestMovingResumes cuts the connection to the nodes after each number of
// commands, moves again, and looks for every key. Each round has slots of its
// own, because none may be moved back at once.
func TestMovingResumes(t *testing.T) {
	one, two := redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("first node:\n%s\nsecond node:\n%s", one.Log(t), two.Log(t))
		}
	})
	clients := form(t, one, two)
	all := spread(observe(t, clients[0]))
	const perRound = 4
	for cut := int32(1); ; cut++ {
		keys := all[:perRound]
		all = all[perRound:]
		set(t, clients[0], keys)
		var slots []int
		for _, key := range keys {
			slots = append(slots, redis.SlotOf(key))
		}
		err := moveCut(t, clients[0], clients[1], slots, cut)
		t.Logf("cut after %d writes: %v", cut, err)
		must(t, redis.MoveSlots(t.Context(), clients[0], clients[1], slots, redis.MoveOptions{Keys: 1}))
		moved(t, clients[0], clients[1], slots, keys)
		if err == nil {
			return
		}
	}
}

// spread are keys of which no two are in one slot, all in slots of the node.
func spread(o redis.Observation) []string {
	var keys []string
	seen := map[int]bool{}
	for _, key := range keysOf(o, 2000) {
		if slot := redis.SlotOf(key); !seen[slot] {
			seen[slot] = true
			keys = append(keys, key)
		}
	}
	return keys
}

var errCut = errors.New("cut off")

// moveCut moves over connections that break after so many writes.
func moveCut(t *testing.T, from, to *redis.Client, slots []int, writes int32) error {
	t.Helper()
	left := &atomic.Int32{}
	left.Store(1 << 20)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		return &cutConn{Conn: c, left: left}, err
	}
	var cut []*redis.Client
	for _, c := range []*redis.Client{from, to} {
		client, err := redis.Connect(t.Context(), dial, c.Address())
		must(t, err)
		defer client.Close()
		cut = append(cut, client)
	}
	left.Store(writes)
	return redis.MoveSlots(t.Context(), cut[0], cut[1], slots, redis.MoveOptions{Keys: 1})
}

// cutConn lets the last write through and nothing after it: the command is
// carried out, and nobody hears of it.
type cutConn struct {
	net.Conn
	left *atomic.Int32
}

func (c *cutConn) Write(b []byte) (int, error) {
	left := c.left.Add(-1)
	if left < 0 {
		return 0, errCut
	}
	n, err := c.Conn.Write(b)
	if left == 0 {
		return n, errors.Join(err, errCut)
	}
	return n, err
}

// moved looks for what a move must have done.
func moved(t *testing.T, from, to *redis.Client, slots []int, keys []string) {
	t.Helper()
	redistest.Eventually(t, within, "both nodes agree on the slots", func(ctx context.Context) error {
		for _, c := range []*redis.Client{from, to} {
			o, err := c.Observe(ctx)
			if err != nil {
				return err
			}
			for _, node := range o.Nodes {
				if len(node.Migrating)+len(node.Importing) > 0 {
					return fmt.Errorf("%s has open slots: %v %v", c.Address(), node.Migrating, node.Importing)
				}
				for _, slot := range slots {
					if node.Owns(slot) != (node.Address == to.Address()) {
						return fmt.Errorf("%s has slot %d with %s", c.Address(), slot, node.Address)
					}
				}
			}
		}
		return nil
	})
	user := goredis.NewClient(&goredis.Options{Addr: to.Address().String()})
	defer func() { _ = user.Close() }()
	for i, key := range keys {
		if got, err := user.Get(t.Context(), key).Result(); got != key {
			t.Errorf("%s, the key of slot %d, is %q, error %v", key, slots[i], got, err)
		}
	}
	if left := observe(t, from).Keys; left != 0 {
		t.Errorf("the source still holds %d keys", left)
	}
	if t.Failed() {
		t.FailNow()
	}
}

func TestAKeyThatIsTooLarge(t *testing.T) {
	clients := form(t, redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{}))
	key := keysOf(observe(t, clients[0]), 1)[0]
	user := users(t, clients)
	must(t, user.Set(t.Context(), key, make([]byte, 1<<16), time.Hour).Err())
	var large *redis.KeyTooLargeError
	err := redis.MoveSlots(t.Context(), clients[0], clients[1], []int{redis.SlotOf(key)}, redis.MoveOptions{Largest: 1 << 10})
	if !errors.As(err, &large) || large.Slot != redis.SlotOf(key) || large.Bytes < 1<<16 {
		t.Fatalf("error is %v", err)
	}
	if err := user.Get(t.Context(), key).Err(); err != nil {
		t.Errorf("the key cannot be read any more: %v", err)
	}
}
