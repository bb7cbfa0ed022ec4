package report

import (
	"fmt"
	"io"
)

// TextOptions say how WriteText writes.
type TextOptions struct {
	// Colour uses the terminal's colours; default none.
	Colour bool
	// Dir is where the other forms of the report were written; empty if they
	// were not.
	Dir string
}

// WriteText writes a summary for a terminal.
func WriteText(w io.Writer, r *Report, _ TextOptions) error {
	if _, err := fmt.Fprintln(w, r.Subject.Name); err != nil {
		return fmt.Errorf("writing report as text: %w", err)
	}
	return nil
}
