package history

import (
	"encoding/json"
	"time"

	"github.com/seatrial/seatrial/harness/trial"
)

// Entry is one thing that was seen. Exactly one of Request, Change, Mark and
// Process is set.
type Entry struct {
	// Seq numbers the entries from 1, in the order in which they were seen.
	Seq int64 `json:"seq"`
	// Time is when the entry was completed: for a request, when its response
	// ended.
	Time time.Time `json:"time"`

	Request *Request `json:"request,omitempty"`
	Change  *Change  `json:"change,omitempty"`
	Mark    *Mark    `json:"mark,omitempty"`
	Process *Process `json:"process,omitempty"`
}

// Verb is what a request does, in the words of Kubernetes authorization.
type Verb string

// The verbs. VerbOther is a non-resource request or one that was not
// understood.
const (
	VerbGet              Verb = "get"
	VerbList             Verb = "list"
	VerbWatch            Verb = "watch"
	VerbCreate           Verb = "create"
	VerbUpdate           Verb = "update"
	VerbPatch            Verb = "patch"
	VerbDelete           Verb = "delete"
	VerbDeleteCollection Verb = "deletecollection"
	VerbOther            Verb = "other"
)

// Mutates reports whether the verb asks for a change.
func (v Verb) Mutates() bool {
	switch v {
	case VerbCreate, VerbUpdate, VerbPatch, VerbDelete, VerbDeleteCollection:
		return true
	default:
		return false
	}
}

// Request is one request of the operator, with its response.
type Request struct {
	// Start is when the request arrived; Duration is until its response ended.
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"durationNanoseconds"`

	// User is the name that the credentials claim, such as
	// "system:serviceaccount:redis-system:redis-operator".
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`

	Method string `json:"method"`
	// Path is the URL's path and query as sent.
	Path string `json:"path"`

	Verb        Verb   `json:"verb"`
	Group       string `json:"group,omitempty"`
	Version     string `json:"version,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	// Name is empty for a create with generateName; Response.Object has it.
	Name string `json:"name,omitempty"`

	// DryRun writes change nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// FieldManager is the query parameter of that name.
	FieldManager string `json:"fieldManager,omitempty"`
	// ContentType is that of the request's body; for a patch it tells the kind.
	ContentType string `json:"contentType,omitempty"`
	// Body is the request's body as JSON, whatever it was sent as. Empty where
	// there was none or it could not be decoded, which BodyError then says.
	Body      json.RawMessage `json:"body,omitempty"`
	BodyError string          `json:"bodyError,omitempty"`

	Response Response `json:"response"`
}

// Response is what the API server answered.
type Response struct {
	// Code is the HTTP status; 0 means that there was no response, which Error
	// then explains.
	Code  int    `json:"code"`
	Error string `json:"error,omitempty"`
	// Warnings are the texts of the Warning headers.
	Warnings []string `json:"warnings,omitempty"`
	// Object is the body as JSON: the object, or the Status of a failure. Not
	// kept for lists and watches. ObjectError says why it is empty although
	// there was one, or why a list or watch was not counted.
	Object      json.RawMessage `json:"object,omitempty"`
	ObjectError string          `json:"objectError,omitempty"`
	// UID and ResourceVersion are those of Object.
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Items counts what a list returned, Events what a watch delivered,
	// bookmarks apart.
	Items  int `json:"items,omitempty"`
	Events int `json:"events,omitempty"`
	// BodyBytes is the length of the body on the wire.
	BodyBytes int64 `json:"bodyBytes,omitempty"`
}

// OK reports whether the API server answered with success.
func (r Response) OK() bool { return r.Code >= 200 && r.Code < 300 }

// Ref names the object or collection that the request is about.
func (r *Request) Ref() trial.ObjectRef {
	return trial.ObjectRef{
		Group: r.Group, Version: r.Version, Resource: r.Resource,
		Namespace: r.Namespace, Name: r.Name, UID: r.Response.UID,
	}
}

// ChangeType is the type of a watch event.
type ChangeType string

// The types of change.
const (
	Added    ChangeType = "ADDED"
	Modified ChangeType = "MODIFIED"
	Deleted  ChangeType = "DELETED"
)

// Change is one version of an object, as a direct watch delivered it: the
// ground truth, whoever caused it.
type Change struct {
	Type ChangeType `json:"type"`
	// Existing marks an object that was there when the watch began.
	Existing bool   `json:"existing,omitempty"`
	Group    string `json:"group,omitempty"`
	Version  string `json:"version"`
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
	// Object is the whole object, managedFields included.
	Object json.RawMessage `json:"object"`

	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
	Generation      int64  `json:"generation,omitempty"`
}

// Ref names the object that changed.
func (c *Change) Ref() trial.ObjectRef {
	return trial.ObjectRef{
		Group: c.Group, Version: c.Version, Kind: c.Kind, Resource: c.Resource,
		Namespace: c.Namespace, Name: c.Name, UID: c.UID,
	}
}

// MarkName names a boundary between two phases of a trial.
type MarkName string

// The marks of a trial, in their order. A trial that ends early lacks the
// later ones.
const (
	// MarkInstalled: CRDs and manifests are there; nothing of the subject runs.
	MarkInstalled MarkName = "installed"
	// MarkStarted: the operator's process was started.
	MarkStarted MarkName = "started"
	// MarkApplied: the samples were applied.
	MarkApplied MarkName = "applied"
	// MarkConverged: every sample is ready and the API is quiet.
	MarkConverged MarkName = "converged"
	// MarkUnsettled stands instead of MarkConverged when the deadline passed:
	// Detail says what was still missing, Objects are the samples that were not
	// ready. No Objects means that all were, and the API did not get quiet.
	MarkUnsettled MarkName = "unsettled"
	// MarkObserved: the window in which a converged operator should rest ended.
	MarkObserved MarkName = "observed"
	// MarkDeleting: the samples' deletion was asked for.
	MarkDeleting MarkName = "deleting"
	// MarkDeleted: every sample is gone and the API is quiet.
	MarkDeleted MarkName = "deleted"
	// MarkUndeleted stands instead of MarkDeleted when the deadline passed.
	MarkUndeleted MarkName = "undeleted"
	// MarkStopped: the operator's process was asked to stop.
	MarkStopped MarkName = "stopped"
)

// Mark is a boundary between two phases.
type Mark struct {
	Name   MarkName `json:"name"`
	Detail string   `json:"detail,omitempty"`
	// Objects are what the mark is about: the samples applied, or those that
	// are not ready or not gone.
	Objects []trial.ObjectRef `json:"objects,omitempty"`
}

// ProcessEvent says what happened to the operator's process.
type ProcessEvent string

// The events of a process.
const (
	ProcessStarted ProcessEvent = "started"
	ProcessExited  ProcessEvent = "exited"
	// ProcessPanicked: a panic was found in the log. Lines has it, goroutine
	// trace included.
	ProcessPanicked ProcessEvent = "panicked"
)

// Process is one event in the life of the operator's process.
type Process struct {
	Event ProcessEvent `json:"event"`
	PID   int          `json:"pid,omitempty"`
	// ExitCode is that of an exit; -1 after a signal, which Signal then names.
	ExitCode int    `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	// Asked marks an exit that the harness asked for.
	Asked bool     `json:"asked,omitempty"`
	Lines []string `json:"lines,omitempty"`
}
