package historytest

import (
	"encoding/json"
	"time"

	"github.com/seatrial/seatrial/harness/history"
)

// Option changes how a step of the operator went.
type Option func(*operation)

type operation struct {
	request history.Request
	// late is by how much the direct watch lags behind the response; a
	// negative one is ahead of it.
	late time.Duration
	// began is how long before its end the request began.
	began time.Duration
}

// Status makes it a write of the status subresource.
func Status(o *operation) { o.request.Subresource = "status" }

// DryRun makes it one that changes nothing.
func DryRun(o *operation) { o.request.DryRun = true }

// Late delays the direct watch.
func Late(d time.Duration) Option { return func(o *operation) { o.late = d } }

// Took makes the request take that long.
func Took(d time.Duration) Option { return func(o *operation) { o.began = d } }

// By makes it a request of another user.
func By(user string) Option { return func(o *operation) { o.request.User = user } }

// Body replaces the request's body.
func Body(content map[string]any) Option {
	return func(o *operation) { o.request.Body = marshal(content) }
}

// Insisting puts the resourceVersion that the operator has read into the body.
func Insisting(on Object) Option {
	return func(o *operation) {
		var body map[string]any
		if err := json.Unmarshal(o.request.Body, &body); err != nil {
			panic(err)
		}
		body["metadata"].(map[string]any)["resourceVersion"] = on.ResourceVersion()
		o.request.Body = marshal(body)
	}
}

// Answer makes the API server answer with that object.
func Answer(with Object) Option { return func(o *operation) { o.answer(with) } }

// Generated makes a create one that leaves the name to the API server.
func Generated(o *operation) { o.request.Name = "" }

// Creates is a POST of the operator.
func (s *Story) Creates(o Object, options ...Option) Object {
	op := s.operation(history.VerbCreate, "POST", o, options)
	op.request.Response.Code = 201
	return s.write(op, o)
}

// Puts is an update of the operator.
func (s *Story) Puts(o Object, options ...Option) Object {
	return s.write(s.operation(history.VerbUpdate, "PUT", o, options), o)
}

// Patches is a merge patch of the operator after which the object looks like o.
func (s *Story) Patches(o Object, options ...Option) Object {
	op := s.operation(history.VerbPatch, "PATCH", o, options)
	op.request.ContentType = "application/merge-patch+json"
	return s.write(op, o)
}

// Applies is a server-side apply of the operator after which the object looks
// like o.
func (s *Story) Applies(o Object, options ...Option) Object {
	op := s.operation(history.VerbPatch, "PATCH", o, options)
	op.request.ContentType, op.request.FieldManager = "application/apply-patch+yaml", "demo"
	if _, there := s.objects[o.key()]; !there {
		op.request.Response.Code = 201
	}
	return s.write(op, o)
}

// Deletes is a DELETE of an object that nothing holds up.
func (s *Story) Deletes(o Object, options ...Option) {
	op := s.operation(history.VerbDelete, "DELETE", o, options)
	op.request.Body = nil
	if op.request.Response.Object == nil {
		op.request.Response.Object = json.RawMessage(`{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	}
	s.record(op, func(at time.Time) { s.remove(o, at) })
}

// Terminates is a DELETE of an object that finalizers hold up.
func (s *Story) Terminates(o Object, options ...Option) Object {
	return s.write(s.operation(history.VerbDelete, "DELETE", o, options),
		o.With("metadata.deletionTimestamp", s.now.Format(time.RFC3339)))
}

// Releases takes the last finalizer off an object that is being deleted.
func (s *Story) Releases(o Object, options ...Option) {
	released := o.With("metadata.finalizers", nil)
	op := s.operation(history.VerbUpdate, "PUT", released, options)
	op.answer(released)
	s.record(op, func(at time.Time) { s.remove(o, at) })
}

// Gets is a read of the operator.
func (s *Story) Gets(o Object, options ...Option) {
	op := s.operation(history.VerbGet, "GET", o, options)
	op.request.Body = nil
	op.answer(s.objects[o.key()])
	s.record(op, nil)
}

// Watches is a watch of the operator on a whole resource, with what it
// delivered unknown.
func (s *Story) Watches(like Object) {
	op := s.operation(history.VerbWatch, "GET", like, nil)
	op.request.Body, op.request.Name = nil, ""
	s.record(op, nil)
}

// Fails is a write that the API server refuses, with that message.
func (s *Story) Fails(verb history.Verb, o Object, code int, message string, options ...Option) {
	op := s.operation(verb, "POST", o, options)
	op.request.Response.Code = code
	if message != "" {
		op.request.Response.Object = marshal(map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message,
		})
	}
	s.record(op, nil)
}

// Asks is any other request.
func (s *Story) Asks(r history.Request) {
	op := operation{request: r, began: 5 * time.Millisecond, late: time.Millisecond}
	s.record(op, nil)
}

func (s *Story) operation(verb history.Verb, method string, o Object, options []Option) operation {
	ref := o.Ref()
	op := operation{late: time.Millisecond, began: 5 * time.Millisecond, request: history.Request{
		User: User, UserAgent: "demo/v1", Method: method, Path: "/" + o.Resource, Verb: verb,
		Group: ref.Group, Version: ref.Version, Resource: ref.Resource, Namespace: ref.Namespace, Name: ref.Name,
		Body:     o.With("metadata.resourceVersion", nil).json(),
		Response: history.Response{Code: 200},
	}}
	for _, option := range options {
		option(&op)
	}
	return op
}

// write stores the object and records the write and what came of it.
func (s *Story) write(op operation, o Object) Object {
	if op.request.DryRun {
		op.answer(o.With("metadata.resourceVersion", "9999"))
		s.record(op, nil)
		return s.objects[o.key()]
	}
	stored, kind := s.store(o, false)
	op.answer(stored)
	s.record(op, func(at time.Time) {
		if kind != "" {
			s.change(kind, stored, at)
		}
	})
	return stored
}

func (op *operation) answer(with Object) {
	op.request.Response.Object = with.json()
	op.request.Response.UID, op.request.Response.ResourceVersion = with.UID(), with.ResourceVersion()
}

// record sees the request, which ends now, and what the direct watch shows of
// it.
func (s *Story) record(op operation, watched func(at time.Time)) {
	s.After(step)
	r := op.request
	r.Start, r.Duration = s.now.Add(-op.began), op.began
	s.seeAt(s.now, history.Entry{Request: &r})
	if watched != nil {
		watched(s.now.Add(op.late))
	}
	s.After(step)
}
