package oracle_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/trial"
)

type judgeFunc = func(history.History, trial.CheckOptions) ([]trial.Finding, error)

// judged is a history and what a judge must say of it.
type judged struct {
	// tell tells the history.
	tell func(s *historytest.Story)
	// want are the summaries of the findings; none means a pass.
	want []string
	// hint is part of the first finding's hint.
	hint string
	// paths are those of the first finding.
	paths string
	// unclear is part of the error of a history that cannot be judged.
	unclear string
	options trial.CheckOptions
}

func judge(t *testing.T, by judgeFunc, tests map[string]judged) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := historytest.Tell()
			tc.tell(s)
			h := s.History()
			findings, err := by(h, tc.options)
			checkError(t, err, tc.unclear)
			if got, want := summaries(findings), strings.Join(tc.want, "\n"); got != want {
				t.Errorf("found:\n%s\nwant:\n%s", got, want)
			}
			checkEvidence(t, h, findings)
			again, _ := by(saved(t, h), tc.options)
			if diff := cmp.Diff(findings, again); diff != "" {
				t.Errorf("the same history, saved and loaded (+), is judged otherwise:\n%s", diff)
			}
			if tc.paths != "" && (len(findings) == 0 || strings.Join(findings[0].Paths, " ") != tc.paths) {
				t.Errorf("got findings %+v, want the first to have the paths %q", findings, tc.paths)
			}
			if tc.hint != "" && (len(findings) == 0 || !strings.Contains(findings[0].Hint, tc.hint)) {
				t.Errorf("got findings %+v, want the first to have the hint %q", findings, tc.hint)
			}
		})
	}
}

// saved saves a history and loads it again.
func saved(t *testing.T, h history.History) history.History {
	t.Helper()
	var file bytes.Buffer
	log := history.NewLog(&file, h.Header, nil)
	for _, e := range h.Entries {
		log.Record(e)
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	loaded, err := history.Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("got no error, want one with %q", want)
	case err != nil && want == "":
		t.Errorf("got error %v, want none", err)
	case err != nil && !strings.Contains(err.Error(), want):
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

// checkEvidence holds every finding to pointing into the history.
func checkEvidence(t *testing.T, h history.History, findings []trial.Finding) {
	t.Helper()
	for _, f := range findings {
		if len(f.Evidence) == 0 {
			t.Errorf("finding %q has no evidence", f.Summary)
		}
		for _, seq := range f.Evidence {
			if seq < 1 || seq > int64(len(h.Entries)) {
				t.Errorf("finding %q has evidence %d, which the history lacks", f.Summary, seq)
			}
		}
	}
}

func summaries(findings []trial.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(f.Summary)
	}
	return b.String()
}
