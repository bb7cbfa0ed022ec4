package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// loader is a Redis server of our own that has read one RDB file. It listens
// on a socket in a directory of its own and nowhere else.
type loader struct {
	client *goredis.Client
	cmd    *exec.Cmd
	ended  chan struct{}
	dir    string
	output output
}

// output is what the server wrote.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps what is written.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := strings.TrimSpace(o.text.String())
	return text[max(0, len(text)-500):]
}

// errEnded is a server that ended before it had read its file.
var errEnded = errors.New("it ended")

func load(ctx context.Context, server, dir, file string) (*loader, error) {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	l := &loader{ended: make(chan struct{})}
	if l.dir, err = os.MkdirTemp("", "restore-"); err != nil {
		return nil, err
	}
	socket := filepath.Join(l.dir, "socket")
	l.cmd = exec.CommandContext(ctx, server, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700",
		"--dir", folder, "--dbfilename", file, "--save", "", "--appendonly", "no", "--daemonize", "no")
	l.cmd.Stdout, l.cmd.Stderr = &l.output, &l.output
	l.cmd.Cancel = func() error { return l.cmd.Process.Signal(syscall.SIGTERM) }
	l.cmd.WaitDelay = 5 * time.Second
	if err := l.cmd.Start(); err != nil {
		_ = os.RemoveAll(l.dir)
		return nil, fmt.Errorf("starting %s: %w", server, err)
	}
	go func() {
		_ = l.cmd.Wait()
		close(l.ended)
	}()
	l.client = goredis.NewClient(&goredis.Options{
		Network: "unix", Addr: socket, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true,
		ReadTimeout: time.Minute,
	})
	if err := l.wait(ctx); err != nil {
		said := l.output.last()
		l.close()
		return nil, fmt.Errorf("reading %s with %s: %w: %s", file, server, err, said)
	}
	return l, nil
}

// wait waits until the server has read its file, or has ended over it.
func (l *loader) wait(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ended:
			return errEnded
		case <-tick.C:
		}
		if l.client.Ping(ctx).Err() == nil {
			return nil
		}
	}
}

func (l *loader) close() {
	_ = l.client.Close()
	_ = l.cmd.Process.Kill()
	<-l.ended
	_ = os.RemoveAll(l.dir)
}
