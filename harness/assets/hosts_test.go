package assets

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// noRoute is a network that leads nowhere.
type noRoute struct{ asked atomic.Int32 }

func (n *noRoute) RoundTrip(*http.Request) (*http.Response, error) {
	n.asked.Add(1)
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}
}

// isolated returns a store on a machine without a network, and its network.
func isolated(t *testing.T, cache string, now func() time.Time, sources ...Source) (*Store, *events, *noRoute) {
	t.Helper()
	network := &noRoute{}
	store, told := newStore(t, nil, cache, sources...)
	transfer := store.providers[SourceDownload].(*downloader).transfer
	transfer.client, transfer.hosts.now = &http.Client{Transport: network}, now
	return store, told, network
}

func TestUnreachableHostIsAskedOnce(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	etcd := Request{Programs: []Program{Etcd}}

	store, told, network := isolated(t, cache, clock)
	for range 3 {
		_, err := store.Get(t.Context(), etcd)
		if err == nil || !strings.Contains(err.Error(), "download: github.com is unreachable: dial tcp: no route to host;") ||
			!strings.Contains(err.Error(), "build: there is no go command; install") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("Get() = %v, want one line that says that there is neither a route nor a compiler", err)
		}
	}
	if n := network.asked.Load(); n != 1 {
		t.Errorf("one process asked %d times, want 1", n)
	}
	if notices := told.messages(StageNotice); len(notices) != 3 || !strings.Contains(notices[0], "download: github.com is unreachable") {
		t.Errorf("notices %q, want one line for each time that the download was passed over", notices)
	}

	now = now.Add(9 * time.Minute)
	store, _, network = isolated(t, cache, clock)
	_, err := store.Get(t.Context(), etcd)
	if err == nil || !strings.Contains(err.Error(), "github.com was unreachable 9m0s ago: dial tcp: no route to host (not asked again within 10m0s)") {
		t.Errorf("Get() = %v, want that an earlier process found out", err)
	}
	if n := network.asked.Load(); n != 0 {
		t.Errorf("the next process asked %d times, want 0", n)
	}

	store, _, network = isolated(t, cache, clock, SourceDownload)
	if _, err := store.Get(t.Context(), etcd); err == nil || network.asked.Load() != 1 {
		t.Errorf("a forced download asked %d times, want 1 (%v)", network.asked.Load(), err)
	}

	now = now.Add(11 * time.Minute)
	store, _, network = isolated(t, cache, clock)
	if _, err := store.Get(t.Context(), etcd); err == nil || network.asked.Load() != 1 {
		t.Errorf("after 10 minutes, it was asked %d times, want 1 (%v)", network.asked.Load(), err)
	}
}

func TestHostThatAnswersIsReachableAgain(t *testing.T) {
	server, cache := serveReleases(t), t.TempDir()
	host := strings.TrimPrefix(server.URL, "http://")
	note := func() *hostMemory {
		store, _ := newStore(t, server, cache)
		return store.providers[SourceDownload].(*downloader).transfer.hosts
	}
	writeFile(t, cache+"/tmp/x", nil, 0o644)
	if err := note().remember(host, errors.New("no route")); !errors.Is(err, errUnreachable) {
		t.Fatalf("remember() = %v, want errUnreachable", err)
	}
	if err := note().check(host); !errors.Is(err, errUnreachable) {
		t.Fatalf("check() = %v, want errUnreachable", err)
	}
	store, _ := newStore(t, server, cache, SourceDownload)
	if _, err := store.Get(t.Context(), Request{}); err != nil {
		t.Fatal(err)
	}
	if err := note().check(host); err != nil {
		t.Errorf("check() = %v after the host answered", err)
	}
}

func TestSilentServerIsUnreachable(t *testing.T) {
	server := serveReleases(t)
	server.handle(sumPathOf(Etcd, newest(t)), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	store, _ := newStore(t, server, t.TempDir(), SourceDownload)
	store.providers[SourceDownload].(*downloader).transfer.patience.answer = 20 * time.Millisecond
	_, err := store.Get(t.Context(), Request{Programs: []Program{Etcd}})
	if !errors.Is(err, errUnreachable) || !strings.Contains(err.Error(), "no answer within 20ms") {
		t.Errorf("Get() = %v, want that the host does not answer", err)
	}
}

func TestBrokenNoteOfHostsIsIgnored(t *testing.T) {
	for _, content := range []string{"", "{", "null", "[]"} {
		cache := t.TempDir()
		writeFile(t, cache+"/unreachable.json", []byte(content), 0o644)
		writeFile(t, cache+"/tmp/x", nil, 0o644)
		memory := &hostMemory{path: cache + "/unreachable.json", now: time.Now}
		if err := memory.check("a"); err != nil {
			t.Errorf("check() with the note %q = %v", content, err)
		}
		if err := memory.remember("a", errors.New("no route")); err == nil {
			t.Error("remember() returns no error")
		}
		other := &hostMemory{path: cache + "/unreachable.json", now: time.Now}
		if err := other.check("a"); err == nil {
			t.Errorf("with the note %q, nothing was remembered", content)
		}
	}
}
