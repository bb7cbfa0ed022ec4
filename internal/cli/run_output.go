package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/seatrial/seatrial/harness/engine"
	"github.com/seatrial/seatrial/harness/report"
)

// reportForms are the files of a report and what writes them.
var reportForms = []struct {
	file  string
	write func(io.Writer, *report.Report) error
}{
	{"report.json", report.WriteJSON},
	{"report.html", report.WriteHTML},
	{"junit.xml", report.WriteJUnit},
}

// outputDir is the directory that one trial at a time writes to.
type outputDir struct {
	path string
	lock *flock.Flock
}

// openOutputDir makes the directory and removes what an earlier trial left in
// it: nobody is to take its report for that of a trial that did not get as far.
// An error is a UsageError.
func openOutputDir(path string) (*outputDir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, &UsageError{fmt.Errorf("--output-dir: %w", err)}
	}
	d := &outputDir{path: path, lock: flock.New(path, flock.SetFlag(os.O_RDONLY))}
	locked, err := d.lock.TryLock()
	switch {
	case err != nil:
		return nil, &UsageError{fmt.Errorf("--output-dir %s: %w", path, err)}
	case !locked:
		return nil, &UsageError{fmt.Errorf("--output-dir %s: another trial is writing to it", path)}
	}
	if err := d.clear(); err != nil {
		return nil, &UsageError{fmt.Errorf("--output-dir %s: %w", path, errors.Join(err, d.lock.Unlock()))}
	}
	return d, nil
}

// clear removes the files of a trial and makes sure that others can be made.
func (d *outputDir) clear() error {
	files := []string{engine.HistoryFile, engine.LogFile, engine.BuildFile}
	for _, form := range reportForms {
		files = append(files, form.file)
	}
	for _, file := range files {
		if err := os.Remove(filepath.Join(d.path, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	probe, err := os.CreateTemp(d.path, "writable-")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// close lets other trials write to the directory. Where nothing was written it
// goes too.
func (d *outputDir) close() {
	_ = os.Remove(d.path) // refused unless it is empty
	_ = d.lock.Unlock()   // the lock ends with the process at the latest
}

// write writes every form of the report; the summary goes to out.
func (d *outputDir) write(rep *report.Report, out io.Writer) error {
	for _, form := range reportForms {
		if err := writeReport(filepath.Join(d.path, form.file), rep, form.write); err != nil {
			return fmt.Errorf("writing %s: %w", form.file, err)
		}
	}
	return report.WriteText(out, rep, report.TextOptions{Colour: isTerminal(out), Dir: d.path})
}

func writeReport(path string, rep *report.Report, write func(io.Writer, *report.Report) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file, rep), file.Close())
}
