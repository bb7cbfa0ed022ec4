package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/cluster"
	"github.com/seatrial/seatrial/harness/process"
	"github.com/seatrial/seatrial/harness/trial"
)

// tailKept is how many of a failing program's last log lines an error carries.
const tailKept = 15

var firstServiceIP = net.IPv4(10, 96, 0, 1)

// Cluster is a running local cluster.
type Cluster struct {
	options Options
	// dir holds everything that the cluster writes.
	dir     string
	group   *process.Group
	port    *port
	pki     *pki
	admin   *rest.Config
	version string

	mu sync.Mutex
	// running are the programs by name.
	running map[string]*process.Process
	stopped bool
}

var (
	_ cluster.Cluster     = (*Cluster)(nil)
	_ cluster.PodScripter = (*Cluster)(nil)
)

// Start starts a cluster and returns when its API server serves, and at level
// controlplane when its nodes are ready. When it fails, or the context ends,
// nothing is left behind, and the error carries the last log lines of the
// program that failed.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("starting a local cluster: %w", err)
	}
	seed, err := template(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("starting a local cluster: %w", err)
	}
	c, err := boot(ctx, options, seed)
	if err != nil {
		return nil, fmt.Errorf("starting a local cluster: %w", err)
	}
	return c, nil
}

// boot starts a cluster from the state in the directory seed, or from nothing
// where that is empty.
func boot(ctx context.Context, options Options, seed string) (*Cluster, error) {
	dir, err := makeDirectory()
	if err != nil {
		return nil, fmt.Errorf("making its directory: %w", err)
	}
	group, err := process.NewGroup(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &Cluster{options: options, dir: dir, group: group, running: map[string]*process.Process{}}
	if err := c.boot(ctx, seed); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// socketPathMost is the longest path of a unix socket that every system takes.
const socketPathMost = 103

// makeDirectory makes a temporary directory for a cluster, away from a TMPDIR
// that is too long for the sockets in it.
func makeDirectory() (string, error) {
	dir, err := os.MkdirTemp("", "seatrial-")
	if err != nil || len(filepath.Join(dir, etcdSocket)) <= socketPathMost {
		return dir, err
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", "seatrial-")
}

func (c *Cluster) boot(ctx context.Context, seed string) error {
	if seed != "" {
		if err := copyTree(seed, filepath.Join(c.dir, "etcd")); err != nil {
			return fmt.Errorf("copying the template: %w", err)
		}
	}
	var err error
	if c.port, err = holdPort(c.options.Port); err != nil {
		return err
	}
	if c.pki, err = newPKI(c.dir); err != nil {
		return err
	}
	if c.admin, err = c.userConfig("seatrial-admin", "system:masters"); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx, seed != ""); err != nil {
		return err
	}
	if c.options.Level != trial.LevelControlPlane {
		return nil
	}
	return c.startControllers(ctx, seed != "")
}

// run starts one of the cluster's programs.
func (c *Cluster) run(name, path string, args ...string) error {
	p, err := c.group.Start(process.Spec{
		Command: append([]string{path}, args...),
		Env:     []string{"HOME=" + c.dir, "TMPDIR=" + c.dir},
		Dir:     c.dir,
		LogFile: filepath.Join(c.dir, name+".log"),
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[name] = p
	return nil
}

// await polls until the program is ready. It returns early when the program
// ends, and at the deadline, with the program's last log lines.
func (c *Cluster) await(ctx context.Context, name string, ready func(context.Context) error) error {
	c.mu.Lock()
	p := c.running[name]
	c.mu.Unlock()
	deadline := time.NewTimer(c.options.StartWithin)
	defer deadline.Stop()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended with %s; its last log lines:\n%s", name, p.Exit(), strings.Join(p.Tail(tailKept), "\n"))
		case <-deadline.C:
			return fmt.Errorf("%s was not ready within %v (%w); its last log lines:\n%s",
				name, c.options.StartWithin, err, strings.Join(p.Tail(tailKept), "\n"))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-poll.C:
		}
	}
}

const pollInterval = 15 * time.Millisecond

// Level implements cluster.Cluster.
func (c *Cluster) Level() trial.Level { return c.options.Level }

// Config implements cluster.Cluster.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Version implements cluster.Cluster.
func (c *Cluster) Version() string { return c.version }

// Logs returns the last lines that each program wrote.
func (c *Cluster) Logs(lines int) map[string][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	logs := map[string][]string{}
	for name, p := range c.running {
		logs[name] = p.Tail(lines)
	}
	return logs
}

// Stop implements cluster.Cluster. Programs are killed: their state is thrown
// away, so there is nothing to end gracefully.
func (c *Cluster) Stop(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	var errs []error
	if err := c.group.Close(); err != nil {
		errs = append(errs, fmt.Errorf("stopping a local cluster: %w", err))
	}
	for _, p := range c.running {
		<-p.Done()
	}
	if c.port != nil {
		errs = append(errs, c.port.release())
	}
	return errors.Join(errs...)
}
