package report

import (
	"fmt"
	"html/template"
	"io"
)

// WriteHTML writes the report as one self-contained page.
func WriteHTML(w io.Writer, r *Report) error {
	page, err := template.New("page").Parse(`<!doctype html><title>{{.Subject.Name}}</title>`)
	if err != nil {
		return fmt.Errorf("reading the report's template: %w", err)
	}
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("writing report as HTML: %w", err)
	}
	return nil
}
