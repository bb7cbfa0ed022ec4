package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// The media types of bodies that the API speaks.
const (
	typeJSON           = "application/json"
	typeJSONPatch      = "application/json-patch+json"
	typeMergePatch     = "application/merge-patch+json"
	typeStrategicPatch = "application/strategic-merge-patch+json"
	typeYAML           = "application/yaml"
	typeApplyYAML      = "application/apply-patch+yaml"
	typeCBOR           = "application/cbor"
	typeApplyCBOR      = "application/apply-patch+cbor"
	typeProtobuf       = "application/vnd.kubernetes.protobuf"
)

// maxExpansion is how many times larger a body may be than what it was
// compressed to. Objects compress about tenfold.
const maxExpansion = 64

// Decoder turns bodies into JSON. It is safe for concurrent use.
type Decoder struct{ protobuf runtime.Decoder }

// NewDecoder returns a Decoder that knows the protobuf form of every built-in
// type and of CustomResourceDefinitions. No other type has one.
func NewDecoder() (*Decoder, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("collecting the types of the API: %w", err)
		}
	}
	return &Decoder{protobuf: protobuf.NewSerializer(s, s)}, nil
}

// JSON returns a body as JSON. The result may share memory with the body. An
// empty body yields nil. A body in protobuf comes back as Go encodes its type,
// so fields that have no omitempty stand in it though they were not sent.
func (d *Decoder) JSON(contentType, contentEncoding string, body []byte) (json.RawMessage, error) {
	converted, err := d.convert(contentType, contentEncoding, body)
	if err != nil {
		return nil, err
	}
	if len(converted) > 0 && !json.Valid(converted) {
		return nil, errNotJSON
	}
	return converted, nil
}

var errNotJSON = errors.New("not valid JSON")

// Meta is what every object says of itself.
type Meta struct {
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// Object returns a body that holds one object as JSON does, with the object's
// metadata, in one go: most of what is recorded comes this way.
func (d *Decoder) Object(contentType, contentEncoding string, body []byte) (json.RawMessage, Meta, error) {
	converted, err := d.convert(contentType, contentEncoding, body)
	if err != nil || len(converted) == 0 {
		return nil, Meta{}, err
	}
	var object struct {
		Metadata Meta `json:"metadata"`
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(converted, &object); {
	case errors.As(err, &wrong):
		return nil, Meta{}, fmt.Errorf("not an object: %w", err)
	case err != nil:
		return nil, Meta{}, errNotJSON
	}
	return converted, object.Metadata, nil
}

// convert undoes a body's encoding and its format. What was sent as JSON is
// not looked at.
func (d *Decoder) convert(contentType, contentEncoding string, body []byte) (json.RawMessage, error) {
	plain, err := inflate(contentEncoding, body)
	if err != nil || len(plain) == 0 {
		return nil, err
	}
	switch media := mediaType(contentType); media {
	case typeJSON, typeJSONPatch, typeMergePatch, typeStrategicPatch, "":
		return plain, nil
	case typeYAML, typeApplyYAML:
		return fromYAML(plain)
	case typeCBOR, typeApplyCBOR:
		return fromCBOR(plain)
	case typeProtobuf:
		return d.fromProtobuf(plain)
	default:
		return nil, fmt.Errorf("content type %q is not one that the API speaks", media)
	}
}

// mediaType returns a content type without its parameters.
func mediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return contentType
	}
	return media
}

// inflate undoes a content encoding.
func inflate(encoding string, body []byte) ([]byte, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
	default:
		return nil, fmt.Errorf("content encoding %q is not one that the API speaks", encoding)
	}
	if len(body) == 0 {
		return nil, nil
	}
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("inflating: %w", err)
	}
	limit := int64(len(body)) * maxExpansion
	plain, err := io.ReadAll(io.LimitReader(zipped, limit+1))
	if err != nil {
		return nil, fmt.Errorf("inflating: %w", err)
	}
	if int64(len(plain)) > limit {
		return nil, fmt.Errorf("%d bytes inflate to more than %d: not kept", len(body), limit)
	}
	return plain, nil
}

// fromYAML converts YAML. Most clients send JSON, which is YAML, as such.
func fromYAML(body []byte) (json.RawMessage, error) {
	if json.Valid(body) {
		return body, nil
	}
	converted, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, fmt.Errorf("reading YAML: %w", err)
	}
	return converted, nil
}

func fromCBOR(body []byte) (json.RawMessage, error) {
	var v any
	if err := direct.Unmarshal(body, &v); err != nil {
		return nil, fmt.Errorf("reading CBOR: %w", err)
	}
	return marshal(v)
}

func (d *Decoder) fromProtobuf(body []byte) (json.RawMessage, error) {
	if !bytes.HasPrefix(body, protobufMagic) {
		return nil, errors.New("reading protobuf: the body does not begin with its mark")
	}
	object, kind, err := d.protobuf.Decode(body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading protobuf: %w", err)
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	return marshal(object)
}

func marshal(v any) (json.RawMessage, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return encoded, nil
}
