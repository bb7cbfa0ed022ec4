package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// publication is a caBundle from when it was in place.
type publication struct {
	at     time.Time
	bundle []byte
}

// trustedAt returns the bundle that was in place at a time.
func trustedAt(published []publication, at time.Time) []byte {
	bundle := published[0].bundle
	for _, p := range published {
		if !p.at.After(at) {
			bundle = p.bundle
		}
	}
	return bundle
}

// serve serves HTTPS with a Keeper's certificate, in the time of the world, and
// returns the address.
func serve(t *testing.T, w *world, k *Keeper) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		_ = server.Serve(tls.NewListener(listener, &tls.Config{
			MinVersion: tls.VersionTLS12, GetCertificate: k.GetCertificate, Time: w.clock.Now,
		}))
	}()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

// call makes a request as an API server does that trusts a bundle.
func call(t *testing.T, w *world, address string, bundle []byte) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "webhook.redis-system.svc", Time: w.clock.Now,
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address, nil)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	response, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(request)
	if err != nil {
		return fmt.Errorf("calling: %w", err)
	}
	return response.Body.Close()
}

// TestNoHandshakeFailsInRotations replaces the CA several times while two
// replicas serve. Callers go by a bundle that was in place at some moment
// within the propagation delay, and one replica hears of the Secret late by as
// much.
func TestNoHandshakeFailsInRotations(t *testing.T) {
	const (
		minutes     = 9 * 60
		propagation = 10
	)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	w := newWorld(t, consumers()...)
	leader, standby := w.keeper(), w.keeper()
	standby.elected = make(chan struct{})
	for _, k := range []*Keeper{leader, standby} {
		k.options.Lifetimes = Lifetimes{CA: 3 * time.Hour, Serving: time.Hour, Propagation: propagation * time.Minute}
		visit(t, k)
	}
	addresses := []string{serve(t, w, leader), serve(t, w, standby)}
	published := []publication{{start, []byte(w.bundles(t)["conversion"])}}
	issuers := map[string]bool{}
	heard := 0
	for minute := range minutes {
		w.clock.SetTime(start.Add(time.Duration(minute) * time.Minute))
		now := w.clock.Now()
		var all sync.WaitGroup
		for _, address := range addresses {
			bundle := trustedAt(published, now.Add(-time.Duration(random.Int64N(propagation*int64(time.Minute)))))
			all.Go(func() {
				if err := call(t, w, address, bundle); err != nil {
					t.Errorf("minute %d: %v", minute, err)
				}
			})
		}
		looks := []*Keeper{leader}
		if minute-heard >= propagation-1 || random.IntN(4) == 0 {
			looks, heard = append(looks, standby), minute
		}
		for _, k := range looks {
			all.Go(func() {
				if _, err := k.Reconcile(t.Context(), ctrl.Request{}); err != nil {
					t.Errorf("minute %d: %v", minute, err)
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		if bundle := w.bundles(t)["conversion"]; bundle != string(published[len(published)-1].bundle) {
			published = append(published, publication{now, []byte(bundle)})
		}
		c, err := leader.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		issuers[string(c.Leaf.AuthorityKeyId)] = true
	}
	// Each CA is there for two hours, the first is not a rotation.
	if len(issuers) < 4 {
		t.Errorf("served with certificates of %d CAs, want at least 4", len(issuers))
	}
}
