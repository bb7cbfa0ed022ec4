package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// filesRetry is how often files that are not there yet are looked for.
const filesRetry = time.Second

// Files serves with a certificate that somebody else puts into a directory, as
// tls.crt and tls.key: cert-manager by way of a mounted Secret, or anything.
// The caBundles are then that somebody's business too.
type Files struct {
	clock            clock.PassiveClock
	certificate, key string

	mu      sync.Mutex
	watcher *certwatcher.CertWatcher
}

// NewFiles returns a source that serves with the certificate in a directory.
// The files need not be there yet. A nil clock is the real one.
func NewFiles(directory string, c clock.PassiveClock) *Files {
	if c == nil {
		c = clock.RealClock{}
	}
	return &Files{
		clock:       c,
		certificate: filepath.Join(directory, corev1.TLSCertKey),
		key:         filepath.Join(directory, corev1.TLSPrivateKeyKey),
	}
}

// GetCertificate is for tls.Config. Before the files are there it refuses the
// handshake.
func (f *Files) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	watcher, err := f.open()
	if err != nil {
		return nil, err
	}
	return watcher.GetCertificate(hello)
}

// Ready is a check for /readyz: it reports an error unless the files hold a
// certificate that is valid now.
func (f *Files) Ready(*http.Request) error {
	c, err := f.GetCertificate(nil)
	if err != nil {
		return err
	}
	return ready(c, f.clock.Now())
}

// NotAfter returns when the certificate ends, or the zero time if there is
// none.
func (f *Files) NotAfter() time.Time {
	c, err := f.GetCertificate(nil)
	if err != nil {
		return time.Time{}
	}
	return notAfter(c)
}

// SetupWithManager makes a manager follow the files on every replica.
func (f *Files) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.Add(f); err != nil {
		return fmt.Errorf("adding the certificate's files: %w", err)
	}
	return nil
}

// open reads the files if that was not done yet. Whoever comes first does it:
// a manager serves webhooks and readiness before it fills its caches, and
// calls Start only after that.
func (f *Files) open() (*certwatcher.CertWatcher, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher != nil {
		return f.watcher, nil
	}
	watcher, err := certwatcher.New(f.certificate, f.key)
	if err != nil {
		return nil, fmt.Errorf("reading the serving certificate: %w", err)
	}
	f.watcher = watcher
	return watcher, nil
}

// Start waits for the files and follows their changes until the context ends.
// A manager calls it.
func (f *Files) Start(ctx context.Context) error {
	var watcher *certwatcher.CertWatcher
	err := wait.PollUntilContextCancel(ctx, filesRetry, true, func(context.Context) (bool, error) {
		var err error
		watcher, err = f.open()
		return err == nil, nil
	})
	if err != nil {
		return nil //nolint:nilerr // The context ended before there were files.
	}
	// What changed since the first reading is not heard of any more.
	if err := watcher.ReadCertificate(); err != nil {
		log.FromContext(ctx).Error(err, "Reading the serving certificate again")
	}
	if err := watcher.Start(ctx); err != nil {
		return fmt.Errorf("following the serving certificate: %w", err)
	}
	return nil
}

// NeedLeaderElection says that every replica follows the files.
func (*Files) NeedLeaderElection() bool { return false }
