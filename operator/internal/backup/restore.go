package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// batch is how many keys are on the way at a time.
const batch = 64

// RestoreOptions are what is restored, and where to.
type RestoreOptions struct {
	Access
	// From is the directory of one backup.
	From string
	// Replace has keys that are there overwritten; without it the target must
	// be empty.
	Replace bool
	// Server is the redis-server program that reads the files.
	Server string
	Log    func(format string, values ...any)
}

// Restored is what a restore did.
type Restored struct {
	// Keys were written, Volatile of them with a time to live. Expired were in
	// the backup, but their time was over.
	Keys     int64 `json:"keys"`
	Volatile int64 `json:"volatile"`
	Expired  int64 `json:"expired"`
	// Found is how many keys the target holds at the end.
	Found int64 `json:"found"`
}

// ErrNotEmpty is a target that holds keys.
var ErrNotEmpty = errors.New("the Redis Cluster holds keys")

// ErrCount is a target that does not hold what was written to it.
var ErrCount = errors.New("keys are missing")

// Restore writes the keys of a backup to the nodes that own their slots.
func Restore(ctx context.Context, o RestoreOptions) (Restored, error) {
	m, err := Verify(o.From)
	if err != nil {
		return Restored{}, fmt.Errorf("checking the backup: %w", err)
	}
	shards, err := o.settled(ctx)
	if err != nil {
		return Restored{}, err
	}
	held, err := o.count(ctx, shards)
	if err != nil {
		return Restored{}, err
	}
	if held > 0 && !o.Replace {
		return Restored{}, fmt.Errorf("%w (%d): restore to an empty one, or say --replace", ErrNotEmpty, held)
	}
	target := o.target(shards)
	defer func() { _ = target.Close() }()
	var total Restored
	for _, entry := range m.Shards {
		o.Log("shard %s: restoring %s", entry.Slots, entry.File)
		if err := o.restoreShard(ctx, target, entry, &total); err != nil {
			return total, fmt.Errorf("restoring shard %s from %s: %w", entry.Slots, entry.File, err)
		}
	}
	if total.Found, err = o.count(ctx, shards); err != nil {
		return total, err
	}
	// Keys with a time to live may be gone by now.
	if least := total.Keys - total.Volatile; total.Found < least || (held == 0 && total.Found > total.Keys) {
		return total, fmt.Errorf("%w: wrote %d, of which %d do not expire, and found %d", ErrCount, total.Keys, least, total.Found)
	}
	return total, nil
}

func (o RestoreOptions) target(shards []shard) *goredis.ClusterClient {
	var addresses []string
	for _, s := range shards {
		addresses = append(addresses, addressOf(s.primary))
	}
	return goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs: addresses, Password: o.Password, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true,
		ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

func (o RestoreOptions) count(ctx context.Context, shards []shard) (int64, error) {
	var total int64
	for _, s := range shards {
		err := o.ask(addressOf(s.primary), func(c *goredis.Client) error {
			n, err := c.DBSize(ctx).Result()
			total += n
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("counting keys: %w", err)
		}
	}
	return total, nil
}

func (o RestoreOptions) restoreShard(ctx context.Context, target *goredis.ClusterClient, e Entry, total *Restored) error {
	from, err := load(ctx, o.Server, o.From, e.File)
	if err != nil {
		return err
	}
	defer from.close()
	if err := restoreFunctions(ctx, from.client, target); err != nil {
		return err
	}
	// A scan may name a key twice. What was written is deleted here, so that it
	// is not named again, and what is left at the end was missed.
	var cursor uint64
	for {
		var keys []string
		keys, cursor, err = from.client.Scan(ctx, cursor, "", batch).Result()
		if err != nil {
			return fmt.Errorf("listing keys: %w", err)
		}
		if err := o.moveKeys(ctx, from.client, target, keys, total); err != nil {
			return err
		}
		if cursor == 0 {
			return leftBehind(ctx, from.client)
		}
	}
}

func leftBehind(ctx context.Context, from *goredis.Client) error {
	left, err := from.DBSize(ctx).Result()
	if err != nil {
		return fmt.Errorf("counting what is left: %w", err)
	}
	if left == 0 {
		return nil
	}
	// A key whose time is over counts until Redis comes round to it.
	keys, _, err := from.Scan(ctx, 0, "", left+batch).Result()
	if err != nil {
		return fmt.Errorf("listing what is left: %w", err)
	}
	for _, key := range keys {
		if n, err := from.Exists(ctx, key).Result(); err != nil || n > 0 {
			return errors.Join(fmt.Errorf("%w: %.200q was not written", ErrCount, key), err)
		}
	}
	return nil
}

// moveKeys copies values as Redis serializes them, which every type has.
func (o RestoreOptions) moveKeys(ctx context.Context, from *goredis.Client, target *goredis.ClusterClient, keys []string, total *Restored) error {
	if len(keys) == 0 {
		return nil
	}
	values := make([]*goredis.StringCmd, len(keys))
	ends := make([]*goredis.DurationCmd, len(keys))
	_, err := from.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i, key := range keys {
			ends[i] = p.PExpireTime(ctx, key)
			values[i] = p.Dump(ctx, key)
		}
		return nil
	})
	if err != nil && !errors.Is(err, goredis.Nil) {
		return fmt.Errorf("reading keys: %w", err)
	}
	writes := target.Pipeline()
	for i, key := range keys {
		value, err := values[i].Result()
		if errors.Is(err, goredis.Nil) {
			total.Expired++
			continue
		}
		words := []any{"RESTORE", key, 0, value}
		if end := ends[i].Val().Milliseconds(); end > 0 {
			words[2] = end
			words = append(words, "ABSTTL")
			total.Volatile++
		}
		if o.Replace {
			words = append(words, "REPLACE")
		}
		writes.Do(ctx, words...)
		total.Keys++
	}
	if err := execute(ctx, writes); err != nil {
		return err
	}
	if err := from.Unlink(ctx, keys...).Err(); err != nil {
		return fmt.Errorf("dropping what was written: %w", err)
	}
	return nil
}

func execute(ctx context.Context, p goredis.Pipeliner) error {
	if p.Len() == 0 {
		return nil
	}
	done, err := p.Exec(ctx)
	if err == nil {
		return nil
	}
	for _, c := range done {
		if c.Err() != nil {
			return fmt.Errorf("writing the key %.200q: %w", fmt.Sprint(c.Args()[1]), c.Err())
		}
	}
	return fmt.Errorf("writing keys: %w", err)
}

// restoreFunctions gives every primary the functions of the shard, which are
// the same in all shards.
func restoreFunctions(ctx context.Context, from *goredis.Client, target *goredis.ClusterClient) error {
	libraries, err := from.FunctionList(ctx, goredis.FunctionListQuery{}).Result()
	if err != nil {
		return fmt.Errorf("listing functions: %w", err)
	}
	if len(libraries) == 0 {
		return nil
	}
	payload, err := from.FunctionDump(ctx).Result()
	if err != nil {
		return fmt.Errorf("reading functions: %w", err)
	}
	return target.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error {
		if err := c.Do(ctx, "FUNCTION", "RESTORE", payload, "REPLACE").Err(); err != nil {
			return fmt.Errorf("writing functions: %w", err)
		}
		return nil
	})
}
