// Package setup is the door to the operator for whoever runs it: its main
// program, and tests that put it in a manager of their own.
package setup

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	redisv1alpha1 "github.com/seatrial/seatrial/operator/api/v1alpha1"
	redisv1beta1 "github.com/seatrial/seatrial/operator/api/v1beta1"
	"github.com/seatrial/seatrial/operator/internal/controller"
	"github.com/seatrial/seatrial/operator/internal/resource"
	"github.com/seatrial/seatrial/operator/internal/webhook"
)

// FieldManager is the name under which the operator writes fields.
const FieldManager = resource.FieldManager

// DefaultConcurrency is how many RedisClusters are looked after at a time.
const DefaultConcurrency = 4

// Options adapts the operator. The zero value is ready to use.
type Options struct {
	// Namespaces limits the operator to these; none means all.
	Namespaces []string
	// Concurrency is how many RedisClusters are looked after at a time;
	// 0 means DefaultConcurrency.
	Concurrency int
	// Clock gives the time of conditions; nil means the real one.
	Clock clock.PassiveClock
}

// NewScheme returns a scheme with every type that the operator handles, and no
// other.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme,
		redisv1.AddToScheme, redisv1beta1.AddToScheme, redisv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

// ManagerOptions returns the options of a manager that the operator runs well
// in; the caller adds addresses, leader election and a logger.
func ManagerOptions(o Options) (ctrl.Options, error) {
	scheme, err := NewScheme()
	if err != nil {
		return ctrl.Options{}, err
	}
	cached := cache.Options{DefaultTransform: controller.Slim}
	for _, namespace := range o.Namespaces {
		if cached.DefaultNamespaces == nil {
			cached.DefaultNamespaces = map[string]cache.Config{}
		}
		cached.DefaultNamespaces[namespace] = cache.Config{}
	}
	// A visit starts when the cache shows what the last one wrote, so that
	// nothing is written twice. controller-runtime offers this for one
	// namespace or for all; among several the cache may lag, which costs a
	// write that changes nothing, never a wrong one.
	ownWrites := len(o.Namespaces) <= 1
	return ctrl.Options{
		Scheme: scheme,
		Cache:  cached,
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &ownWrites}},
	}, nil
}

// Register puts the operator into a manager. The manager's scheme must know
// what NewScheme adds.
func Register(mgr ctrl.Manager, o Options) error {
	r := reconciler(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(FieldManager), o)
	if o.Concurrency == 0 {
		o.Concurrency = DefaultConcurrency
	}
	return r.SetupWithManager(mgr, o.Concurrency)
}

// RegisterWebhooks makes a manager serve the operator's webhooks: admission, and
// conversion between the versions of the API. The manager's options say where,
// and with which certificate.
func RegisterWebhooks(mgr ctrl.Manager) error { return webhook.SetupWithManager(mgr) }

// NewReconciler returns the reconciler alone, to be called directly. live reads
// from the API server where c reads from a cache.
func NewReconciler(c client.Client, live client.Reader, recorder events.EventRecorder, o Options) reconcile.Reconciler {
	return reconciler(c, live, recorder, o)
}

func reconciler(
	c client.Client, live client.Reader, recorder events.EventRecorder, o Options,
) *controller.Reconciler {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &controller.Reconciler{Client: c, Live: live, Events: recorder, Clock: o.Clock}
}
