package assets

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockInterval = 50 * time.Millisecond
	// waitInterval is how often a wait is told of.
	waitInterval = time.Second
)

// holder is what the holder of a lock writes into its file, for those who
// wait. The lock itself is the kernel's and ends with its holder.
type holder struct {
	PID   int    `json:"pid"`
	Doing string `json:"doing"`
}

// lockName names the lock under which a component is got.
func (s *Store) lockName(r recipe) string {
	return r.component + "-" + r.version + "-" + s.platform()
}

// acquire waits for a lock of the cache until the context ends.
func (s *Store) acquire(ctx context.Context, name, doing string) (release func(), err error) {
	path := filepath.Join(s.dir, "locks", name+".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making the cache (choose another with %s): %w", EnvCache, err)
	}
	lock := flock.New(path)
	if err := s.await(ctx, lock, doing); err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	content, err := json.Marshal(holder{PID: os.Getpid(), Doing: doing})
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = lock.Close() }, nil
}

func (s *Store) await(ctx context.Context, lock *flock.Flock, doing string) error {
	began := s.now()
	ticker := time.NewTicker(lockInterval)
	defer ticker.Stop()
	for told := time.Duration(-1); ; {
		if ok, err := lock.TryLock(); ok || err != nil {
			return err
		}
		if waited := s.now().Sub(began); told < 0 || waited >= told+waitInterval {
			told = waited
			s.emit(Event{Stage: StageWait, Subject: doing, Elapsed: waited, Message: "waiting for " + holderOf(lock.Path())})
		}
		select {
		case <-ctx.Done():
			_ = lock.Close()
			return ended(ctx)
		case <-ticker.C:
		}
	}
}

// holderOf says who holds a lock.
func holderOf(path string) string {
	var h holder
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &h) != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d (%s)", h.PID, h.Doing)
}
