package assets

import (
	"context"
	"sync"
	"time"
)

// Stage is what a Store is doing.
type Stage string

// The stages.
const (
	// StageNotice is one line that the user should read, such as why a source
	// was passed over.
	StageNotice Stage = "notice"
	// StageWait is the wait for another process; Message says for which.
	StageWait Stage = "wait"
	// StageDownload counts bytes.
	StageDownload Stage = "download"
	// StageModules counts the modules that the go command downloads; their
	// total is not known.
	StageModules Stage = "modules"
	// StageCompile counts the packages that are not in the Go build cache.
	StageCompile Stage = "compile"
	// StageLink follows when all packages are compiled.
	StageLink Stage = "link"
)

// Event is a step of progress.
type Event struct {
	Stage Stage
	// Subject is what is being got, such as "kubernetes v1.37.2".
	Subject string
	// Done and Total count what Stage says; Total is 0 while it is not known.
	Done, Total int64
	// Elapsed is the time since the work on Subject began.
	Elapsed time.Duration
	// Message is set for notices and waits.
	Message string
}

// eventInterval is the least time between two events of one stage.
const eventInterval = 250 * time.Millisecond

// meter turns counting into events: one at once when the stage changes, then
// one each interval, so that time is seen to pass while nothing is counted.
type meter struct {
	emit    func(Event)
	now     func() time.Time
	subject string
	began   time.Time

	mu          sync.Mutex
	stage       Stage
	done, total int64
}

func (s *Store) newMeter(subject string) *meter {
	return &meter{emit: s.emit, now: s.now, subject: subject, began: s.now()}
}

// start begins the ticking and returns what ends it.
func (m *meter) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(eventInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				m.tell()
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// enter begins a stage. Where there is nothing to compile, it is linking.
func (m *meter) enter(stage Stage, total int64) {
	if stage == StageCompile && total == 0 {
		stage = StageLink
	}
	m.mu.Lock()
	m.stage, m.done, m.total = stage, 0, total
	m.mu.Unlock()
	m.tell()
}

// expect raises the total of bytes. A download is told of from its first body
// on, not while it is still open whether there is one.
func (m *meter) expect(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stage = StageDownload
	m.total += n
}

// count adds what was done. Compiling turns into linking when all is compiled.
func (m *meter) count(n int64) {
	m.mu.Lock()
	m.done += n
	linking := m.stage == StageCompile && m.done >= m.total
	m.mu.Unlock()
	if linking {
		m.enter(StageLink, 0)
	}
}

func (m *meter) tell() {
	m.mu.Lock()
	e := Event{Stage: m.stage, Subject: m.subject, Done: m.done, Total: m.total, Elapsed: m.now().Sub(m.began)}
	m.mu.Unlock()
	if e.Stage != "" {
		m.emit(e)
	}
}
