package observe_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// fakeAPI is as much of an API server as an observer sees.
type fakeAPI struct {
	server *httptest.Server

	mu      sync.Mutex
	changed sync.Cond
	version int
	// stores are by path.
	stores map[string]*store
	// generation counts how often all watches were cut.
	generation int
	closed     bool
	// lists counts the lists by path, and what failed.
	lists map[string]int
}

// store holds the objects of one resource.
type store struct {
	kind   string
	status int // answered to everything when not 0
	// objects by name, and events after the version forgotten.
	objects   map[string]object
	events    []fakeEvent
	forgotten int
	held      bool
}

type object map[string]any

type fakeEvent struct {
	version int
	line    string
}

func newFakeAPI(t *testing.T) *fakeAPI {
	t.Helper()
	f := &fakeAPI{stores: map[string]*store{}, lists: map[string]int{}}
	f.changed.L = &f.mu
	f.server = httptest.NewUnstartedServer(f)
	f.server.EnableHTTP2 = true
	f.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.server.StartTLS()
	t.Cleanup(func() {
		f.do(func() { f.closed = true })
		f.server.Close()
	})
	f.serve("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "CustomResourceDefinition")
	return f
}

func (f *fakeAPI) config() *rest.Config {
	return &rest.Config{Host: f.server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// do changes something, and tells the watches.
func (f *fakeAPI) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.changed.Broadcast()
}

// serve begins to serve a resource.
func (f *fakeAPI) serve(path, kind string) {
	f.do(func() { f.stores[path] = &store{kind: kind, objects: map[string]object{}, forgotten: f.version} })
}

// put creates or replaces an object.
func (f *fakeAPI) put(path, name, uid string, fields object) {
	f.do(func() {
		f.version++
		s := f.stores[path]
		eventType := "ADDED"
		if _, ok := s.objects[name]; ok {
			eventType = "MODIFIED"
		}
		o := object{"metadata": object{"name": name, "namespace": "demo", "uid": uid, "resourceVersion": strconv.Itoa(f.version)}}
		maps.Copy(o, fields)
		s.objects[name] = o
		s.event(f.version, eventType, o)
	})
}

// remove deletes an object.
func (f *fakeAPI) remove(path, name string) {
	f.do(func() {
		f.version++
		s := f.stores[path]
		last := s.objects[name]
		delete(s.objects, name)
		o, meta := maps.Clone(last), maps.Clone(last["metadata"].(object))
		meta["resourceVersion"] = strconv.Itoa(f.version)
		o["metadata"] = meta
		s.event(f.version, "DELETED", o)
	})
}

// event appends an event. Objects in a watch have a type, unlike in lists.
func (s *store) event(version int, eventType string, o object) {
	typed := object{"kind": s.kind, "apiVersion": "v1"}
	maps.Copy(typed, o)
	line, err := json.Marshal(object{"type": eventType, "object": typed})
	if err != nil {
		panic(err)
	}
	s.events = append(s.events, fakeEvent{version, string(line) + "\n"})
}

// cut ends every watch.
func (f *fakeAPI) cut() { f.do(func() { f.generation++ }) }

// forget cuts every watch, and lets none resume at a version up to now.
func (f *fakeAPI) forget(path string) {
	f.do(func() {
		f.generation++
		f.version++ // of something else
		s := f.stores[path]
		s.events, s.forgotten = nil, f.version
	})
}

// hold keeps the events of a resource back, or lets them go.
func (f *fakeAPI) hold(path string, held bool) { f.do(func() { f.stores[path].held = held }) }

// ServeHTTP implements http.Handler.
func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.stores[r.URL.Path]
	switch {
	case ok && s.status != 0:
		f.lists[r.URL.Path]++
		f.changed.Broadcast()
		fail(w, s.status, metav1.StatusReasonUnknown)
	case ok && r.URL.Query().Get("watch") != "":
		f.watch(w, r, s)
	case ok:
		f.lists[r.URL.Path]++
		f.changed.Broadcast()
		items := make([]object, 0, len(s.objects))
		for _, o := range s.objects {
			items = append(items, o)
		}
		reply(w, object{"kind": "List", "metadata": object{"resourceVersion": strconv.Itoa(f.version)}, "items": items})
	case !f.discover(w, r.URL.Path):
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

func reply(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	reply(w, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "as the test wants it",
	})
}

// watch serves a watch until it is cut. The lock is held, except while waiting.
func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request, s *store) {
	after, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if after < s.forgotten {
		fail(w, http.StatusGone, metav1.StatusReasonExpired)
		return
	}
	generation := f.generation
	flush := http.NewResponseController(w).Flush
	for flush() == nil && f.generation == generation && !f.closed {
		sent := false
		for _, e := range s.events {
			if e.version > after && !s.held {
				after, sent = e.version, true
				_, _ = fmt.Fprint(w, e.line)
			}
		}
		if !sent {
			f.changed.Wait()
		}
	}
}

// discover answers what resources there are.
func (f *fakeAPI) discover(w http.ResponseWriter, path string) bool {
	switch path {
	case "/api":
		reply(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
		return true
	case "/apis":
		reply(w, f.groups())
		return true
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}}
	list.GroupVersion = strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
	for served, s := range f.stores {
		if name, ok := strings.CutPrefix(served, path+"/"); ok {
			verbs := metav1.Verbs{"get", "list", "watch"}
			list.APIResources = append(list.APIResources,
				metav1.APIResource{Name: name, Kind: s.kind, Verbs: verbs},
				metav1.APIResource{Name: name + "/status", Kind: s.kind, Verbs: metav1.Verbs{"get"}})
		}
	}
	if list.APIResources == nil {
		return false
	}
	reply(w, list)
	return true
}

func (f *fakeAPI) groups() metav1.APIGroupList {
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	seen := map[string]bool{}
	for path := range f.stores {
		parts := strings.Split(path, "/")
		if parts[1] != "apis" || seen[parts[2]] {
			continue
		}
		seen[parts[2]] = true
		v := metav1.GroupVersionForDiscovery{GroupVersion: parts[2] + "/" + parts[3], Version: parts[3]}
		groups.Groups = append(groups.Groups, metav1.APIGroup{
			Name: parts[2], Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v,
		})
	}
	slices.SortFunc(groups.Groups, func(a, b metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	return groups
}

// awaitLists waits until a resource was listed that often.
func (f *fakeAPI) awaitLists(path string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.lists[path] < n {
		f.changed.Wait()
	}
}
