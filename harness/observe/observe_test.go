package observe_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/observe"
	"github.com/seatrial/seatrial/harness/redact"
)

const (
	configMaps = "/api/v1/configmaps"
	secrets    = "/api/v1/secrets"
	crds       = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

	// within is how long anything in these tests may take.
	within = 10 * time.Second
)

// watched is an observer of a fake API, and what it has seen.
type watched struct {
	*observe.Observer
	log *history.Log

	mu       sync.Mutex
	told     sync.Cond
	hooked   int
	warnings []string
}

func start(t *testing.T, f *fakeAPI, change ...func(*observe.Options)) *watched {
	t.Helper()
	w := &watched{log: history.NewLog(nil, history.Header{}, time.Now)}
	w.told.L = &w.mu
	options := observe.Options{Config: f.config(), Recorder: w.log, OnChange: w.changed, Warn: w.warn}
	for _, c := range change {
		c(&options)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var err error
	if w.Observer, err = observe.Start(ctx, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func (w *watched) changed(*history.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooked++
	w.told.Broadcast()
}

func (w *watched) warn(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warnings = append(w.warnings, line)
}

// seen returns what was recorded, once that many changes were.
func (w *watched) seen(n int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.hooked < n {
		w.told.Wait()
	}
	var all []string
	for _, c := range w.log.History().Changes() {
		existing := ""
		if c.Existing {
			existing = " existing"
		}
		all = append(all, fmt.Sprintf("%s %s %s %s@%s%s", c.Type, c.Kind, c.Name, c.UID, c.ResourceVersion, existing))
	}
	return all
}

func (w *watched) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.seen(len(want))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func (w *watched) sync(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := w.Sync(ctx); err != nil {
		t.Fatal(err)
	}
}

func withConfigMaps(t *testing.T) *fakeAPI {
	t.Helper()
	f := newFakeAPI(t)
	f.serve(configMaps, "ConfigMap")
	return f
}

func TestWhatIsThereAndWhatHappens(t *testing.T) {
	f := withConfigMaps(t)
	f.put(configMaps, "a", "u1", nil)
	w := start(t, f)
	w.want(t, "ADDED ConfigMap a u1@1 existing")
	f.put(configMaps, "b", "u2", nil)
	f.put(configMaps, "a", "u1", object{"data": object{"k": "v"}})
	f.cut() // nothing is lost or seen twice
	f.put(configMaps, "a", "u1", nil)
	f.remove(configMaps, "b")
	f.cut()
	f.put(configMaps, "b", "u3", nil)
	w.want(t,
		"ADDED ConfigMap a u1@1 existing", "ADDED ConfigMap b u2@2", "MODIFIED ConfigMap a u1@3",
		"MODIFIED ConfigMap a u1@4", "DELETED ConfigMap b u2@5", "ADDED ConfigMap b u3@6")
	if w.warnings != nil {
		t.Errorf("warned %q", w.warnings)
	}
}

func TestAChangeIsWhole(t *testing.T) {
	f := withConfigMaps(t)
	f.put(configMaps, "a", "u1", object{"data": object{"k": "v"}})
	w := start(t, f)
	w.seen(1)
	got := w.log.History().Entries[0].Change
	want := &history.Change{
		Type: history.Added, Existing: true, Version: "v1", Kind: "ConfigMap", Resource: "configmaps",
		Namespace: "demo", Name: "a", UID: "u1", ResourceVersion: "1",
		Object: []byte(`{"kind":"ConfigMap","apiVersion":"v1","data":{"k":"v"},` +
			`"metadata":{"name":"a","namespace":"demo","resourceVersion":"1","uid":"u1"}}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatTheServerForgotIsListedAnew(t *testing.T) {
	f := withConfigMaps(t)
	for i, name := range []string{"kept", "changed", "gone", "again"} {
		f.put(configMaps, name, fmt.Sprint("u", i), nil)
	}
	w := start(t, f)
	before := w.seen(4)
	f.hold(configMaps, true)
	f.put(configMaps, "changed", "u1", nil) // 5
	f.put(configMaps, "changed", "u1", nil) // 6: only this version is left
	f.remove(configMaps, "gone")            // 7
	f.remove(configMaps, "again")           // 8
	f.put(configMaps, "again", "u9", nil)   // 9
	f.forget(configMaps)
	f.hold(configMaps, false)
	w.want(t, append(before,
		"DELETED ConfigMap gone u2@3", "DELETED ConfigMap again u3@4", "MODIFIED ConfigMap changed u1@6", "ADDED ConfigMap again u9@9",
	)...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "configmaps fell behind at resource version 4") {
		t.Errorf("warned %q", w.warnings)
	}
}

func TestNoiseAndWhatIsExcludedIsNotWatched(t *testing.T) {
	f := withConfigMaps(t)
	for path, kind := range map[string]string{
		"/api/v1/events": "Event", "/apis/events.k8s.io/v1/events": "Event",
		"/apis/coordination.k8s.io/v1/leases": "Lease", "/apis/apps/v1/deployments": "Deployment",
		"/apis/apps/v1/daemonsets": "DaemonSet",
	} {
		f.serve(path, kind)
		f.put(path, "x", path, nil)
	}
	w := start(t, f, func(o *observe.Options) {
		o.Exclude = append(slices.Clone(observe.Excluded), schema.GroupResource{Group: "apps", Resource: "daemonsets"})
	})
	w.want(t, "ADDED Deployment x /apis/apps/v1/deployments@"+w.log.History().Entries[0].Change.ResourceVersion+" existing")
}

func TestSecretsStayOutOfTheRecord(t *testing.T) {
	f := newFakeAPI(t)
	f.serve(secrets, "Secret")
	f.put(secrets, "s", "u1", object{"data": object{"password": "aHVudGVyMg=="}})
	w := start(t, f)
	f.put(secrets, "s", "u1", object{"data": object{"password": "aHVudGVyMg=="}, "stringData": object{"x": "hunter2"}})
	w.seen(2)
	for _, c := range w.log.History().Changes() {
		if bytes.Contains(c.Object, []byte("hunter2")) || bytes.Contains(c.Object, []byte("aHVudGVyMg")) ||
			!bytes.Contains(c.Object, []byte(redact.Prefix)) {
			t.Errorf("recorded %s", c.Object)
		}
	}
}

func TestSyncWaitsForTheWatch(t *testing.T) {
	for name, happens := range map[string]func(*fakeAPI){
		"of a new object":      func(f *fakeAPI) { f.put(configMaps, "b", "u2", nil) },
		"of a new version":     func(f *fakeAPI) { f.put(configMaps, "a", "u1", nil) },
		"of a deletion":        func(f *fakeAPI) { f.remove(configMaps, "a") },
		"of an object renewed": func(f *fakeAPI) { f.remove(configMaps, "a"); f.put(configMaps, "a", "u2", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			f := withConfigMaps(t)
			f.put(configMaps, "a", "u1", nil)
			w := start(t, f)
			w.sync(t) // nothing to wait for
			f.hold(configMaps, true)
			happens(f)
			done := make(chan error, 1)
			go func() { done <- w.Sync(t.Context()) }()
			f.awaitLists(configMaps, 3) // the first, and one of either Sync
			select {
			case err := <-done:
				t.Errorf("Sync returned %v before the watch had delivered", err)
			default:
			}
			f.hold(configMaps, false)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if got := len(w.log.History().Entries); got < 2 {
				t.Errorf("after Sync there are %d changes", got)
			}
		})
	}
}

func TestSyncSaysWhatItWaitsFor(t *testing.T) {
	f := withConfigMaps(t)
	w := start(t, f)
	f.hold(configMaps, true)
	f.put(configMaps, "a", "u1", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := w.Sync(ctx); err == nil || !strings.Contains(err.Error(), `configmaps: at resource version "0", want 1`) {
		t.Errorf("got %v, want an error that names the resource and its versions", err)
	}
	f.hold(configMaps, false)
}

// definition returns the fields of a definition of clusters.example.com.
func definition(established string, served ...string) object {
	versions := []object{{"name": "v9", "served": false}}
	for _, v := range served {
		versions = append(versions, object{"name": v, "served": true})
	}
	return object{
		"spec": object{
			"group": "example.com", "names": object{"plural": "clusters", "kind": "Cluster"}, "versions": versions,
		},
		"status": object{"conditions": []object{{"type": "Established", "status": established}}},
	}
}

func TestDefinitionsComeAndGo(t *testing.T) {
	const v1, v2 = "/apis/example.com/v1/clusters", "/apis/example.com/v2/clusters"
	f := withConfigMaps(t)
	w := start(t, f)
	f.put(crds, "clusters", "d1", definition("False", "v1"))
	f.put(crds, "clusters", "d1", definition("True", "v1beta1", "v1"))
	f.serve(v1, "Cluster") // a moment after it is said to be there
	f.put(v1, "c", "u1", nil)
	seen := []string{
		"ADDED CustomResourceDefinition clusters d1@1", "MODIFIED CustomResourceDefinition clusters d1@2", "ADDED Cluster c u1@3",
	}
	w.want(t, seen...)

	// Another version takes over: the same objects, no new changes of them.
	f.serve(v2, "Cluster")
	f.do(func() {
		f.stores[v2].objects = f.stores[v1].objects
		f.stores[v1].status = http.StatusNotFound
		f.generation++
	})
	f.put(crds, "clusters", "d1", definition("True", "v2"))
	f.put(v2, "c", "u1", nil)
	seen = append(seen, "MODIFIED CustomResourceDefinition clusters d1@4", "MODIFIED Cluster c u1@5")
	w.want(t, seen...)

	// It goes, with what is left of it, and comes back.
	f.remove(crds, "clusters")
	f.do(func() {
		delete(f.stores, v2)
		f.generation++
	})
	seen = append(seen, "DELETED CustomResourceDefinition clusters d1@6", "DELETED Cluster c u1@5")
	w.want(t, seen...)
	w.sync(t)
	f.serve(v2, "Cluster")
	f.put(v2, "c", "u2", nil)
	f.put(crds, "clusters", "d2", definition("True", "v2"))
	seen = append(seen, "ADDED CustomResourceDefinition clusters d2@8", "ADDED Cluster c u2@7")
	w.want(t, seen...)
}

func TestStartTellsWhatItCannotWatch(t *testing.T) {
	t.Run("and goes on without what is forbidden", func(t *testing.T) {
		f := withConfigMaps(t)
		f.serve(secrets, "Secret")
		f.do(func() { f.stores[secrets].status = http.StatusForbidden })
		w := start(t, f)
		w.sync(t)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "secrets is not watched") {
			t.Errorf("warned %q", w.warnings)
		}
	})
	t.Run("and gives up with what fails", func(t *testing.T) {
		f := withConfigMaps(t)
		f.do(func() { f.stores[configMaps].status = http.StatusInternalServerError })
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			f.awaitLists(configMaps, 2) // it has tried, and tries again
			cancel()
		}()
		_, err := observe.Start(ctx, observe.Options{Config: f.config(), Recorder: history.NewLog(nil, history.Header{}, time.Now)})
		if err == nil || !strings.Contains(err.Error(), "configmaps") || !strings.Contains(err.Error(), "as the test wants it") {
			t.Errorf("got %v, want an error that names the resource and the cause", err)
		}
	})
}

func TestNothingIsRecordedAfterStop(t *testing.T) {
	f := withConfigMaps(t)
	w := start(t, f)
	w.Stop()
	f.put(configMaps, "a", "u1", nil)
	w.Stop() // does nothing
	if got := w.log.History().Entries; len(got) != 0 {
		t.Errorf("recorded %v", got)
	}
}
