package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// FieldManager is the name under which the Secret and caBundles are written.
const FieldManager = "rediscluster-operator-certificate"

// Patience is how long a replica that is not the leader waits for a write to
// be made by the leader before it makes it itself.
const Patience = 15 * time.Second

// maxSteps is how often one visit looks. It takes a few times to get from
// nothing to a Secret and caBundles that agree; more means that somebody else
// writes as well, and the visit is put off.
const maxSteps = 16

// Options says where the certificate is kept and who is to trust it.
type Options struct {
	// Namespace is that of the Secret and of the Service.
	Namespace string
	// SecretName is where the keys and certificates are kept.
	SecretName string
	// ServiceName is what the API server calls the webhooks by.
	ServiceName string
	// Validating, Mutating and CRDs are the names of the webhook configurations
	// and of the CRDs that carry the CA bundle. Only webhooks that call the
	// Service are touched.
	Validating, Mutating, CRDs []string
	// Lifetimes are defaulted one by one where they are zero.
	Lifetimes Lifetimes
	// Clock is the real one if it is nil.
	Clock clock.PassiveClock
}

func (o Options) service() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.ServiceName}
}

// Keeper keeps the Secret and the caBundles as they should be, and serves with
// the certificate in the Secret.
type Keeper struct {
	held
	options Options
	// api reads and writes without a cache: a decision that is made on an old
	// view could end the trust in a CA that is still in use.
	api client.Client
	// elected is closed when this replica leads; nil means that it does.
	elected <-chan struct{}
	// wanting is since when a write has been needed that is the leader's.
	wanting time.Time
	watches watches
}

// New returns a Keeper. It does nothing before SetupWithManager was called and
// the manager runs.
func New(o Options) *Keeper {
	o.Lifetimes = o.Lifetimes.withDefaults()
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Keeper{held: held{clock: o.Clock}, options: o}
}

// Reconcile looks at everything and does what is to be done, one write after
// the other, each decided on what is there after the last. It asks to be
// called again when there will be something to do.
func (k *Keeper) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var err error
	for range maxSteps {
		var next time.Time
		var wrote bool
		wrote, next, err = k.step(ctx)
		switch {
		case raced(err):
			log.FromContext(ctx).V(1).Info("Looking again: something changed in between", "error", err.Error())
		case err != nil:
			return ctrl.Result{}, err
		case !wrote:
			return ctrl.Result{RequeueAfter: max(next.Sub(k.clock.Now()), time.Second)}, nil
		}
	}
	return ctrl.Result{}, errors.Join(fmt.Errorf("the certificate is not settled after %d writes", maxSteps), err)
}

// step looks once and makes at most one kind of write. If it made none it
// returns when to look next.
//
// Consumers are read before the Secret: should they be written, it is with a
// bundle that is at least as new as what they carried, and the write fails if
// another replica was faster.
func (k *Keeper) step(ctx context.Context) (wrote bool, next time.Time, err error) {
	consumers, unread := readConsumers(ctx, k.api, k.options)
	secret, err := readSecret(ctx, k.api, k.options)
	if err != nil {
		return false, time.Time{}, err
	}
	now := k.clock.Now()
	names := Names(k.options.ServiceName, k.options.Namespace)
	m := Decode(secret)
	k.load(m, now, names)
	lacking := k.lacking(consumers, m.Bundle())
	d := Decide(now, m, k.options.Lifetimes, names, unread == nil && len(lacking) == 0)
	if d.Action == Nothing && len(lacking) == 0 {
		k.wanting = time.Time{}
		return false, d.Next, unread
	}
	if until := k.waitsUntil(now); now.Before(until) {
		return false, until, unread
	}
	if d.Action == Nothing {
		return true, time.Time{}, k.publish(ctx, lacking, m.Bundle())
	}
	log.FromContext(ctx).Info("Changing the webhooks' certificate", "action", d.Action, "reason", d.Why)
	m, err = Perform(d, now, m, k.options.Lifetimes, names)
	if err != nil {
		return false, time.Time{}, err
	}
	return true, time.Time{}, writeSecret(ctx, k.api, secret, m)
}

// load serves with the certificate in the Secret if it is of use. Otherwise the
// last good one stays until there is a new one.
func (k *Keeper) load(m Material, now time.Time, names []string) {
	if issuer, _ := m.issuer(now, names); issuer < 0 {
		return
	}
	k.loaded.Store(&tls.Certificate{
		Certificate: [][]byte{m.Serving.Certificate.Raw},
		PrivateKey:  m.Serving.Key,
		Leaf:        m.Serving.Certificate,
	})
}

// lacking returns the consumers that do not carry the bundle.
func (k *Keeper) lacking(consumers []client.Object, bundle []byte) []client.Object {
	var lacking []client.Object
	for _, consumer := range consumers {
		if !carries(consumer, k.options.service(), bundle) {
			lacking = append(lacking, consumer)
		}
	}
	return lacking
}

func (k *Keeper) publish(ctx context.Context, lacking []client.Object, bundle []byte) error {
	var failures []error
	for _, consumer := range lacking {
		log.FromContext(ctx).Info("Putting the CA bundle in place",
			"kind", fmt.Sprintf("%T", consumer), "name", consumer.GetName())
		if err := publish(ctx, k.api, consumer, k.options.service(), bundle); err != nil && !raced(err) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// waitsUntil returns until when this replica leaves a write to the leader; the
// zero time if it leads.
func (k *Keeper) waitsUntil(now time.Time) time.Time {
	if k.elected == nil {
		return time.Time{}
	}
	select {
	case <-k.elected:
		return time.Time{}
	default:
	}
	if k.wanting.IsZero() || k.wanting.After(now) {
		k.wanting = now
	}
	return k.wanting.Add(Patience)
}
