//go:build redis

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/operator/internal/backup"
)

const third = "10922-16383" // the slots of the last of three shards

func TestBackupWhileAWriterRuns(t *testing.T) {
	c, dir := form(t, 3, true), t.TempDir()
	c.fill(t, 3000)
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		n := 0
		for ctx.Err() == nil {
			if c.client.Set(ctx, fmt.Sprintf("later:%d", n), n, 0).Err() == nil {
				n++
			}
		}
		written <- n
	}()
	m, _ := succeeds[backup.Manifest](t, c.backup(dir, "one")...)
	cancel()
	if n := <-written; n == 0 {
		t.Error("nothing was written meanwhile")
	}
	var roles []string
	for _, s := range m.Shards {
		roles = append(roles, s.Role)
		if !s.Checksummed || s.Bytes == 0 || s.Offset == 0 {
			t.Errorf("entry %+v", s)
		}
	}
	if diff := cmp.Diff([]string{"replica", "replica", "replica"}, roles); diff != "" {
		t.Errorf("copied from (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m, verified(t, filepath.Join(dir, "one"))); diff != "" {
		t.Errorf("printed and verified (-printed +verified):\n%s", diff)
	}
	to := form(t, 2, false)
	done, _ := succeeds[backup.Restored](t, to.restore(filepath.Join(dir, "one"))...)
	if done.Keys < 3000 || done.Found != done.Keys {
		t.Errorf("restored %+v", done)
	}
	for i := range 3000 {
		if got := to.client.Get(t.Context(), fmt.Sprintf("key:%d", i)).Val(); got != fmt.Sprintf("value %d", i) {
			t.Fatalf("key:%d is %q", i, got)
		}
	}
}

func TestFramingWithAndWithoutDisk(t *testing.T) {
	c, dir := form(t, 1, false), t.TempDir()
	c.fill(t, 500)
	for _, diskless := range []string{"yes", "no"} {
		c.do(t, c.primaries[0], "CONFIG", "SET", "repl-diskless-sync", diskless)
		m, said := succeeds[backup.Manifest](t, c.backup(dir, "diskless-"+diskless)...)
		if m.Shards[0].Role != "primary" || !strings.Contains(said, "no replica is in sync") {
			t.Errorf("copied from the %s, said:\n%s", m.Shards[0].Role, said)
		}
	}
}

func TestKilledBackupsResume(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c, dir := form(t, 3, true), t.TempDir()
	c.fill(t, 3000)
	c.slow(t, 200*time.Microsecond)
	args := c.backup(dir, "one", "--parallelism", "1")

	first := start(t, args...)
	first.says(t, "shard 0-5460: finished")
	must(t, first.cmd.Process.Kill())
	first.ends(t)
	whole, err := os.Stat(filepath.Join(dir, "one", "shard-0.rdb"))
	must(t, err)
	for range 5 {
		p := start(t, args...)
		timer := time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
		code := p.ends(t)
		timer.Stop()
		// Killed after the manifest was written, it may be a backup all the same.
		if _, err := backup.ReadManifest(filepath.Join(dir, "one")); err == nil {
			verified(t, filepath.Join(dir, "one"))
		} else if code == 0 || !errors.Is(err, backup.ErrNoBackup) {
			t.Fatalf("exit code %d, but %v", code, err)
		}
	}
	m, _ := succeeds[backup.Manifest](t, args...)
	if diff := cmp.Diff(m, verified(t, filepath.Join(dir, "one"))); diff != "" {
		t.Errorf("printed and verified (-printed +verified):\n%s", diff)
	}
	now, err := os.Stat(filepath.Join(dir, "one", "shard-0.rdb"))
	must(t, err)
	if !os.SameFile(whole, now) {
		t.Error("the first shard was copied again")
	}
	left, err := filepath.Glob(filepath.Join(dir, "one", ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestTerminatedBackupResumes(t *testing.T) {
	c, dir := form(t, 3, true), t.TempDir()
	c.fill(t, 3000)
	c.slow(t, 500*time.Microsecond)
	p := start(t, c.backup(dir, "one", "--parallelism", "1")...)
	p.says(t, "shard 5461-10921: copying from")
	must(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.failed(t, "shard with slots 5461-10921", "shard with slots "+third, "terminated")
	if _, err := backup.ReadManifest(filepath.Join(dir, "one")); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("error is %v, want no backup", err)
	}
	_, said := succeeds[backup.Manifest](t, c.backup(dir, "one")...)
	if !strings.Contains(said, "shard-0.rdb is there from an earlier run") {
		t.Errorf("copied the first shard again:\n%s", said)
	}
}

func TestAShardThatGoesDownIsNamed(t *testing.T) {
	c, dir := form(t, 3, true), t.TempDir()
	c.fill(t, 3000)
	c.slow(t, 500*time.Microsecond)
	id := idOf(t, c.primaries[2])
	p := start(t, c.backup(dir, "one", "--parallelism", "1", "--retry", "1s")...)
	p.says(t, "shard 0-5460: copying from")
	c.primaries[2].End(t, syscall.SIGKILL)
	c.replicas[2].End(t, syscall.SIGKILL)
	p.failed(t, "shard with slots "+third, id, hostPort(c.primaries[2]))
	for _, file := range []string{"shard-0.rdb", "shard-5461.rdb"} {
		if _, err := os.Stat(filepath.Join(dir, "one", file)); err != nil {
			t.Errorf("what was finished: %v", err)
		}
	}
	// The next run meets a Redis Cluster that has noticed.
	fails(t, c.backup(dir, "one", "--retry", "1s"), "the slots "+third, id)
}

func TestSlotsThatMoveAreTakenAgain(t *testing.T) {
	c, dir := form(t, 3, true), t.TempDir()
	c.fill(t, 3000)
	c.slow(t, 500*time.Microsecond)
	slot := 0
	for c.do(t, c.primaries[0], "CLUSTER", "COUNTKEYSINSLOT", slot) != int64(0) {
		slot++
	}
	to := idOf(t, c.primaries[1])
	p := start(t, c.backup(dir, "one", "--parallelism", "1")...)
	p.says(t, "shard "+third+": copying from")
	for _, n := range []int{1, 0, 2} {
		c.do(t, c.primaries[n], "CLUSTER", "SETSLOT", slot, "NODE", to)
	}
	if code := p.ends(t); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.stderr.String())
	}
	said := p.stderr.String()
	if !strings.Contains(said, "slots moved during the copy") || strings.Count(said, "shard "+third+": copying from") != 1 {
		t.Errorf("want the shards that changed, and no others, copied again:\n%s", said)
	}
	m := verified(t, filepath.Join(dir, "one"))
	if !strings.Contains(m.Shards[0].Slots+m.Shards[1].Slots, fmt.Sprint(slot)) {
		t.Errorf("slots %s and %s", m.Shards[0].Slots, m.Shards[1].Slots)
	}
}

func TestOpenSlotsAreNotCopied(t *testing.T) {
	c, dir := form(t, 2, false), t.TempDir()
	c.do(t, c.primaries[0], "CLUSTER", "SETSLOT", 7, "MIGRATING", idOf(t, c.primaries[1]))
	fails(t, c.backup(dir, "one", "--retry", "1s"), "is moving the slots [7]", idOf(t, c.primaries[0]))
}

func TestPasswords(t *testing.T) {
	c, dir := form(t, 1, false), t.TempDir()
	wrong := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(wrong, []byte("wrong"), 0o600))
	begun := time.Now()
	fails(t, []string{"--address", c.address(), "--password-file", wrong, "--directory", dir, "--name", "one"}, "WRONGPASS")
	fails(t, []string{"--address", c.address(), "--directory", dir, "--name", "one"}, "NOAUTH")
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("took %s: a wrong password is wrong at once", took)
	}
}

func TestDamageIsFound(t *testing.T) {
	c, dir := form(t, 1, false), t.TempDir()
	c.fill(t, 500)
	succeeds[backup.Manifest](t, c.backup(dir, "one")...)
	path := filepath.Join(dir, "one", "shard-0.rdb")
	data, err := os.ReadFile(path)
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(path, data, 0o600))
	fails(t, []string{"verify", filepath.Join(dir, "one")}, "shard with slots 0-16383", "shard-0.rdb")
	fails(t, form(t, 1, false).restore(filepath.Join(dir, "one")), "shard-0.rdb")
}

func TestRetention(t *testing.T) {
	c, dir := form(t, 1, false), t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		succeeds[backup.Manifest](t, c.backup(dir, name, "--keep", "2")...)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the oldest backup: %v, want it removed", err)
	}
	verified(t, filepath.Join(dir, "b"))
	verified(t, filepath.Join(dir, "c"))
}
