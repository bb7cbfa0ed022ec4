package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	firstPause = 250 * time.Millisecond
	longPause  = 5 * time.Second
	// reportEach is how often a long copy tells how far it is.
	reportEach = 10 * time.Second
)

// permanent reports whether an error would be the same a second later.
func permanent(err error) bool {
	var refused replyError
	if errors.As(err, &refused) && refused.permanent() {
		return true
	}
	for _, code := range []string{"WRONGPASS", "NOAUTH", "NOPERM"} {
		if goredis.HasErrorPrefix(err, code) {
			return true
		}
	}
	var path *os.PathError
	return errors.Is(err, ErrDiskFull) || errors.As(err, &path)
}

// again tries until it works, until it never will, or until o.Retry is over.
func (o Options) again(ctx context.Context, what string, try func(context.Context) error) error {
	deadline := time.Now().Add(o.Retry)
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		err := try(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", what, errors.Join(context.Cause(ctx), err))
		case permanent(err):
			return fmt.Errorf("%s: %w", what, err)
		case time.Now().Add(pause).After(deadline):
			return fmt.Errorf("%s, tried for %s: %w", what, o.Retry, err)
		}
		o.Log("%s: trying again: %v", what, err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// copyShard copies one shard, from another node of it each time if need be.
func (o Options) copyShard(ctx context.Context, s shard) (Entry, error) {
	if e, found := o.noted(s); found {
		o.Log("shard %s: %s is there from an earlier run", s.slots(), e.File)
		return e, nil
	}
	var e Entry
	err := o.again(ctx, "copying shard "+s.slots(), func(ctx context.Context) (err error) {
		e, err = o.copyFrom(ctx, s, o.source(ctx, s, o.Log))
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	if err := writeJSON(o.path(), s.file()+".json", e); err != nil {
		return Entry{}, err
	}
	o.Log("shard %s: finished, %d bytes", e.Slots, e.Bytes)
	return e, nil
}

func (o Options) copyFrom(ctx context.Context, s shard, from source) (Entry, error) {
	address := addressOf(from.node)
	if from.role == "primary" {
		o.Log("shard %s: no replica is in sync: copying from the primary", s.slots())
	}
	o.Log("shard %s: copying from the %s %s at %s", s.slots(), from.role, from.node.ID, address)
	// The note of an earlier file must not outlive the file.
	if err := os.Remove(filepath.Join(o.path(), s.file()+".json")); err != nil && !os.IsNotExist(err) {
		return Entry{}, err
	}
	var at position
	var summary Summary
	err := writeFile(o.path(), s.file(), func(w io.Writer) (err error) {
		check := newChecker()
		tell := &teller{next: time.Now().Add(reportEach), tell: func(n int64) { o.Log("shard %s: %d bytes so far", s.slots(), n) }}
		if at, err = fetch(ctx, address, o.Password, o.Stall, io.MultiWriter(w, check, tell)); err != nil {
			return err
		}
		summary, err = check.Summary()
		return err
	})
	if err != nil {
		return Entry{}, fmt.Errorf("copying from the %s %s at %s: %w", from.role, from.node.ID, address, err)
	}
	if !summary.Checksummed {
		o.Log("shard %s: the node writes no checksums (rdbchecksum no)", s.slots())
	}
	return Entry{
		File: s.file(), Slots: s.slots(), NodeID: from.node.ID, Address: address, Role: from.role,
		ReplicationID: at.ReplicationID, Offset: at.Offset, CopiedAt: o.Now().UTC(),
		Bytes: summary.Bytes, SHA256: summary.SHA256, RDBVersion: summary.RDBVersion, Checksummed: summary.Checksummed,
	}, nil
}

// teller tells how many bytes went by, now and then.
type teller struct {
	bytes int64
	next  time.Time
	tell  func(int64)
}

// Write never fails.
func (t *teller) Write(p []byte) (int, error) {
	t.bytes += int64(len(p))
	if now := time.Now(); now.After(t.next) {
		t.next = now.Add(reportEach)
		t.tell(t.bytes)
	}
	return len(p), nil
}
