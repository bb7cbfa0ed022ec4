//go:build envtest

package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/seatrial/seatrial/ci"
	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/trial"
	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
)

var kubernetesVersion = flag.String("k8s", os.Getenv("SEATRIAL_K8S"),
	"Kubernetes release under test, by a name that ci/matrix.yaml knows; default $SEATRIAL_K8S, else the newest")

// Labels of specs: where they run.
var (
	levelAPIServer    = Label("level:apiserver")
	levelControlPlane = Label("level:controlplane")
)

// Deadlines, each a promise of whoever is waited for.
const (
	// planeWithin is how long a control plane may take to start or stop.
	planeWithin = 60 * time.Second
	// observedWithin is how long the operator may take to react to a change.
	observedWithin = 10 * time.Second
	// readyWithin is how long real controllers may take to make scripted pods
	// ready, or to collect what was deleted.
	readyWithin = 30 * time.Second
	// quietFor is how long nothing must happen where nothing is promised.
	quietFor = time.Second
	// pollEvery is how often a state is looked at.
	pollEvery = 50 * time.Millisecond
)

func TestEnvtest(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(observedWithin)
	SetDefaultEventuallyPollingInterval(pollEvery)
	SetDefaultConsistentlyDuration(quietFor)
	SetDefaultConsistentlyPollingInterval(pollEvery)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "RedisCluster operator")
}

// planes are the running control planes that this process started.
var planes struct {
	sync.Mutex
	running []*local.Cluster
	// endings stop what serves them, before they stop.
	endings []func(context.Context) error
}

// levels reach a control plane each. They are filled before any spec runs.
var levels struct{ apiserver, controlplane level }

// hand is the field manager of what specs change themselves.
const hand = "someone-else"

// level is how specs of one level reach their control plane.
type level struct {
	config *rest.Config
	client client.Client
}

// access is a way to a control plane in the form in which one Ginkgo process
// hands it to the others. It is empty where no spec that will run needs one.
type access struct {
	Host          string
	CA, Cert, Key []byte
}

var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	matrix, err := ci.Load()
	Expect(err).NotTo(HaveOccurred())
	release, err := matrix.Lookup(*kubernetesVersion)
	Expect(err).NotTo(HaveOccurred())
	ways := make([]access, 2)
	var starting errgroup.Group
	starting.Go(func() (err error) {
		ways[0], err = begin(ctx, release, levelAPIServer, trial.LevelAPIServer)
		return err
	})
	starting.Go(func() (err error) {
		ways[1], err = begin(ctx, release, levelControlPlane, trial.LevelControlPlane)
		return err
	})
	Expect(starting.Wait()).To(Succeed())
	shared, err := json.Marshal(ways)
	Expect(err).NotTo(HaveOccurred())
	return shared
}, func(shared []byte) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	var ways []access
	Expect(json.Unmarshal(shared, &ways)).To(Succeed())
	Expect(ways).To(HaveLen(2))
	levels.apiserver = reach(ways[0])
	levels.controlplane = reach(ways[1])
}, NodeTimeout(planeWithin))

// Managers are stopped by the specs that started them, so nothing is connected
// any more when the control planes go.
var _ = SynchronizedAfterSuite(func() {}, func(ctx SpecContext) {
	planes.Lock()
	defer planes.Unlock()
	var failures []error
	for _, end := range planes.endings {
		failures = append(failures, end(ctx))
	}
	for _, p := range planes.running {
		failures = append(failures, p.Stop(ctx))
	}
	Expect(errors.Join(failures...)).To(Succeed())
}, NodeTimeout(planeWithin))

// begin starts the control plane for the specs with a label, unless none of
// them will run.
func begin(ctx context.Context, release ci.Release, label Labels, level trial.Level) (access, error) {
	if !label.MatchesLabelFilter(GinkgoLabelFilter()) {
		return access{}, nil
	}
	started, err := startPlane(ctx, release, level)
	if err != nil {
		return access{}, err
	}
	planes.Lock()
	planes.running = append(planes.running, started)
	planes.Unlock()
	if started.Version() != release.Kubernetes {
		return access{}, fmt.Errorf("the API server says that it is %s, but %s was asked for", started.Version(), release.Kubernetes)
	}
	config := started.Config()
	return access{Host: config.Host, CA: config.CAData, Cert: config.CertData, Key: config.KeyData}, nil
}

func reach(way access) level {
	if way.Host == "" {
		return level{}
	}
	config := &rest.Config{
		Host:            way.Host,
		TLSClientConfig: rest.TLSClientConfig{CAData: way.CA, CertData: way.Cert, KeyData: way.Key},
		// A test that is throttled measures its own client.
		QPS: -1,
	}
	everything := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensionsv1.AddToScheme,
		redisv1.AddToScheme, redisv1beta1.AddToScheme, redisv1alpha1.AddToScheme,
	} {
		Expect(add(everything)).To(Succeed())
	}
	c, err := client.New(config, client.Options{Scheme: everything})
	Expect(err).NotTo(HaveOccurred())
	return level{config: config, client: client.WithFieldOwner(c, hand)}
}
