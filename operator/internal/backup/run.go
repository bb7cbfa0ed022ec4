package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// rounds is how often shards are copied again because slots moved meanwhile.
const rounds = 5

// Options are what a backup is taken of, and where to.
type Options struct {
	Access
	// Directory holds the backups, each in a directory of its Name.
	Directory string
	Name      string
	// Parallelism is how many shards are copied at a time, Keep how many
	// complete backups remain.
	Parallelism int
	Keep        int
	// Retry is for how long a shard that cannot be copied just now is tried
	// again, Stall for how long a node may send nothing.
	Retry time.Duration
	Stall time.Duration
	Now   func() time.Time
	Log   func(format string, values ...any)
}

func (o Options) path() string { return filepath.Join(o.Directory, o.Name) }

// Run takes a backup, or finishes the one of that name that was begun.
func Run(ctx context.Context, o Options) (Manifest, error) {
	if !backupName.MatchString(o.Name) {
		return Manifest{}, fmt.Errorf("%q cannot be the name of a backup", o.Name)
	}
	m, err := ReadManifest(o.path())
	switch {
	case err == nil:
		o.Log("backup %s is complete already", o.Name)
	case errors.Is(err, ErrNoBackup):
		if m, err = o.take(ctx); err != nil {
			return Manifest{}, err
		}
	default:
		return Manifest{}, err
	}
	removed, err := prune(o.Directory, o.Keep)
	if len(removed) > 0 {
		o.Log("removed %s", strings.Join(removed, ", "))
	}
	return m, err
}

func (o Options) take(ctx context.Context) (Manifest, error) {
	if err := o.begin(); err != nil {
		return Manifest{}, fmt.Errorf("preparing %s: %w", o.path(), err)
	}
	shards, err := o.settle(ctx)
	if err != nil {
		return Manifest{}, err
	}
	for range rounds {
		entries, err := o.copyAll(ctx, shards)
		if err != nil {
			return Manifest{}, err
		}
		before := slotsOf(shards)
		if shards, err = o.settle(ctx); err != nil {
			return Manifest{}, err
		}
		if slices.Equal(before, slotsOf(shards)) {
			return o.finish(ctx, shards, entries)
		}
		o.Log("slots moved during the copy: taking the shards that changed again")
	}
	return Manifest{}, fmt.Errorf("%w: slots moved in each of %d rounds", ErrIncomplete, rounds)
}

func slotsOf(shards []shard) []string {
	var slots []string
	for _, s := range shards {
		slots = append(slots, s.slots())
	}
	return slots
}

// begin makes the directory, and clears what an earlier run left half done.
func (o Options) begin() error {
	if err := os.MkdirAll(o.path(), 0o755); err != nil {
		return err
	}
	// Only this program leaves such files, and one run at a time has the name.
	if err := o.remove(halfDone.MatchString); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(o.path(), startedFile)); err == nil {
		return nil
	}
	return writeJSON(o.path(), startedFile, started{APIVersion: APIVersion, Kind: Kind + "Started", StartedAt: o.Now().UTC()})
}

// settle waits for a Redis Cluster that is whole and moves no slots.
func (o Options) settle(ctx context.Context) ([]shard, error) {
	var shards []shard
	err := o.again(ctx, "observing the Redis Cluster", func(ctx context.Context) (err error) {
		shards, err = o.settled(ctx)
		return err
	})
	return shards, err
}

// copyAll copies all shards that are not there yet. One that fails does not
// keep the others from being finished.
func (o Options) copyAll(ctx context.Context, shards []shard) ([]Entry, error) {
	entries := make([]Entry, len(shards))
	problems := make([]error, len(shards))
	var workers errgroup.Group
	workers.SetLimit(max(o.Parallelism, 1))
	for i, s := range shards {
		workers.Go(func() error {
			var err error
			if entries[i], err = o.copyShard(ctx, s); err != nil {
				problems[i] = fmt.Errorf("shard with slots %s, primary %s at %s: %w", s.slots(), s.primary.ID, addressOf(s.primary), err)
			}
			return nil
		})
	}
	_ = workers.Wait()
	return entries, errors.Join(problems...)
}

// finish writes the manifest, after which the directory is a backup.
func (o Options) finish(ctx context.Context, shards []shard, entries []Entry) (Manifest, error) {
	version, err := o.version(ctx, shards[0].primary)
	if err != nil {
		return Manifest{}, err
	}
	m := Manifest{
		APIVersion: APIVersion, Kind: Kind, Name: o.Name, CreatedAt: o.Now().UTC(),
		RedisVersion: version, Shards: entries,
	}
	if err := o.removeOthers(m); err != nil {
		return Manifest{}, fmt.Errorf("clearing %s: %w", o.path(), err)
	}
	return m, writeJSON(o.path(), manifestFile, m)
}

// removeOthers removes the shards that are gone since they were copied.
func (o Options) removeOthers(m Manifest) error {
	return o.remove(func(name string) bool {
		file := strings.TrimSuffix(name, ".json")
		return shardFile.MatchString(file) && !slices.ContainsFunc(m.Shards, func(e Entry) bool { return e.File == file })
	})
}

// remove removes the files of the backup that are chosen by name.
func (o Options) remove(chosen func(name string) bool) error {
	entries, err := os.ReadDir(o.path())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !chosen(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(o.path(), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// noted is the shard's file from an earlier run, if it is whole and the shard
// still has the same slots.
func (o Options) noted(s shard) (Entry, bool) {
	data, err := os.ReadFile(filepath.Join(o.path(), s.file()+".json"))
	if err != nil {
		return Entry{}, false
	}
	var e Entry
	if err := json.Unmarshal(data, &e); err != nil || e.File != s.file() || e.Slots != s.slots() {
		return Entry{}, false
	}
	return e, verifyEntry(o.path(), e) == nil
}
