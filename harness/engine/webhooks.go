package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"

	"github.com/seatrial/seatrial/harness/install"
	"github.com/seatrial/seatrial/harness/manifest"
)

// webhookServer is where the subject is to serve its webhooks.
type webhookServer struct {
	port    int
	certDir string
	ca      []byte
}

func newWebhookServer(port int, certDir string) (*webhookServer, error) {
	free, err := freePort(port)
	if err != nil {
		return nil, err
	}
	return &webhookServer{port: free, certDir: certDir}, nil
}

func (s *webhookServer) address() string { return net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// writeCertificate makes a serving certificate for loopback and puts it where
// the subject looks for it, under the names that controller-runtime expects.
func (s *webhookServer) writeCertificate() error {
	chain, key, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, []string{"localhost"})
	if err != nil {
		return fmt.Errorf("making the webhooks' certificate: %w", err)
	}
	if err := os.MkdirAll(s.certDir, 0o700); err != nil {
		return fmt.Errorf("writing the webhooks' certificate: %w", err)
	}
	for name, content := range map[string][]byte{"tls.crt": chain, "tls.key": key, "ca.crt": chain} {
		if err := os.WriteFile(filepath.Join(s.certDir, name), content, 0o600); err != nil {
			return fmt.Errorf("writing the webhooks' certificate: %w", err)
		}
	}
	s.ca = chain
	return nil
}

// await waits until the server completes a TLS handshake. Whose certificate it
// shows is the API server's to judge.
func (s *webhookServer) await(ctx context.Context, within time.Duration) error {
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{Timeout: time.Second},
		Config:    &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // only asks whether somebody answers
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		connection, err := dialer.DialContext(ctx, "tcp", s.address())
		if err != nil {
			return false, nil //nolint:nilerr // not yet
		}
		return true, connection.Close()
	})
	if err != nil && ctx.Err() == nil {
		return inputErrorf("the operator did not serve its webhooks on %s within %v", s.address(), within)
	}
	return err
}

// redirectWebhooks returns the CRDs and the manifests to apply before the
// subject starts. Webhook configurations are not among them: they would refuse
// everything until the subject answers.
func (r *run) redirectWebhooks() (crds, manifests []manifest.Object, err error) {
	crds = r.Subject.CRDs
	for _, o := range r.Subject.Manifests {
		if !install.IsWebhookConfiguration(o) {
			manifests = append(manifests, o)
		}
	}
	if r.webhooks == nil {
		if len(manifests) < len(r.Subject.Manifests) {
			return nil, nil, inputErrorf("%s: the manifests hold webhook configurations, but spec.webhooks is not set: "+
				"say where the operator serves them", r.Subject.File)
		}
		return crds, manifests, nil
	}
	crds, err = r.webhookTarget().Redirect(crds)
	return crds, manifests, err
}

func (r *run) webhookTarget() install.WebhookServer {
	return install.WebhookServer{Address: r.webhooks.address(), CA: r.webhooks.ca}
}

// installWebhooks waits for the subject's webhooks and puts them in force.
func (r *run) installWebhooks(ctx context.Context) error {
	if r.webhooks == nil {
		return nil
	}
	if err := r.webhooks.await(ctx, r.Deadlines.WebhooksServed); err != nil {
		return err
	}
	redirected, err := r.webhookTarget().Redirect(r.Subject.Manifests)
	if err != nil {
		return &InputError{err}
	}
	for _, o := range redirected {
		if !install.IsWebhookConfiguration(o) {
			continue
		}
		if _, err := r.installer.Apply(ctx, o); err != nil {
			return inputOf(err)
		}
	}
	return nil
}
