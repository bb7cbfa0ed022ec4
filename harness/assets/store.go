package assets

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seatrial/seatrial/ci"
)

// The variables that OptionsFromEnv reads.
const (
	// EnvDirectory is the explicit directory, as envtest knows it.
	EnvDirectory = "KUBEBUILDER_ASSETS"
	// EnvCache is the directory of the cache.
	EnvCache = "SEATRIAL_CACHE"
	// EnvKubernetesURL replaces https://dl.k8s.io.
	EnvKubernetesURL = "SEATRIAL_KUBERNETES_URL"
	// EnvGitHubURL replaces https://github.com.
	EnvGitHubURL = "SEATRIAL_GITHUB_URL"
	// EnvGitHubAPIURL replaces https://api.github.com.
	EnvGitHubAPIURL = "SEATRIAL_GITHUB_API_URL"
)

// Options says where a Store gets programs. The zero value is ready to use.
type Options struct {
	// Dir is the directory of the cache; by default it is seatrial in the
	// user's cache directory.
	Dir string
	// Directory is the explicit directory; nil means that none was given. One
	// that is given and empty is said to be so, never taken as the current
	// directory.
	Directory *string
	// Sources are the sources that may be used; by default all. Their order is
	// always that of Sources. Without SourceCache, a program in the cache is
	// used only if it came from one of these sources.
	Sources []Source
	// Mirror is where official release files are downloaded.
	Mirror Mirror
	// Client downloads; by default one that gives up a connection after 3 s
	// and obeys the proxy variables of the environment.
	Client *http.Client
	// Go is the go command; by default "go", found in PATH.
	Go string
	// Progress is told what happens, by one goroutine at a time; nil means
	// nobody. It must not block.
	Progress func(Event)
}

// OptionsFromEnv returns the options that the environment sets. Its argument is
// os.LookupEnv or stands for it.
func OptionsFromEnv(lookup func(string) (string, bool)) Options {
	get := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	o := Options{
		Dir: get(EnvCache),
		Mirror: Mirror{
			Kubernetes: get(EnvKubernetesURL),
			GitHub:     get(EnvGitHubURL),
			GitHubAPI:  get(EnvGitHubAPIURL),
		},
	}
	if dir, ok := lookup(EnvDirectory); ok {
		o.Directory = &dir
	}
	return o
}

// Store gets programs and keeps them. It is safe for concurrent use, also of
// several processes on one cache.
type Store struct {
	dir       string
	directory *string
	sources   []Source
	matrix    ci.Matrix
	pins      fs.FS
	os, arch  string
	now       func() time.Time
	providers map[Source]provider
	// checksums are those of files that were verified, versions those of files
	// of the explicit directory.
	checksums, versions memo

	progress func(Event)
	tell     sync.Mutex
}

// provider makes programs that are not in the cache.
type provider interface {
	// fetch puts programs of the job into its directory, each under its own
	// name, and returns those that it has put there, also with an error.
	fetch(ctx context.Context, j job, m *meter) ([]fetched, error)
}

// job is what a provider is asked for.
type job struct {
	recipe   recipe
	programs []Program
	dir      string
	os, arch string
}

// fetched is a program in the directory of its job.
type fetched struct {
	program Program
	// origin is where it is from, for people.
	origin string
}

// New returns a store. The directory of its cache is made when it is needed.
func New(o Options) (*Store, error) {
	matrix, err := ci.Load()
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding the cache directory (or set %s): %w", EnvCache, err)
		}
		o.Dir = filepath.Join(user, "seatrial")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the cache directory: %w", err)
	}
	mirror, err := o.Mirror.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{
		dir:       dir,
		directory: o.Directory,
		sources:   o.Sources,
		matrix:    matrix,
		pins:      embeddedPins,
		os:        runtime.GOOS,
		arch:      runtime.GOARCH,
		now:       time.Now,
		progress:  o.Progress,
	}
	if len(s.sources) == 0 {
		s.sources = Sources()
	}
	hosts := &hostMemory{path: filepath.Join(dir, "unreachable.json"), now: s.now, ask: !s.uses(SourceBuild)}
	s.providers = map[Source]provider{
		SourceDownload: &downloader{mirror: mirror, transfer: newTransfer(o.Client, hosts)},
		SourceBuild:    &builder{goCommand: o.Go, store: s},
	}
	return s, nil
}

// Dir is the directory of the cache.
func (s *Store) Dir() string { return s.dir }

// Releases are the releases that the store can get, oldest first.
func (s *Store) Releases() []ci.Release { return slices.Clone(s.matrix.Releases) }

// Lookup returns the release that a name means; see ci.Matrix.Lookup.
func (s *Store) Lookup(name string) (ci.Release, error) { return s.matrix.Lookup(name) }

func (s *Store) uses(source Source) bool { return slices.Contains(s.sources, source) }

// emit passes an event on, one at a time.
func (s *Store) emit(e Event) {
	if s.progress == nil {
		return
	}
	s.tell.Lock()
	defer s.tell.Unlock()
	s.progress(e)
}

func (s *Store) noticef(subject, format string, args ...any) {
	line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	s.emit(Event{Stage: StageNotice, Subject: subject, Message: line})
}
