package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteJSON writes the report as indented JSON.
func WriteJSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("writing report as JSON: %w", err)
	}
	return nil
}

// ReadJSON reads one report as WriteJSON writes it. Unknown fields, another
// version or kind, and anything after the report are errors.
func ReadJSON(r io.Reader) (*Report, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var rep Report
	if err := dec.Decode(&rep); err != nil {
		return nil, fmt.Errorf("reading report: %w", err)
	}
	if rep.APIVersion != APIVersion || rep.Kind != Kind {
		return nil, fmt.Errorf("reading report: it is a %q of %q: this program reads %q of %q",
			rep.Kind, rep.APIVersion, Kind, APIVersion)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading report: there is more after the report")
	}
	return &rep, nil
}
