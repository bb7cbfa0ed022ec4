package proxy

import (
	"context"
	"sync"
)

// inFlight knows the requests that have not ended.
type inFlight struct {
	mu    sync.Mutex
	count int
	// none is closed when there are none and no more may begin; nil while more
	// may.
	none chan struct{}
	// answering are those whose response has begun, with a channel to close
	// at their end where somebody waits for it.
	answering map[*exchange]chan struct{}
}

func newInFlight() *inFlight { return &inFlight{answering: map[*exchange]chan struct{}{}} }

// begin notes a request. It returns false when no more may begin.
func (f *inFlight) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.none != nil {
		return false
	}
	f.count++
	return true
}

// answer notes that a response begins, one that ends by itself.
func (f *inFlight) answer(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answering[x] = nil
}

// end notes that a request has ended and is in the queue of the recording.
func (f *inFlight) end(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if done := f.answering[x]; done != nil {
		close(done)
	}
	delete(f.answering, x)
	f.count--
	if f.count == 0 && f.none != nil {
		close(f.none)
	}
}

// waitAnswering waits for the responses that have begun.
func (f *inFlight) waitAnswering(ctx context.Context) error {
	for _, done := range f.watchAnswering() {
		if err := await(ctx, done); err != nil {
			return err
		}
	}
	return nil
}

func (f *inFlight) watchAnswering() []chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]chan struct{}, 0, len(f.answering))
	for x, done := range f.answering {
		if done == nil {
			done = make(chan struct{})
			f.answering[x] = done
		}
		all = append(all, done)
	}
	return all
}

// close lets no more requests begin, and returns what is closed when the last
// has ended. It is called once.
func (f *inFlight) close() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.none = make(chan struct{})
	if f.count == 0 {
		close(f.none)
	}
	return f.none
}

// await waits for a channel to be closed.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
