package backup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestExpired(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	done := func(name string, hour int) kept { return kept{name, true, at(hour)} }
	begun := func(name string, hour int) kept { return kept{name, false, at(hour)} }
	tests := map[string]struct {
		found []kept
		keep  int
		want  []string
	}{
		"nothing is there":                  {nil, 1, nil},
		"as many as are kept":               {[]kept{done("a", 1), done("b", 2)}, 2, nil},
		"the oldest goes":                   {[]kept{done("b", 2), done("a", 1), done("c", 3)}, 2, []string{"a"}},
		"an older incomplete one goes":      {[]kept{begun("a", 1), done("b", 2)}, 3, []string{"a"}},
		"a newer incomplete one stays":      {[]kept{done("a", 1), begun("b", 2)}, 3, nil},
		"incomplete ones do not count":      {[]kept{done("a", 1), begun("b", 2), done("c", 3)}, 2, []string{"b"}},
		"nothing goes without a whole one":  {[]kept{begun("a", 1), begun("b", 2)}, 1, nil},
		"the name decides at the same time": {[]kept{done("a", 1), done("b", 1)}, 1, []string{"a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, expired(tc.found, tc.keep)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// fakeBackup makes a backup of one shard, copied in that hour.
func fakeBackup(t *testing.T, dir string, hour int) {
	t.Helper()
	data := sealed("REDIS0010 some data")
	s, err := CheckRDB(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shard-0.rdb"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	err = writeJSON(dir, manifestFile, Manifest{
		APIVersion: APIVersion, Kind: Kind, CreatedAt: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC),
		Shards: []Entry{{File: "shard-0.rdb", Slots: "0-16383", Bytes: s.Bytes, SHA256: s.SHA256, RDBVersion: s.RDBVersion, Checksummed: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPruneTouchesOnlyBackups(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for i, name := range []string{"a", "b", "c"} {
		fakeBackup(t, filepath.Join(dir, name), i)
	}
	fakeBackup(t, filepath.Join(elsewhere, "old"), 0)
	if err := os.Symlink(filepath.Join(elsewhere, "old"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "old", "shard-0.rdb"), filepath.Join(dir, "a", "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "stranger"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stranger", manifestFile), []byte(`{"kind":"Other"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := prune(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, got); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{"b", "c", "link", "stranger"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if _, err := Verify(filepath.Join(elsewhere, "old")); err != nil {
		t.Errorf("what the link leads to: %v", err)
	}
}

func TestVerify(t *testing.T) {
	tests := map[string]struct {
		damage func(dir string) error
		want   error
	}{
		"nothing is wrong":  {func(string) error { return nil }, nil},
		"no manifest":       {func(dir string) error { return os.Remove(filepath.Join(dir, manifestFile)) }, ErrNoBackup},
		"a file is missing": {func(dir string) error { return os.Remove(filepath.Join(dir, "shard-0.rdb")) }, os.ErrNotExist},
		"a file is cut":     {func(dir string) error { return os.Truncate(filepath.Join(dir, "shard-0.rdb"), 20) }, ErrRDB},
		"another whole file": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "shard-0.rdb"), sealed("REDIS0010 same size"), 0o600)
		}, ErrMismatch},
		"a manifest that leads out": {func(dir string) error {
			return writeJSON(dir, manifestFile, Manifest{APIVersion: APIVersion, Kind: Kind, Shards: []Entry{{File: "../shard-0.rdb"}}})
		}, ErrNoBackup},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fakeBackup(t, dir, 0)
			if err := tc.damage(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(dir); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
		})
	}
}

func TestWriteFileLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	err := writeFile(dir, "shard-0.rdb", func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	})
	if !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), dir) || !permanent(err) {
		t.Errorf("error is %v, want a full disk that names %s", err, dir)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}
