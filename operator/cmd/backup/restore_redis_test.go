//go:build redis

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"github.com/seatrial/seatrial/operator/internal/backup"
	"github.com/seatrial/seatrial/operator/internal/redis/redistest"
)

// everyType writes values of every type, small and large, as Redis keeps them
// in different ways.
func everyType(t *testing.T, c *cluster) {
	t.Helper()
	ctx := t.Context()
	p := c.client.Pipeline()
	for size, n := range map[string]int{"small": 3, "large": 2000} {
		for i := range n {
			member := fmt.Sprintf("member %d \x00\xff", i)
			p.Append(ctx, "string:"+size, member)
			p.RPush(ctx, "list:"+size, member)
			p.SAdd(ctx, "set:"+size, member)
			p.SAdd(ctx, "intset:"+size, i)
			p.HSet(ctx, "hash:"+size, member, i)
			p.ZAdd(ctx, "zset:"+size, goredis.Z{Score: float64(i) / 3, Member: member})
			p.XAdd(ctx, &goredis.XAddArgs{Stream: "stream:" + size, ID: fmt.Sprintf("%d-1", i+1), Values: []any{"field", member}})
			p.PFAdd(ctx, "hyperloglog:"+size, member)
			p.SetBit(ctx, "bits:"+size, int64(7*i), 1)
			p.GeoAdd(ctx, "geo:"+size, &goredis.GeoLocation{Name: member, Longitude: float64(i % 180), Latitude: float64(i % 80)})
		}
	}
	p.Set(ctx, "number", 42, 0)
	p.Set(ctx, "", "the empty key", 0)
	p.Set(ctx, "long", "has a time to live", time.Hour)
	p.HSet(ctx, "long:hash", "a", "b")
	p.PExpire(ctx, "long:hash", 2*time.Hour)
	p.XGroupCreate(ctx, "stream:small", "group", "0")
	p.XReadGroup(ctx, &goredis.XReadGroupArgs{Group: "group", Consumer: "somebody", Streams: []string{"stream:small", ">"}, Count: 2, Block: -1})
	_, err := p.Exec(ctx)
	must(t, err)
}

// contents is all that a Redis Cluster holds, in a form that can be compared.
func contents(t *testing.T, c *cluster) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, n := range c.primaries {
		client := goredis.NewClient(&goredis.Options{Addr: hostPort(n), Password: password, Protocol: 2, DisableIdentity: true})
		defer func() { _ = client.Close() }()
		keys, err := client.Keys(t.Context(), "*").Result()
		must(t, err)
		for _, key := range keys {
			if _, twice := all[key]; twice {
				t.Errorf("the key %q is there twice", key)
			}
			all[key] = value(t, client, key)
		}
	}
	return all
}

func value(t *testing.T, client *goredis.Client, key string) string {
	t.Helper()
	ctx := t.Context()
	kind, err := client.Type(ctx, key).Result()
	must(t, err)
	ends, err := client.PExpireTime(ctx, key).Result()
	must(t, err)
	var held any
	switch kind {
	case "set":
		var members []string
		members, err = client.SMembers(ctx, key).Result()
		slices.Sort(members)
		held = members
	case "hash":
		held, err = client.HGetAll(ctx, key).Result()
	case "stream":
		held = stream(t, client, key)
	default:
		// Of these the serialized form does not depend on how they came about.
		held, err = client.Dump(ctx, key).Result()
	}
	must(t, err)
	return fmt.Sprintf("%s, ends %d: %+q", kind, ends.Milliseconds(), held)
}

// stream is what a stream holds. Its serialized form does not serve: a primary
// and its replica differ in when a consumer was seen, and in how many entries
// its group has read.
func stream(t *testing.T, client *goredis.Client, key string) any {
	t.Helper()
	entries, err := client.XRange(t.Context(), key, "-", "+").Result()
	must(t, err)
	groups, err := client.XInfoGroups(t.Context(), key).Result()
	must(t, err)
	held := []any{entries}
	for _, g := range groups {
		pending, err := client.XPendingExt(t.Context(), &goredis.XPendingExtArgs{Stream: key, Group: g.Name, Start: "-", End: "+", Count: 100}).Result()
		must(t, err)
		held = append(held, g.Name, g.LastDeliveredID, len(pending))
		for _, p := range pending {
			held = append(held, p.ID, p.Consumer, p.RetryCount)
		}
	}
	return held
}

func TestRestoreIntoFewerShards(t *testing.T) {
	from, to, dir := form(t, 3, true), form(t, 2, true), t.TempDir()
	from.fill(t, 2000)
	everyType(t, from)
	must(t, from.client.ForEachMaster(t.Context(), func(ctx context.Context, c *goredis.Client) error {
		return c.FunctionLoad(ctx, "#!lua name=library\nredis.register_function('answer', function() return 42 end)").Err()
	}))
	from.waitReplicas(t)
	want := contents(t, from)
	if len(want) < 2020 {
		t.Fatalf("only %d keys", len(want))
	}
	succeeds[backup.Manifest](t, from.backup(dir, "one")...)
	one := filepath.Join(dir, "one")
	done, _ := succeeds[backup.Restored](t, to.restore(one)...)
	if diff := cmp.Diff(backup.Restored{Keys: int64(len(want)), Volatile: 2, Found: int64(len(want))}, done); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, contents(t, to)); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	for _, n := range to.primaries {
		if got := to.do(t, n, "FCALL", "answer", 0); got != int64(42) {
			t.Errorf("the function says %v", got)
		}
	}
	refusesWhatIsThere(t, to, one, want)
}

// refusesWhatIsThere restores once more, over keys that changed.
func refusesWhatIsThere(t *testing.T, to *cluster, one string, want map[string]string) {
	t.Helper()
	must(t, to.client.Set(t.Context(), "key:0", "changed", 0).Err())
	must(t, to.client.Set(t.Context(), "stranger", "stays", 0).Err())
	fails(t, to.restore(one), "holds keys", "--replace")
	if got := to.client.Get(t.Context(), "key:0").Val(); got != "changed" {
		t.Errorf("a refused restore wrote %q", got)
	}
	succeeds[backup.Restored](t, to.restore(one, "--replace")...)
	got := contents(t, to)
	if _, stays := got["stranger"]; !stays {
		t.Error("a key that the backup lacks was removed")
	}
	delete(got, "stranger")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contents after --replace (-want +got):\n%s", diff)
	}
}

func TestExpiredKeysAreNotMissed(t *testing.T) {
	from, to, dir := form(t, 1, false), form(t, 1, false), t.TempDir()
	from.fill(t, 100)
	for i := range 100 {
		must(t, from.client.Set(t.Context(), fmt.Sprintf("short:%d", i), i, 3*time.Second).Err())
	}
	succeeds[backup.Manifest](t, from.backup(dir, "one")...)
	redistest.Eventually(t, within, "the short keys are gone", func(ctx context.Context) error {
		return from.client.Eval(ctx, "if redis.call('DBSIZE') > 100 then return redis.error_reply('still there') end return 'gone'", []string{"x"}).Err()
	})
	done, _ := succeeds[backup.Restored](t, to.restore(filepath.Join(dir, "one"))...)
	if done.Keys != 100 || done.Found != 100 {
		t.Errorf("restored %+v", done)
	}
}

func TestRestoreWithoutAServer(t *testing.T) {
	c, dir := form(t, 1, false), t.TempDir()
	succeeds[backup.Manifest](t, c.backup(dir, "one")...)
	fails(t, c.restore(filepath.Join(dir, "one"), "--redis-server", "no-such-program"), "starting no-such-program")
	// A server that ends at once must not be waited for.
	fails(t, c.restore(filepath.Join(dir, "one"), "--redis-server", "false"), "it ended")
}

// waitReplicas waits until replicas have applied all that primaries wrote.
func (c *cluster) waitReplicas(t *testing.T) {
	t.Helper()
	for i, primary := range c.primaries {
		redistest.Eventually(t, within, "the replica has it all", func(ctx context.Context) error {
			p, err := primary.Client(t).Observe(ctx)
			if err != nil {
				return err
			}
			r, err := c.replicas[i].Client(t).Observe(ctx)
			if err != nil || r.Replication.Offset < p.Replication.Offset {
				return fmt.Errorf("%d behind %d: %w", r.Replication.Offset, p.Replication.Offset, err)
			}
			return nil
		})
	}
}
