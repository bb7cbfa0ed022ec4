package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/trial"
)

var (
	update = flag.Bool("update", false, "write the golden files")
	pageTo = flag.String("page", "", "write the sample page to this file, to look at it")
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("differs from %s; -want +got, -update accepts it:\n%s", path, d)
	}
}

func output(t *testing.T, write func(io.Writer, *Report) error, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asText(options TextOptions) func(io.Writer, *Report) error {
	return func(w io.Writer, r *Report) error { return WriteText(w, r, options) }
}

func TestForms(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *Report) error{
		"report.json": WriteJSON,
		"junit.xml":   WriteJUnit,
		"text":        asText(TextOptions{Dir: "out/redis-operator"}),
		"colour":      asText(TextOptions{Colour: true}),
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, output(t, write, New(sampleInput())))
		})
	}
}

func TestReadJSON(t *testing.T) {
	whole := string(output(t, WriteJSON, New(sampleInput())))
	t.Run("returns what was written", func(t *testing.T) {
		got, err := ReadJSON(strings.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(New(sampleInput()), got); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
	for name, tc := range map[string]struct{ text, want string }{
		"an unknown field is named":      {strings.Replace(whole, `"toolVersion"`, `"toolVersoin"`, 1), `unknown field "toolVersoin"`},
		"another version is refused":     {strings.Replace(whole, APIVersion, "seatrial.dev/v9", 1), `"seatrial.dev/v9"`},
		"another kind is refused":        {strings.Replace(whole, Kind, "Operator", 1), `"Operator"`},
		"a second document is refused":   {whole + whole, "more after the report"},
		"a report cut short is an error": {whole[:len(whole)/2], "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadJSON(strings.NewReader(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	for name, tc := range map[string]struct {
		verdicts []trial.Verdict
		partial  bool
		want     int
	}{
		"all passed":                          {[]trial.Verdict{trial.Pass, trial.NotApplicable, trial.Skipped}, false, 0},
		"a failure counts most":               {[]trial.Verdict{trial.Inconclusive, trial.Fail}, true, 1},
		"an inconclusive check is not a pass": {[]trial.Verdict{trial.Pass, trial.Inconclusive}, false, 3},
		"a partial report is inconclusive":    {[]trial.Verdict{trial.Pass}, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Partial: tc.partial}
			for _, v := range tc.verdicts {
				in.Results = append(in.Results, trial.Result{Verdict: v})
			}
			if got := ExitCode(New(in)); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// The terminal must not obey what the subject says, nor an XML parser choke.
func TestHostileTextIsDefused(t *testing.T) {
	in := sampleInput()
	in.Results[0].Findings[0].Summary = "\x1b[2J\x00]]> \ufffe gone\nsecond line"
	for name, write := range map[string]func(io.Writer, *Report) error{"text": asText(TextOptions{}), "junit": WriteJUnit} {
		t.Run(name, func(t *testing.T) {
			out := string(output(t, write, New(in)))
			if strings.ContainsAny(out, "\x1b\x00\ufffe") {
				t.Error("a control character got through")
			}
			if !strings.Contains(out, "gone second line") {
				t.Error("the rest of the text is missing")
			}
		})
	}
}
