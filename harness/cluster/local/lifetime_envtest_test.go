//go:build envtest

package local

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seatrial/seatrial/harness/trial"
)

// ownerVariable makes the test binary play the owner of clusters, whom a test
// then kills.
const ownerVariable = "SEATRIAL_TEST_OWNER"

func TestMain(m *testing.M) {
	if os.Getenv(ownerVariable) != "" {
		if err := playOwner(); err != nil {
			fmt.Fprintln(os.Stdout, "error", err)
		}
		return
	}
	os.Exit(m.Run())
}

// playOwner starts two clusters, says what it made, and never ends.
func playOwner() error {
	for range 2 {
		c, err := Start(context.Background(), Options{
			Level: trial.LevelControlPlane, Programs: ProgramsIn(os.Getenv("KUBEBUILDER_ASSETS")), TemplateDir: templates,
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, "dir", c.dir)
		fmt.Fprintln(os.Stdout, "host", c.admin.Host)
		for _, p := range c.running {
			fmt.Fprintln(os.Stdout, "pid", p.PID())
		}
	}
	fmt.Fprintln(os.Stdout, "ready")
	select {}
}

// traces are what a cluster leaves while it runs.
type traces struct {
	pids  []int
	dirs  []string
	hosts []string
}

func (tr *traces) add(c *Cluster) {
	tr.dirs = append(tr.dirs, c.dir)
	tr.hosts = append(tr.hosts, c.admin.Host)
	for _, p := range c.running {
		tr.pids = append(tr.pids, p.PID())
	}
}

// left returns what of the traces is still there.
func (tr *traces) left() error {
	for _, pid := range tr.pids {
		if syscall.Kill(pid, 0) == nil {
			return fmt.Errorf("process %d runs", pid)
		}
	}
	for _, dir := range tr.dirs {
		if _, err := os.Stat(dir); err == nil {
			return fmt.Errorf("directory %s exists", dir)
		}
	}
	for _, host := range tr.hosts {
		listener, err := net.Listen("tcp", strings.TrimPrefix(host, "https://"))
		if err != nil {
			return fmt.Errorf("port: %w", err)
		}
		_ = listener.Close()
	}
	return nil
}

func TestTenControlPlanesAtOnceLeaveNothingBehind(t *testing.T) {
	var all traces
	clusters := make([]*Cluster, 10)
	starting, ctx := errgroup.WithContext(t.Context())
	for i := range clusters {
		starting.Go(func() (err error) {
			clusters[i], err = Start(ctx, Options{
				Level: trial.LevelControlPlane, Programs: programs(t), TemplateDir: templates, StartWithin: 2 * time.Minute,
			})
			return err
		})
	}
	err := starting.Wait()
	for _, c := range clusters {
		if c != nil {
			all.add(c)
			if stopErr := c.Stop(t.Context()); stopErr != nil {
				t.Error(stopErr)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(all.pids) != 50 {
		t.Errorf("ten clusters had %d programs, want 50", len(all.pids))
	}
	if err := all.left(); err != nil {
		t.Error(err)
	}
}

func TestNothingOutlivesAnOwnerThatIsKilled(t *testing.T) {
	programs(t)
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), ownerVariable+"=yes")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var seen traces
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		var pid int
		word, value, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "dir":
			seen.dirs = append(seen.dirs, value)
		case "host":
			seen.hosts = append(seen.hosts, value)
		case "pid":
			if _, err := fmt.Sscan(value, &pid); err != nil {
				t.Fatal(err)
			}
			seen.pids = append(seen.pids, pid)
		default:
			t.Fatal(lines.Text())
		}
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if len(seen.pids) != 10 {
		t.Fatalf("the owner had %d programs, want 10", len(seen.pids))
	}
	await(t, "the end of all that the owner made", func(context.Context) error { return seen.left() })
}

func TestAStartThatIsCancelledLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond, 1500 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		c, err := Start(ctx, Options{Level: trial.LevelControlPlane, Programs: programs(t), TemplateDir: templates})
		cancel()
		if err == nil {
			if err := c.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		left, err := filepath.Glob(filepath.Join(temporary, "seatrial-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("cancelled after %v, left behind: %v, %v", after, left, err)
		}
	}
}

func TestAPIServerThatCannotStartSaysWhy(t *testing.T) {
	started := time.Now()
	_, err := Start(t.Context(), Options{
		Level: trial.LevelAPIServer, Programs: programs(t), APIServerArgs: []string{"--no-such-flag"},
	})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended with exit code 1; its last log lines:") ||
		!strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("it took %v to say so", took)
	}
}
