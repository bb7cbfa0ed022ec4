package proxy

import (
	"context"
	"sync"
)

// inFlight knows the requests that have not ended.
type inFlight struct {
	all sync.WaitGroup

	mu sync.Mutex
	// answering are those whose response has begun, with a channel to close
	// at their end where somebody waits for it.
	answering map[*exchange]chan struct{}
}

func newInFlight() *inFlight { return &inFlight{answering: map[*exchange]chan struct{}{}} }

func (f *inFlight) begin() { f.all.Add(1) }

// answer notes that a response begins, one that ends by itself.
func (f *inFlight) answer(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answering[x] = nil
}

// end notes that a request is in the queue of the recording.
func (f *inFlight) end(x *exchange) {
	f.mu.Lock()
	if done := f.answering[x]; done != nil {
		close(done)
	}
	delete(f.answering, x)
	f.mu.Unlock()
	f.all.Done()
}

// waitAnswering waits for the responses that have begun.
func (f *inFlight) waitAnswering(ctx context.Context) error {
	for _, done := range f.watchAnswering() {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (f *inFlight) watchAnswering() []chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []chan struct{}
	for x, done := range f.answering {
		if done == nil {
			done = make(chan struct{})
			f.answering[x] = done
		}
		all = append(all, done)
	}
	return all
}

func (f *inFlight) wait() { f.all.Wait() }
