package proxy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy/payload"
	"github.com/seatrial/seatrial/harness/redact"
)

// pendingBytes is how much may wait to be decoded. When it is more, requests
// wait for it: a record that lags is better than one with holes.
const pendingBytes = 64 << 20

// overhead is what an exchange weighs beside its bodies.
const overhead = 1 << 10

// Decoding takes processor time that the next request wants. It is put off
// until there are some to decode: most requests then come while there is none.
const (
	batchLength = 64
	batchAfter  = 20 * time.Millisecond
)

// recording decodes exchanges behind the scenes and records them in the order
// in which they ended.
type recording struct {
	options Options
	decoder *payload.Decoder
	done    chan struct{}

	mu      sync.Mutex
	due     sync.Cond // it is time to decode
	room    sync.Cond // there is room for more
	waiting []pending
	bytes   int
	isDue   bool
	closed  bool
	// clock makes it due after a while.
	clock *time.Timer
}

// pending is an exchange, or somebody who waits for those before.
type pending struct {
	exchange *exchange
	reached  chan struct{}
}

func newRecording(options Options, decoder *payload.Decoder) *recording {
	r := &recording{options: options, decoder: decoder, done: make(chan struct{})}
	r.due.L, r.room.L = &r.mu, &r.mu
	r.clock = time.AfterFunc(batchAfter, r.expire)
	go r.run()
	return r
}

// add takes over an exchange that has ended. When too much is waiting, it
// waits too. The end is stamped here, so that order and time agree.
func (r *recording) add(x *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.bytes > pendingBytes {
		r.room.Wait()
	}
	x.ended = r.options.Now()
	r.bytes += x.weight() + overhead
	r.waiting = append(r.waiting, pending{exchange: x})
	switch {
	case len(r.waiting) >= batchLength || r.bytes > pendingBytes/2:
		r.wake()
	case len(r.waiting) == 1:
		r.clock.Reset(batchAfter)
	}
}

// wake has the waiting decoded.
func (r *recording) wake() {
	r.isDue = true
	r.due.Signal()
}

func (r *recording) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
}

// flush waits until everything that was added before is recorded.
func (r *recording) flush(ctx context.Context) error {
	reached := make(chan struct{})
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.done
		return nil
	}
	r.waiting = append(r.waiting, pending{reached: reached})
	r.wake()
	r.mu.Unlock()
	return await(ctx, reached)
}

// close records what is left. Nothing may be added any more.
func (r *recording) close() {
	r.mu.Lock()
	r.closed = true
	r.wake()
	r.mu.Unlock()
	r.clock.Stop()
	<-r.done
}

func (r *recording) run() {
	defer close(r.done)
	for {
		batch := r.take()
		if batch == nil {
			return
		}
		for _, p := range batch {
			if p.reached != nil {
				close(p.reached)
				continue
			}
			weight := p.exchange.weight() + overhead
			r.record(p.exchange)
			r.release(weight)
		}
	}
}

// take waits for something to do. It returns nil when there will be no more.
func (r *recording) take() []pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.closed && (len(r.waiting) == 0 || !r.isDue) {
		r.due.Wait()
	}
	batch := r.waiting
	r.waiting, r.isDue = nil, false
	return batch
}

func (r *recording) release(weight int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes -= weight
	r.room.Broadcast()
}

// record decodes an exchange and hands it to the recorder.
func (r *recording) record(x *exchange) {
	request := &x.request
	request.Duration = x.ended.Sub(x.start)
	target := redact.Target{Group: request.Group, Resource: request.Resource, Subresource: request.Subresource}
	if len(x.sent) > 0 {
		var err error
		request.Body, err = r.decode(target, request.ContentType, x.sentEncoding, x.sent)
		if err != nil {
			request.BodyError = err.Error()
		}
		request.DryRun = request.DryRun || asksForDryRun(request)
	}
	if x.counter != nil {
		*count(x) = x.counter.Close()
	}
	if len(x.got) > 0 {
		r.object(target, x)
	}
	r.options.Recorder.Record(history.Entry{Time: x.ended, Request: request})
}

func count(x *exchange) *int {
	if x.stream == payload.Events {
		return &x.request.Response.Events
	}
	return &x.request.Response.Items
}

// decode returns a body as JSON, without what is confidential in it.
func (r *recording) decode(t redact.Target, contentType, encoding string, body []byte) (json.RawMessage, error) {
	decoded, err := r.decoder.JSON(contentType, encoding, body)
	if err != nil || decoded == nil {
		return nil, err
	}
	return r.options.Redactor.JSON(t, decoded)
}

// object keeps the response's body.
func (r *recording) object(t redact.Target, x *exchange) {
	response := &x.request.Response
	object, meta, err := r.decoder.Object(x.gotType, x.gotEncoding, x.got)
	if err == nil && object != nil {
		object, err = r.options.Redactor.JSON(t, object)
	}
	if err != nil {
		response.ObjectError = err.Error()
		return
	}
	response.Object, response.UID, response.ResourceVersion = object, meta.UID, meta.ResourceVersion
}

// asksForDryRun reports whether the options of a delete do.
func asksForDryRun(r *history.Request) bool {
	if r.Verb != history.VerbDelete && r.Verb != history.VerbDeleteCollection {
		return false
	}
	var options struct {
		DryRun []string `json:"dryRun"`
	}
	return json.Unmarshal(r.Body, &options) == nil && len(options.DryRun) > 0
}
