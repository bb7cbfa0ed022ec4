package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const (
	// APIVersion and Kind tell a manifest of ours from other files.
	APIVersion = "backup.cache.example.com/v1"
	Kind       = "RedisClusterBackup"

	manifestFile = "manifest.json"
	startedFile  = "started.json"
)

// Manifest says what a backup holds.
type Manifest struct {
	APIVersion   string    `json:"apiVersion"`
	Kind         string    `json:"kind"`
	Name         string    `json:"name"`
	CreatedAt    time.Time `json:"createdAt"`
	RedisVersion string    `json:"redisVersion"`
	Shards       []Entry   `json:"shards"`
}

// Entry is one shard of a backup.
type Entry struct {
	File  string `json:"file"`
	Slots string `json:"slots"`
	// NodeID, Address and Role are of the node that the data came from.
	NodeID        string    `json:"nodeID"`
	Address       string    `json:"address"`
	Role          string    `json:"role"`
	ReplicationID string    `json:"replicationID"`
	Offset        int64     `json:"replicationOffset"`
	CopiedAt      time.Time `json:"copiedAt"`
	Bytes         int64     `json:"bytes"`
	SHA256        string    `json:"sha256"`
	RDBVersion    int       `json:"rdbVersion"`
	Checksummed   bool      `json:"checksummed"`
}

// started marks a directory as ours before the manifest does.
type started struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	StartedAt  time.Time `json:"startedAt"`
}

var (
	shardFile  = regexp.MustCompile(`^shard-[0-9]{1,5}\.rdb$`)
	halfDone   = regexp.MustCompile(`^\.[a-z0-9-]+\.(rdb|json|rdb\.json)\.[0-9]+\.tmp$`)
	backupName = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_.]{0,127}$`)
)

// ErrNoBackup is a directory that holds no manifest of ours.
var ErrNoBackup = errors.New("no complete backup")

// decodeManifest reads a manifest, and refuses one that names files elsewhere.
func decodeManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	if m.APIVersion != APIVersion || m.Kind != Kind || len(m.Shards) == 0 {
		return Manifest{}, fmt.Errorf("%w: a manifest of %s %s with %d shards", ErrNoBackup, m.APIVersion, m.Kind, len(m.Shards))
	}
	for _, s := range m.Shards {
		if !shardFile.MatchString(s.File) {
			return Manifest{}, fmt.Errorf("%w: %q is not the name of a shard's file", ErrNoBackup, s.File)
		}
	}
	return m, nil
}

// ReadManifest reads the manifest of the backup in dir.
func ReadManifest(dir string) (Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("reading %s: %w: %w", dir, ErrNoBackup, err)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the manifest: %w", err)
	}
	m, err := decodeManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", dir, err)
	}
	return m, nil
}

// Verify checks the files of the backup in dir against its manifest.
func Verify(dir string) (Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return Manifest{}, err
	}
	var problems []error
	for _, s := range m.Shards {
		if err := verifyEntry(dir, s); err != nil {
			problems = append(problems, fmt.Errorf("shard with slots %s in %s: %w", s.Slots, s.File, err))
		}
	}
	return m, errors.Join(problems...)
}

// ErrMismatch is a file that is not what was noted of it.
var ErrMismatch = errors.New("the file is not what was written")

func verifyEntry(dir string, e Entry) error {
	file, err := os.Open(filepath.Join(dir, e.File))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	got, err := CheckRDB(file)
	if err != nil {
		return err
	}
	want := Summary{Bytes: e.Bytes, SHA256: e.SHA256, RDBVersion: e.RDBVersion, Checksummed: e.Checksummed}
	if got != want {
		return fmt.Errorf("%w: %d bytes with SHA-256 %s, want %d bytes with %s", ErrMismatch, got.Bytes, got.SHA256, want.Bytes, want.SHA256)
	}
	return nil
}
