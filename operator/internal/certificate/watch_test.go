package certificate

import (
	"testing"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// newManager returns a manager that is never started, of a cluster that there
// is not.
func newManager(t *testing.T) ctrl.Manager {
	t.Helper()
	mgr, err := ctrl.NewManager(&rest.Config{Host: "127.0.0.1:1"}, ctrl.Options{
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// TestManagerStartsKeeperBesideItsCaches holds what package doc says of the
// order: a manager starts what has a cache before it waits for any.
func TestManagerStartsKeeperBesideItsCaches(t *testing.T) {
	k := New(Options{
		Namespace: "redis-system", SecretName: "certificate", ServiceName: "webhook",
		Validating: []string{"a", "b"}, CRDs: []string{"c"},
	})
	if err := k.SetupWithManager(newManager(t)); err != nil {
		t.Fatal(err)
	}
	cached, ok := any(k).(interface {
		manager.Runnable
		GetCache() cache.Cache
	})
	if !ok || cached.GetCache() == nil {
		t.Error("a manager would not start the Keeper beside its caches")
	}
	if want := 4; len(k.watches.caches) != want {
		t.Errorf("watches %d objects, want %d", len(k.watches.caches), want)
	}
	if k.elected == nil {
		t.Error("the Keeper would not leave writes to the leader")
	}
}

func TestSetupRefusesMissingNames(t *testing.T) {
	full := Options{Namespace: "redis-system", SecretName: "certificate", ServiceName: "webhook"}
	tests := map[string]func(*Options){
		"no namespace": func(o *Options) { o.Namespace = "" },
		"no Secret":    func(o *Options) { o.SecretName = "" },
		"no Service":   func(o *Options) { o.ServiceName = "" },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			o := full
			spoil(&o)
			if err := New(o).SetupWithManager(newManager(t)); err == nil {
				t.Error("no error")
			}
		})
	}
}
