package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openedOutput(t *testing.T, path string) *outputDir {
	t.Helper()
	d, err := openOutputDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheReportOfAnEarlierTrialIsRemovedAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"report.json", "report.html", "junit.xml", "history.jsonl", "operator.log", "build.log", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openedOutput(t, dir).close()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "notes.txt" {
		t.Errorf("left: %v, %v; want notes.txt", left, err)
	}
}

func TestAnOutputDirectoryIsForOneTrialAtATime(t *testing.T) {
	dir := t.TempDir()
	first := openedOutput(t, dir)
	_, err := openOutputDir(dir)
	if err == nil || !strings.Contains(err.Error(), "another trial is writing to it") {
		t.Errorf("a second trial: %v", err)
	}
	first.close()
	openedOutput(t, dir).close()
}

func TestAnOutputDirectoryInWhichNothingWasWrittenGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out", "demo")
	openedOutput(t, dir).close()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestAnOutputDirectoryThatCannotBeIsAUsageError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"a file": file, "below a file": filepath.Join(file, "out")} {
		_, err := openOutputDir(path)
		if _, usage := errors.AsType[*UsageError](err); !usage || !strings.HasPrefix(err.Error(), "--output-dir") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
