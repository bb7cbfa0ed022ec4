package certificate

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

// mount puts a material where files are read from, as a kubelet does: a link
// is moved from the old version to the new one.
func mount(t *testing.T, directory string, m Material) {
	t.Helper()
	version := t.TempDir()
	secret := encode(t, m)
	for _, name := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		if err := os.WriteFile(filepath.Join(version, name), secret.Data[name], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(directory, name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(version, filepath.Join(directory, "..new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(directory, "..new"), filepath.Join(directory, "..data")); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreFollowed(t *testing.T) {
	directory, clock := t.TempDir(), clocktesting.NewFakePassiveClock(start)
	f := NewFiles(directory, clock)
	if err := f.Ready(nil); err == nil || !f.NotAfter().IsZero() {
		t.Error("ready before there are files")
	}
	if _, err := f.GetCertificate(nil); err == nil {
		t.Error("a handshake succeeded before there are files")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("following ended: %v", err)
		}
	})

	mount(t, directory, material(t, after{Found, 0}))
	// Nobody has to wait for Start to see the first ones.
	if err := f.Ready(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
	if got, want := f.NotAfter(), start.Add(30*day); !got.Equal(want) {
		t.Errorf("the certificate ends %s, want %s", got, want)
	}

	mount(t, directory, material(t, after{Found, 20 * day}))
	deadline, tick := time.After(time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !f.NotAfter().Equal(start.Add(50 * day)) {
		select {
		case <-deadline:
			t.Fatalf("a minute after the change the certificate still ends %s", f.NotAfter())
		case <-tick.C:
		}
	}
	clock.SetTime(start.Add(51 * day))
	if err := f.Ready(nil); err == nil {
		t.Error("ready with a certificate that has expired")
	}
}

func TestFilesEndBeforeThereAreAny(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewFiles(t.TempDir(), nil).Start(ctx); err != nil {
		t.Errorf("error is %v, want none", err)
	}
}
