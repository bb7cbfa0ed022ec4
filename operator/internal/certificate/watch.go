package certificate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A watch of one object by name can be granted by name, so each object has a
// cache of its own. Only the creation of a Secret cannot be. The names are
// those of the operator's installation.
//
// +kubebuilder:rbac:groups="",resources=secrets,namespace=redis-system,verbs=create
// +kubebuilder:rbac:groups="",resources=secrets,namespace=redis-system,resourceNames=rediscluster-operator-webhook,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations;mutatingwebhookconfigurations,resourceNames=rediscluster-operator,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=redisclusters.cache.example.com,verbs=get;list;watch;patch

// Limits on visits: how soon one that failed is repeated, and how long one may
// take. The latter ends one that waits for an API server that does not answer.
// Watches may take as long as they like to begin, as when RBAC comes after the
// operator: a manager hears of no failure while it fills its caches.
const (
	firstRetry    = 100 * time.Millisecond
	lastRetry     = time.Minute
	visitDeadline = time.Minute
	watchDeadline = 100 * 365 * 24 * time.Hour
)

// watches are what a Keeper runs in a manager.
type watches struct {
	// caches hold one object each; the first is the Secret's.
	caches     []cache.Cache
	controller controller.Controller
}

// SetupWithManager makes a manager run the Keeper, on every replica, beside
// the manager's caches. It needs nothing of the manager's scheme.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	o := k.options
	if o.Namespace == "" || o.SecretName == "" || o.ServiceName == "" {
		return errors.New("setting up the certificate: the namespace and the names of the Secret and the Service must be given")
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	k.api, err = client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: scheme, Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("making the certificate's client: %w", err)
	}
	k.elected = mgr.Elected()
	if err := k.watch(mgr, scheme); err != nil {
		return err
	}
	if err := mgr.Add(k); err != nil {
		return fmt.Errorf("adding the certificate's keeper: %w", err)
	}
	return nil
}

// watch makes the controller and a cache for each object that it watches.
func (k *Keeper) watch(mgr ctrl.Manager, scheme *runtime.Scheme) error {
	made, err := controller.NewUnmanaged("certificate", controller.Options{
		Reconciler:            k,
		RateLimiter:           workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](firstRetry, lastRetry),
		ReconciliationTimeout: visitDeadline,
		CacheSyncTimeout:      watchDeadline,
		SkipNameValidation:    mgr.GetControllerOptions().SkipNameValidation,
		Logger:                mgr.GetLogger(),
	})
	if err != nil {
		return fmt.Errorf("making the certificate's controller: %w", err)
	}
	k.watches = watches{controller: made}
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = k.options.Namespace, k.options.SecretName
	for _, object := range append([]client.Object{secret}, k.options.consumers()...) {
		known, err := cache.New(mgr.GetConfig(), only(object, cache.Options{
			HTTPClient: mgr.GetHTTPClient(), Scheme: scheme, Mapper: mgr.GetRESTMapper(),
		}))
		if err != nil {
			return fmt.Errorf("making a cache for %T %s: %w", object, object.GetName(), err)
		}
		k.watches.caches = append(k.watches.caches, known)
		if err := made.Watch(source.Kind(known, object, handler.EnqueueRequestsFromMapFunc(k.request))); err != nil {
			return fmt.Errorf("watching %T %s: %w", object, object.GetName(), err)
		}
	}
	if err := made.Watch(source.Func(k.begin)); err != nil {
		return fmt.Errorf("watching the election: %w", err)
	}
	return nil
}

// request maps every event to the one thing that there is to reconcile.
func (k *Keeper) request(context.Context, client.Object) []ctrl.Request {
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: k.options.Namespace, Name: k.options.SecretName}}}
}

// begin asks for the first look, since there may be no object yet to hear of,
// and for another when this replica becomes the leader.
func (k *Keeper) begin(ctx context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	request := k.request(ctx, nil)[0]
	queue.Add(request)
	go func() {
		select {
		case <-k.elected:
			queue.Add(request)
		case <-ctx.Done():
		}
	}()
	return nil
}

// GetCache returns the cache that a manager waits for before it goes on. That
// there is one makes a manager start the Keeper beside its own caches, and not
// after them.
func (k *Keeper) GetCache() cache.Cache { return k.watches.caches[0] }

// Start runs the Keeper until the context ends. A manager calls it.
func (k *Keeper) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, known := range k.watches.caches {
		group.Go(func() error { return known.Start(ctx) })
	}
	group.Go(func() error { return k.watches.controller.Start(ctx) })
	if err := group.Wait(); err != nil {
		return fmt.Errorf("keeping the certificate: %w", err)
	}
	return nil
}

// only limits a cache to one object.
func only(object client.Object, o cache.Options) cache.Options {
	o.DefaultFieldSelector = fields.OneTermEqualSelector("metadata.name", object.GetName())
	if namespace := object.GetNamespace(); namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}

// newScheme returns a scheme with what the Keeper reads and writes.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, admissionv1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the certificate's scheme: %w", err)
		}
	}
	return scheme, nil
}
