// Package redistest starts real Redis nodes for tests, on loopback.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// Deadlines.
const (
	startsWithin = 10 * time.Second
	endsWithin   = 10 * time.Second
	pollEvery    = 20 * time.Millisecond
)

// Options adapts a node. The zero value is ready to use.
type Options struct {
	// Host is an address of loopback; empty means 127.0.0.1.
	Host string
	// Password is that of clients and of nodes among themselves.
	Password string
	// NodeTimeout is cluster-node-timeout; 0 means a second.
	NodeTimeout time.Duration
	// Args are further arguments of redis-server.
	Args []string
}

// Node is a Redis node in a process of its own.
type Node struct {
	options Options
	dir     string
	port    int
	process *exec.Cmd
	ended   chan struct{}
}

// Start starts a node in cluster mode, and ends it when the test does. A test
// that has no redis-server fails: Debian's package redis-server has it.
func Start(tb testing.TB, o Options) *Node {
	tb.Helper()
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	if o.NodeTimeout == 0 {
		o.NodeTimeout = time.Second
	}
	n := &Node{options: o, dir: tb.TempDir(), port: freePort(tb, o.Host)}
	n.Run(tb)
	tb.Cleanup(func() { n.End(tb, syscall.SIGKILL) })
	return n
}

// Address is where the node is reached.
func (n *Node) Address() redis.Address { return redis.Address{Host: n.options.Host, Port: n.port} }

// Move has the node come back at another address, with what is on its disk.
func (n *Node) Move(host string) { n.options.Host = host }

// Wipe removes what is on the disk of a node that does not run.
func (n *Node) Wipe(tb testing.TB) {
	tb.Helper()
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(n.dir, entry.Name())); err != nil {
			tb.Fatal(err)
		}
	}
}

// Run starts the process and waits until it answers.
func (n *Node) Run(tb testing.TB) {
	tb.Helper()
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	args := append([]string{
		"--port", strconv.Itoa(n.port), "--bind", n.options.Host, "--dir", n.dir, "--protected-mode", "no",
		"--cluster-enabled", "yes", "--cluster-node-timeout", strconv.FormatInt(n.options.NodeTimeout.Milliseconds(), 10),
		"--cluster-announce-ip", n.options.Host, "--cluster-allow-replica-migration", "no",
		"--appendonly", "yes", "--save", "", "--repl-diskless-sync-delay", "0", "--shutdown-timeout", "3",
	}, n.options.Args...)
	if n.options.Password != "" {
		args = append(args, "--requirepass", n.options.Password, "--masterauth", n.options.Password)
	}
	n.process = exec.Command("redis-server", args...) //nolint:noctx // it outlives the call, and End ends it
	n.process.Stdout, n.process.Stderr = log, log
	if err := n.process.Start(); err != nil {
		tb.Fatalf("starting redis-server (Debian's package redis-server has it): %v", err)
	}
	ended := make(chan struct{})
	n.ended = ended
	go func() {
		_ = n.process.Wait()
		_ = log.Close()
		close(ended)
	}()
	n.answers(tb)
}

func (n *Node) answers(tb testing.TB) {
	tb.Helper()
	Eventually(tb, startsWithin, fmt.Sprintf("the Redis node %s answers", n.Address()), func(ctx context.Context) error {
		select {
		case <-n.ended:
			tb.Fatalf("redis-server ended: %s", n.Log(tb))
		default:
		}
		c, err := redis.Connect(ctx, nil, n.Address(), n.options.Password)
		if err != nil {
			return err
		}
		defer c.Close()
		o, err := c.Observe(ctx)
		if err == nil && o.Loading {
			return errors.New("it loads its data")
		}
		return err
	})
}

// End ends the process by a signal, and waits until it has.
func (n *Node) End(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	select {
	case <-n.ended:
		return
	default:
	}
	if err := n.process.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Errorf("ending redis-server: %v", err)
	}
	select {
	case <-n.ended:
	case <-time.After(endsWithin):
		tb.Errorf("redis-server %s did not end within %v", n.Address(), endsWithin)
	}
}

// Log is what the node wrote.
func (n *Node) Log(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// Client connects to the node until the test ends.
func (n *Node) Client(tb testing.TB) *redis.Client {
	tb.Helper()
	c, err := redis.Connect(tb.Context(), nil, n.Address(), n.options.Password)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Eventually waits until try has no error.
func Eventually(tb testing.TB, within time.Duration, what string, try func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), within)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("waited %v until %s: %v", within, what, err)
		case <-time.After(pollEvery):
		}
	}
}

// freePort finds a port that is free, as is the one that the bus takes.
func freePort(tb testing.TB, host string) int {
	tb.Helper()
	const busOffset = 10000
	var config net.ListenConfig
	for range 100 {
		l, err := config.Listen(tb.Context(), "tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			tb.Fatal(err)
		}
		address, _ := l.Addr().(*net.TCPAddr)
		_ = l.Close()
		if address.Port+busOffset > 65535 {
			continue
		}
		bus, err := config.Listen(tb.Context(), "tcp", net.JoinHostPort(host, strconv.Itoa(address.Port+busOffset)))
		if err != nil {
			continue
		}
		_ = bus.Close()
		return address.Port
	}
	tb.Fatal("no port is free beside that of the bus")
	return 0
}
