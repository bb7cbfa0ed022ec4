package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/redact"
)

// configFor returns a configuration for a client that reads everything, as
// JSON and as fast as it can.
func configFor(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.QPS = -1
	c.Timeout = 0
	c.ContentType, c.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c.WarningHandler = rest.NoWarnings{}
	c.GroupVersion = &metav1.Unversioned
	return c
}

// onlyVersions asks for lists without what is in the objects.
const onlyVersions = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// metadata is what is read of every object.
type metadata struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
		Generation      int64  `json:"generation"`
	} `json:"metadata"`
}

// list is any list.
type list struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// fetch lists a resource as it is now, accept being the form to ask for.
func fetch(ctx context.Context, c rest.Interface, r resource, accept string) (*list, error) {
	result := c.Get().AbsPath(r.path()).SetHeader("Accept", accept).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var l list
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	return &l, nil
}

// event is one event of a watch.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// The types of events that are no changes.
const (
	typeBookmark = "BOOKMARK"
	typeError    = "ERROR"
)

// open opens a watch of what happens after a version.
func open(ctx context.Context, c rest.Interface, r resource, after string) (io.ReadCloser, error) {
	return c.Get().AbsPath(r.path()).
		Param("watch", "true").Param("allowWatchBookmarks", "true").Param("resourceVersion", after).
		Stream(ctx)
}

// failure returns the error that an event of type ERROR holds.
func failure(object json.RawMessage) error {
	var status metav1.Status
	if err := json.Unmarshal(object, &status); err != nil {
		return fmt.Errorf("the watch ended with what is no status: %s", object)
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// expired reports whether the API server does not remember so far back.
func expired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// change makes a change of an object.
func change(t history.ChangeType, r resource, object json.RawMessage, symbols *redact.Redactor) (*history.Change, error) {
	var m metadata
	if err := json.Unmarshal(object, &m); err != nil {
		return nil, fmt.Errorf("reading an object: %w", err)
	}
	if m.Kind == "" {
		m.Kind = r.kind
		object = typed(r, object)
	}
	object, err := symbols.JSON(redact.Target{Group: r.Group, Resource: r.Resource}, object)
	if err != nil {
		return nil, err
	}
	return &history.Change{
		Type: t, Group: r.Group, Version: r.Version, Kind: m.Kind, Resource: r.Resource, Object: object,
		Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, UID: m.Metadata.UID,
		ResourceVersion: m.Metadata.ResourceVersion, Generation: m.Metadata.Generation,
	}, nil
}

// typed gives an object of a list the type that only the list has.
func typed(r resource, object json.RawMessage) json.RawMessage {
	head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q`, r.kind, r.GroupVersion().String())
	members := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(object), []byte("{")))
	if !bytes.HasPrefix(members, []byte("}")) {
		head += ","
	}
	return append([]byte(head), members...)
}
