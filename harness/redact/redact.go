package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Prefix begins every symbol.
const Prefix = "redacted:"

// symbolDigits is short enough to read and long enough that two values of one
// history do not share a symbol by chance.
const symbolDigits = 12

// Redactor replaces confidential values by symbols. It is safe for concurrent
// use.
type Redactor struct{ salt []byte }

// New returns a Redactor with a salt of its own.
func New() *Redactor {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // never fails: see the package's documentation
	return &Redactor{salt: salt}
}

// Target says what a body is about, in the words of the API's paths.
type Target struct{ Group, Resource, Subresource string }

// lastApplied holds a copy of the object as a user applied it.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// every matches each key of a map.
const every = "*"

// secretFields are where a Secret holds values: those under data in base64.
var secretFields = [][]string{
	{"data", every},
	{"stringData", every},
	{"metadata", "annotations", lastApplied},
}

// fields returns the paths of the confidential values of a target.
func fields(t Target) [][]string {
	switch t {
	case Target{Resource: "secrets"}:
		return secretFields
	case Target{Resource: "serviceaccounts", Subresource: "token"}:
		return [][]string{{"status", "token"}}
	case Target{Group: "authentication.k8s.io", Resource: "tokenreviews"}:
		return [][]string{{"spec", "token"}}
	}
	return nil
}

// JSON returns the body, an object or a patch of any kind, without its
// confidential values. A body about another target comes back as it is. An
// error means that the body is not JSON, and must not be kept.
func (r *Redactor) JSON(t Target, body json.RawMessage) (json.RawMessage, error) {
	paths := fields(t)
	if paths == nil {
		return body, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, fmt.Errorf("redacting: %w", err)
	}
	if operations, ok := v.([]any); ok {
		for _, o := range operations {
			r.operation(o, paths)
		}
	} else {
		for _, path := range paths {
			v = r.at(v, path, path[0] == "data")
		}
	}
	clean, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("redacting: %w", err)
	}
	return clean, nil
}

// at replaces what stands at path in v, which it returns. A container that is
// not the object it should be is replaced whole: it may hold anything.
func (r *Redactor) at(v any, path []string, encoded bool) any {
	if v == nil {
		return nil
	}
	if len(path) == 0 {
		return r.symbol(v, encoded)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return r.symbol(v, encoded)
	}
	for key, value := range object {
		if path[0] == every || path[0] == key {
			object[key] = r.at(value, path[1:], encoded)
		}
	}
	return object
}

// operation redacts the value of one operation of a JSON patch. The value is
// looked at as part of the object that the operation's path leads to.
func (r *Redactor) operation(o any, paths [][]string) {
	operation, ok := o.(map[string]any)
	if !ok {
		return
	}
	value, ok := operation["value"]
	if !ok {
		return
	}
	pointer, _ := operation["path"].(string)
	for _, path := range paths {
		if rest, ok := below(pointer, path); ok {
			value = r.at(value, rest, path[0] == "data")
		}
	}
	operation["value"] = value
}

// unescape undoes the escapes of a JSON pointer.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// below returns what remains of path under the place that a JSON pointer names.
// It returns false where the two part.
func below(pointer string, path []string) (rest []string, ok bool) {
	for _, segment := range strings.Split(pointer, "/")[1:] {
		if len(path) == 0 {
			break // deeper than the value itself: all of it is confidential
		}
		if path[0] != every && path[0] != unescape.Replace(segment) {
			return nil, false
		}
		path = path[1:]
	}
	return path, true
}

// symbol stands for a value. What is encoded in base64 gets the symbol of what
// it encodes, so that data and stringData compare.
func (r *Redactor) symbol(v any, encoded bool) string {
	text, ok := v.(string)
	if !ok {
		text = fmt.Sprintf("%T %v", v, v) // maps are printed in the order of their keys
	}
	value := []byte(text)
	if encoded {
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			value = decoded
		}
	}
	mac := hmac.New(sha256.New, r.salt)
	mac.Write(value)
	return Prefix + hex.EncodeToString(mac.Sum(nil))[:symbolDigits]
}
