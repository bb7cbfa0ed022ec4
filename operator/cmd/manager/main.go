// Command manager runs the RedisCluster operator.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	// Schedules name time zones, and the image holds no files of them.
	_ "time/tzdata"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/setup"
)

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

// errUsage is a mistake on the command line, which package flag has explained.
var errUsage = errors.New("usage")

// arguments are what the command line says.
type arguments struct {
	metricsAddress string
	probeAddress   string
	webhookPort    int
	certificates   string
	leaderElect    bool
	leaseNamespace string
	namespaces     namespaces
	concurrency    int
	zap            zap.Options
}

func parse(args []string, output io.Writer) (arguments, error) {
	var a arguments
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&a.metricsAddress, "metrics-bind-address", "0", "Where metrics are served, such as :8080; 0 turns them off.")
	flags.StringVar(&a.probeAddress, "health-probe-bind-address", ":8081", "Where /healthz and /readyz are served; 0 turns them off.")
	flags.IntVar(&a.webhookPort, "webhook-port", 9443, "Where webhooks are served; 0 turns them off.")
	flags.StringVar(&a.certificates, "webhook-cert-dir", "/certificates", "Folder with tls.crt and tls.key for the webhooks. New files there are taken up at once.")
	flags.BoolVar(&a.leaderElect, "leader-elect", false, "Work only while holding the lease, so that several managers can stand by.")
	flags.StringVar(&a.leaseNamespace, "leader-election-namespace", "", "Namespace of the lease. In a pod, the pod's own by default.")
	flags.Var(&a.namespaces, "namespace", "Namespace to look after, or several with commas; may be repeated. All by default.")
	flags.IntVar(&a.concurrency, "concurrency", setup.DefaultConcurrency, "How many RedisClusters are looked after at a time.")
	config.RegisterFlags(flags)
	a.zap.BindFlags(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return a, err
		}
		return a, errUsage
	}
	if flags.NArg() > 0 || a.concurrency < 1 {
		fmt.Fprintf(output, "manager: takes flags only, and -concurrency must be at least 1: %s\n", strings.Join(args, " "))
		return a, errUsage
	}
	return a, nil
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	a, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&a.zap), zap.WriteTo(stderr)))
	mgr, err := newManager(a)
	if err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	return nil
}

// Leader election keeps a lease in the operator's own namespace, and records
// who leads as an Event of the old kind.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=redis-system,verbs=get;create;update
// +kubebuilder:rbac:groups="",resources=events,namespace=redis-system,verbs=create;patch

func newManager(a arguments) (ctrl.Manager, error) {
	o := setup.Options{Namespaces: a.namespaces, Concurrency: a.concurrency}
	options, err := setup.ManagerOptions(o)
	if err != nil {
		return nil, err
	}
	options.Metrics = server.Options{BindAddress: a.metricsAddress}
	options.HealthProbeBindAddress = a.probeAddress
	options.LeaderElection = a.leaderElect
	options.LeaderElectionNamespace = a.leaseNamespace
	options.LeaderElectionID = "rediscluster-operator." + redisv1.Group
	// The program ends when the manager does, so the next one need not wait
	// for the lease to run out.
	options.LeaderElectionReleaseOnCancel = true

	rest, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster (-kubeconfig, KUBECONFIG, or in a pod): %w", err)
	}
	if a.webhookPort != 0 {
		options.WebhookServer = webhook.NewServer(webhook.Options{Port: a.webhookPort, CertDir: a.certificates})
	}
	mgr, err := ctrl.NewManager(rest, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := setup.Register(mgr, o); err != nil {
		return nil, err
	}
	if a.webhookPort != 0 {
		if err := setup.RegisterWebhooks(mgr); err != nil {
			return nil, err
		}
		if err := mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()); err != nil {
			return nil, fmt.Errorf("adding the readiness check of the webhooks: %w", err)
		}
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("adding the liveness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("adding the readiness check: %w", err)
	}
	return mgr, nil
}
