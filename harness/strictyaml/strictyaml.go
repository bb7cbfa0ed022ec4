// Package strictyaml decodes the files that users write: one document, no
// unknown and no duplicate field, and errors of one line in the words of the
// file, not of the Go types behind it.
package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decode decodes the one document of content into a pointer to a struct with
// yaml tags. Errors name the line.
func Decode(content []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(content))
	dec.KnownFields(true)
	switch err := dec.Decode(into); {
	case errors.Is(err, io.EOF):
		return errors.New("is empty")
	case err != nil:
		return OneLine(err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("holds more than one document")
	}
	return nil
}

var (
	unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)
	wrongType    = regexp.MustCompile("cannot unmarshal (\\S+) (`[^`]*` )?into \\S+")
)

// OneLine returns an error that says the same in one line, without the names
// of Go types.
func OneLine(err error) error {
	message := strings.Join(strings.Fields(err.Error()), " ")
	message = strings.TrimPrefix(strings.TrimPrefix(message, "yaml: "), "unmarshal errors: ")
	message = unknownField.ReplaceAllString(message, `unknown field "$1"`)
	message = wrongType.ReplaceAllString(message, "a $1 ${2}cannot stand here")
	return errors.New(strings.ReplaceAll(message, "a !!", "a "))
}
