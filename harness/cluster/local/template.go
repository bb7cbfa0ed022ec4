package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/seatrial/seatrial/harness/trial"
)

// templateVersion changes whenever what a template holds does.
const templateVersion = "2"

// template returns the directory of etcd's state from which clusters with
// these options start, and makes it if it is not there: a cluster is booted
// from nothing and what every boot writes is kept. An empty answer means to
// boot from nothing.
func template(ctx context.Context, options Options) (string, error) {
	if options.TemplateDir == "" {
		return "", nil
	}
	key, err := templateKey(options)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(options.TemplateDir, key)
	if isDirectory(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(options.TemplateDir, 0o700); err != nil {
		return "", fmt.Errorf("making a template: %w", err)
	}
	lock := flock.New(dir + ".lock")
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return "", fmt.Errorf("waiting for another process to make a template: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // the lock ends with the process at the latest
	if isDirectory(dir) {
		return dir, nil
	}
	if err := makeTemplate(ctx, options, dir); err != nil {
		return "", fmt.Errorf("making a template: %w", err)
	}
	return dir, nil
}

// templateKey tells templates apart by the programs that made them and by what
// is in them.
func templateKey(options Options) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, templateVersion, options.Level, options.Nodes)
	for _, path := range []string{options.Programs.APIServer, options.Programs.Etcd, options.Programs.ControllerManager} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return "", fmt.Errorf("looking at %s: %w", path, err)
		}
		fmt.Fprintln(h, filepath.Base(path), info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func makeTemplate(ctx context.Context, options Options, dir string) (err error) {
	options.PodLife, options.Port, options.APIServerArgs = nil, 0, nil
	c, err := boot(ctx, options, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	if err := c.forgetThisBoot(ctx); err != nil {
		return err
	}
	for _, name := range []string{kwok, scheduler, controllerManager, "kube-apiserver"} {
		if p := c.running[name]; p != nil {
			if err := p.Stop(ctx, 0); err != nil {
				return err
			}
		}
	}
	// etcd ends gracefully: its state is what is kept.
	if err := c.running["etcd"].Stop(ctx, c.options.StartWithin); err != nil {
		return err
	}
	made, err := os.MkdirTemp(options.TemplateDir, "making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	if err := copyTree(filepath.Join(c.dir, "etcd"), made); err != nil {
		return err
	}
	return os.Rename(made, dir)
}

// forgetThisBoot removes what the API server says of itself, and waits for the
// controllers' last first writes.
func (c *Cluster) forgetThisBoot(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	if c.options.Level == trial.LevelControlPlane {
		err := c.await(ctx, controllerManager, func(ctx context.Context) error { return settled(ctx, client) })
		if err != nil {
			return err
		}
	}
	return client.CoordinationV1().Leases(metav1.NamespaceSystem).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// settled returns nil once each first namespace has what the controllers give
// it.
func settled(ctx context.Context, client kubernetes.Interface) error {
	for _, namespace := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease"} {
		if _, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		if _, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a directory of files. What is zero stays a hole: etcd
// allocates 64 MiB of log ahead.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Type().IsRegular():
			return copySparse(path, target)
		}
		return nil
	})
}

// block is the unit in which zeros are left out.
const block = 64 << 10

func copySparse(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	buffer, zeros := make([]byte, block), make([]byte, block)
	var size int64
	for {
		n, readErr := io.ReadFull(source, buffer)
		if !bytes.Equal(buffer[:n], zeros[:n]) {
			if _, err := target.WriteAt(buffer[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		switch {
		case errors.Is(readErr, io.EOF), errors.Is(readErr, io.ErrUnexpectedEOF):
			return target.Truncate(size)
		case readErr != nil:
			return readErr
		}
	}
}
