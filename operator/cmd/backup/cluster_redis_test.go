//go:build redis

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/seatrial/seatrial/operator/internal/backup"
	"github.com/seatrial/seatrial/operator/internal/redis"
	"github.com/seatrial/seatrial/operator/internal/redis/redistest"
)

const (
	// within is how long a Redis Cluster may take to agree, and a program to end.
	within   = 60 * time.Second
	password = "open sesame"
	// beMain has the test binary be the program that it tests.
	beMain = "BACKUP_TEST_IS_MAIN"
)

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cluster is a Redis Cluster: primaries in order of slots, and as many
// replicas, one each, or none.
type cluster struct {
	primaries, replicas []*redistest.Node
	client              *goredis.ClusterClient
	passwordFile        string
}

func form(t *testing.T, primaries int, replicated bool) *cluster {
	t.Helper()
	c := &cluster{passwordFile: filepath.Join(t.TempDir(), "password")}
	must(t, os.WriteFile(c.passwordFile, []byte(password+"\n"), 0o600))
	start := func() *redistest.Node {
		return redistest.Start(t, redistest.Options{Password: password})
	}
	for i := range primaries {
		node := start()
		c.primaries = append(c.primaries, node)
		client := node.Client(t)
		must(t, client.SetConfigEpoch(t.Context(), int64(i+1)))
		must(t, client.Meet(t.Context(), c.primaries[0].Address()))
		must(t, client.AddSlots(t.Context(), []redis.Range{{First: i * redis.Slots / primaries, Last: (i+1)*redis.Slots/primaries - 1}}))
	}
	if replicated {
		for range primaries {
			node := start()
			c.replicas = append(c.replicas, node)
			must(t, node.Client(t).Meet(t.Context(), c.primaries[0].Address()))
		}
	}
	c.agree(t)
	for i, node := range c.replicas {
		must(t, node.Client(t).Replicate(t.Context(), idOf(t, c.primaries[i])))
	}
	c.inSync(t)
	c.client = goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{c.address()}, Password: password, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = c.client.Close() })
	return c
}

func (c *cluster) nodes() []*redistest.Node {
	return append(append([]*redistest.Node(nil), c.primaries...), c.replicas...)
}

func (c *cluster) address() string { return hostPort(c.primaries[0]) }

func hostPort(n *redistest.Node) string {
	return fmt.Sprintf("%s:%d", n.Address().Host, n.Address().Port)
}

func idOf(t *testing.T, n *redistest.Node) string {
	t.Helper()
	o, err := n.Client(t).Observe(t.Context())
	must(t, err)
	return o.ID
}

// agree waits until all nodes know all, and serve.
func (c *cluster) agree(t *testing.T) {
	t.Helper()
	redistest.Eventually(t, within, "all nodes serve", func(ctx context.Context) error {
		return c.each(t, func(o redis.Observation) error {
			known := 0
			for _, n := range o.Nodes {
				if n.Connected && !n.Handshake {
					known++
				}
			}
			if !o.OK || known != len(c.nodes()) {
				return fmt.Errorf("%s knows %d nodes, ok: %t", o.ID, known, o.OK)
			}
			return ctx.Err()
		})
	})
}

// inSync waits until all replicas have what their primaries have.
func (c *cluster) inSync(t *testing.T) {
	t.Helper()
	redistest.Eventually(t, within, "replicas are in sync, and all know them", func(ctx context.Context) error {
		replicas := 0
		err := c.each(t, func(o redis.Observation) error {
			known := 0
			for _, n := range o.Nodes {
				if !n.Primary {
					known++
				}
			}
			if known != len(c.replicas) {
				return fmt.Errorf("%s knows %d replicas", o.ID, known)
			}
			if o.Replication.Primary {
				return ctx.Err()
			}
			replicas++
			if !o.Replication.LinkUp {
				return fmt.Errorf("%s has no link to its primary", o.ID)
			}
			return nil
		})
		if err == nil && replicas != len(c.replicas) {
			return fmt.Errorf("%d replicas", replicas)
		}
		return err
	})
}

func (c *cluster) each(t *testing.T, look func(redis.Observation) error) error {
	t.Helper()
	for _, n := range c.nodes() {
		client, err := redis.Connect(t.Context(), nil, n.Address(), password)
		if err != nil {
			return err
		}
		o, err := client.Observe(t.Context())
		client.Close()
		if err != nil {
			return err
		}
		if err := look(o); err != nil {
			return err
		}
	}
	return nil
}

// fill writes keys, and waits until the replicas have them.
func (c *cluster) fill(t *testing.T, keys int) {
	t.Helper()
	p := c.client.Pipeline()
	for i := range keys {
		p.Set(t.Context(), fmt.Sprintf("key:%d", i), fmt.Sprintf("value %d", i), 0)
	}
	_, err := p.Exec(t.Context())
	must(t, err)
	redistest.Eventually(t, within, "replicas have all keys", func(ctx context.Context) error {
		for i, replica := range c.replicas {
			want, err := c.primaries[i].Client(t).Observe(ctx)
			if err != nil {
				return err
			}
			if got, err := replica.Client(t).Observe(ctx); err != nil || got.Keys != want.Keys {
				return fmt.Errorf("%d keys of %d: %w", got.Keys, want.Keys, err)
			}
		}
		return nil
	})
}

// slow has all nodes take so long for each key of an RDB file.
func (c *cluster) slow(t *testing.T, each time.Duration) {
	t.Helper()
	for _, n := range c.nodes() {
		c.do(t, n, "CONFIG", "SET", "rdb-key-save-delay", each.Microseconds())
	}
}

func (c *cluster) do(t *testing.T, n *redistest.Node, words ...any) any {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: hostPort(n), Password: password, Protocol: 2, DisableIdentity: true})
	defer func() { _ = client.Close() }()
	answer, err := client.Do(t.Context(), words...).Result()
	must(t, err)
	return answer
}

// backup is the command line for a backup.
func (c *cluster) backup(dir, name string, more ...string) []string {
	return append([]string{"--address", c.address(), "--password-file", c.passwordFile, "--directory", dir, "--name", name, "--retry", "20s"}, more...)
}

func (c *cluster) restore(from string, more ...string) []string {
	return append([]string{"restore", "--address", c.address(), "--password-file", c.passwordFile, "--from", from}, more...)
}

// program is a run of the program in a process of its own.
type program struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer
	lines  chan string
	stderr strings.Builder
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	p := &program{cmd: exec.CommandContext(ctx, os.Args[0], args...), lines: make(chan string, 10_000)}
	p.cmd.Env = append(os.Environ(), beMain+"=1")
	p.cmd.Stdout = &p.stdout
	stderr, err := p.cmd.StderrPipe()
	must(t, err)
	must(t, p.cmd.Start())
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	return p
}

// says waits for a line with that text.
func (p *program) says(t *testing.T, text string) {
	t.Helper()
	for line := range p.lines {
		p.stderr.WriteString(line + "\n")
		if strings.Contains(line, text) {
			return
		}
	}
	t.Fatalf("the program ended and never said %q:\n%s", text, p.stderr.String())
}

// ends waits for the end, and returns the exit code: -1 after a signal.
func (p *program) ends(t *testing.T) int {
	t.Helper()
	for line := range p.lines {
		p.stderr.WriteString(line + "\n")
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// succeeds runs the program to a good end, and returns what it printed.
func succeeds[T any](t *testing.T, args ...string) (T, string) {
	t.Helper()
	p := start(t, args...)
	if code := p.ends(t); code != 0 {
		t.Fatalf("%v: exit code %d:\n%s", args, code, p.stderr.String())
	}
	var result T
	must(t, json.Unmarshal(p.stdout.Bytes(), &result))
	return result, p.stderr.String()
}

// fails runs the program to exit code 1, and expects all texts on stderr.
func fails(t *testing.T, args []string, texts ...string) {
	t.Helper()
	p := start(t, args...)
	p.failed(t, texts...)
}

func (p *program) failed(t *testing.T, texts ...string) {
	t.Helper()
	if code := p.ends(t); code != 1 {
		t.Fatalf("exit code %d, want 1:\n%s", code, p.stderr.String())
	}
	for _, text := range texts {
		if !strings.Contains(p.stderr.String(), text) {
			t.Errorf("never said %q:\n%s", text, p.stderr.String())
		}
	}
}

func verified(t *testing.T, dir string) backup.Manifest {
	t.Helper()
	m, _ := succeeds[backup.Manifest](t, "verify", dir)
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
