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

// memo remembers what this process has learnt of files, so that it reads or
// runs each of them once. Of a file that was replaced or written to since, it
// knows nothing.
type memo struct {
	mu    sync.Mutex
	known map[string]knownFile
}

type knownFile struct {
	info   os.FileInfo
	learnt string
}

func (m *memo) get(path string, info os.FileInfo) (learnt string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.known[path]
	ok = ok && os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime())
	return was.learnt, ok
}

func (m *memo) put(path string, info os.FileInfo, learnt string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]knownFile{}
	}
	m.known[path] = knownFile{info: info, learnt: learnt}
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
