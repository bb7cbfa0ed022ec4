package historytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/trial"
)

// Object is an object of the API. Its methods return changed copies.
type Object struct {
	Group, Version, Resource string
	Content                  map[string]any
}

// Widget is an object of the subject's own resource.
func Widget(name string) Object {
	return New("fixtures.example.com", "v1", "widgets", "Widget", "trial", name).With("spec.size", 1)
}

// ConfigMap is an object as operators make it.
func ConfigMap(name string) Object {
	return New("", "v1", "configmaps", "ConfigMap", "trial", name).With("data.key", "value")
}

// Deployment is an object whose status others write.
func Deployment(name string) Object {
	return New("apps", "v1", "deployments", "Deployment", "trial", name).With("spec.replicas", 1)
}

// New returns any object; one without a namespace is cluster-scoped.
func New(group, version, resource, kind, namespace, name string) Object {
	o := Object{Group: group, Version: version, Resource: resource}
	apiVersion := version
	if group != "" {
		apiVersion = group + "/" + version
	}
	return o.With("apiVersion", apiVersion).With("kind", kind).
		With("metadata.name", name).With("metadata.namespace", namespace)
}

// With sets a field, named by its path. An empty string or nil removes it.
func (o Object) With(path string, value any) Object {
	o.Content = clone(o.Content)
	fields := strings.Split(path, ".")
	at := o.Content
	for _, field := range fields[:len(fields)-1] {
		next, ok := at[field].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[field] = next
		}
		at = next
	}
	last := fields[len(fields)-1]
	if value == nil || value == "" {
		delete(at, last)
		return o
	}
	at[last] = value
	return o
}

// Owned adds a controller reference to an object that has a UID already.
func (o Object) Owned(by Object) Object {
	return o.OwnedBy(map[string]any{
		"apiVersion": by.Content["apiVersion"], "kind": by.Content["kind"],
		"name": by.Name(), "uid": by.UID(), "controller": true,
	})
}

// OwnedBy adds an owner reference as it is given.
func (o Object) OwnedBy(reference map[string]any) Object {
	references, _ := o.metadata()["ownerReferences"].([]any)
	return o.With("metadata.ownerReferences", append(slices.Clip(references), reference))
}

// Condition returns a condition as the API conventions want it.
func Condition(kind, status, reason, since string) map[string]any {
	return map[string]any{
		"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": since,
	}
}

// Name is that of the metadata.
func (o Object) Name() string { return o.text("name") }

// UID is empty until the object is stored.
func (o Object) UID() string { return o.text("uid") }

// ResourceVersion is empty until the object is stored.
func (o Object) ResourceVersion() string { return o.text("resourceVersion") }

// Ref names the object.
func (o Object) Ref() trial.ObjectRef {
	kind, _ := o.Content["kind"].(string)
	return trial.ObjectRef{
		Group: o.Group, Version: o.Version, Resource: o.Resource, Kind: kind,
		Namespace: o.text("namespace"), Name: o.Name(), UID: o.UID(),
	}
}

func (o Object) text(field string) string {
	s, _ := o.metadata()[field].(string)
	return s
}

func (o Object) metadata() map[string]any {
	m, _ := o.Content["metadata"].(map[string]any)
	return m
}

func (o Object) key() string {
	return fmt.Sprintf("%s/%s/%s/%s", o.Group, o.Resource, o.text("namespace"), o.Name())
}

func (o Object) json() json.RawMessage { return marshal(o.Content) }

func marshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a hand-written object must be JSON: %v", err))
	}
	return raw
}

// clone copies a tree of maps; its leaves are shared, and nobody changes them.
func clone(m map[string]any) map[string]any {
	copied := make(map[string]any, len(m)+1)
	for key, value := range m {
		if inner, ok := value.(map[string]any); ok {
			value = clone(inner)
		}
		copied[key] = value
	}
	return copied
}
