//go:build envtest

package envtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/seatrial/seatrial/harness/install"
	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/operator/setup"
)

const loopback = "127.0.0.1"

// webhookServer is where the operator's webhooks are served.
type webhookServer struct{ install.WebhookServer }

// startWebhooks serves the operator's webhooks for a control plane, as its
// program does, and returns where.
func startWebhooks(ctx context.Context, config *rest.Config) (webhookServer, error) {
	none := webhookServer{}
	chain, key, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return none, fmt.Errorf("making the webhooks' certificate: %w", err)
	}
	dir, err := os.MkdirTemp("", "webhooks-")
	if err != nil {
		return none, fmt.Errorf("making a folder for the webhooks' certificate: %w", err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "tls.crt"), chain, 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	if err != nil {
		return none, fmt.Errorf("writing the webhooks' certificate: %w", err)
	}
	port, err := freePort(ctx)
	if err != nil {
		return none, err
	}
	options, err := setup.ManagerOptions(setup.Options{})
	if err != nil {
		return none, err
	}
	options.Metrics = server.Options{BindAddress: "0"}
	options.WebhookServer = webhook.NewServer(webhook.Options{Host: loopback, Port: port, CertDir: dir})
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return none, fmt.Errorf("making the manager of the webhooks: %w", err)
	}
	if err := setup.RegisterWebhooks(mgr); err != nil {
		return none, err
	}
	runManager(mgr, dir) //nolint:contextcheck // the webhooks outlive the setup of the suite
	err = wait.PollUntilContextTimeout(ctx, pollEvery, observedWithin, true, func(context.Context) (bool, error) {
		return mgr.GetWebhookServer().StartedChecker()(nil) == nil, nil
	})
	if err != nil {
		return none, fmt.Errorf("waiting for the webhooks on port %d: %w", port, err)
	}
	return webhookServer{install.WebhookServer{Address: net.JoinHostPort(loopback, strconv.Itoa(port)), CA: chain}}, nil
}

// read reads a kustomization of the operator, with its webhooks pointed here.
func (s webhookServer) read(name string) ([]manifest.Object, error) {
	objects, err := manifest.Read(filepath.Join("../../operator/config", name))
	if err != nil {
		return nil, err
	}
	return s.Redirect(objects)
}

// runManager runs a manager until the control planes stop.
func runManager(mgr ctrl.Manager, dir string) {
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	planes.Lock()
	defer planes.Unlock()
	planes.endings = append(planes.endings, func(ctx context.Context) error {
		stop()
		select {
		case err := <-ended:
			return errors.Join(err, os.RemoveAll(dir))
		case <-ctx.Done():
			return fmt.Errorf("waiting for the webhooks to end: %w", ctx.Err())
		}
	})
	GinkgoWriter.Println("webhooks are served since", time.Now().Format(time.TimeOnly))
}

// freePort finds a port that nobody listens on.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("the listener has the address %v", l.Addr())
	}
	return address.Port, l.Close()
}
