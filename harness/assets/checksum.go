package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
)

// memo remembers files that this process has verified, so that it reads each
// of them once. A file that was replaced or written to since is read again.
type memo struct {
	mu    sync.Mutex
	known map[string]verifiedFile
}

type verifiedFile struct {
	info os.FileInfo
	sum  string
}

func (m *memo) has(path string, info os.FileInfo, sum string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.known[path]
	return ok && was.sum == sum &&
		os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime())
}

func (m *memo) put(path string, info os.FileInfo, sum string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]verifiedFile{}
	}
	m.known[path] = verifiedFile{info: info, sum: sum}
}

func (m *memo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = nil
}

// hashFile returns the SHA-256 of a file in hex.
func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	buffer := make([]byte, 1<<20)
	for {
		if ctx.Err() != nil {
			return "", fmt.Errorf("computing the checksum of %s: %w", path, ended(ctx))
		}
		n, err := f.Read(buffer)
		h.Write(buffer[:n])
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}
