package report

import (
	"fmt"
	"io"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// WriteJUnit writes the report as one JUnit test suite with a test case for
// each check.
func WriteJUnit(w io.Writer, r *Report) error {
	suites := junit.Testsuites{Name: r.Subject.Name}
	if err := suites.WriteXML(w); err != nil {
		return fmt.Errorf("writing report as JUnit: %w", err)
	}
	return nil
}
