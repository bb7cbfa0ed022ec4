package report

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/seatrial/seatrial/harness/trial"
)

// parsed returns every node of the page.
func parsed(t *testing.T, r *Report) []*html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(output(t, WriteHTML, r)))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(root.Descendants())
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf returns what a reader sees of a node.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestPageLoadsNothing(t *testing.T) {
	in := sampleInput()
	in.Results[0].Check.Provenance = []string{"https://example.com/convention"}
	for _, n := range parsed(t, New(in)) {
		for _, a := range n.Attr {
			loads := slices.Contains([]string{"src", "href", "action", "srcset", "data", "poster"}, a.Key)
			if loads && !strings.HasPrefix(a.Val, "#") && a.Val != "data:," {
				t.Errorf("<%s %s=%q> refers to something outside the page", n.Data, a.Key, a.Val)
			}
		}
		if n.Data == "style" && (strings.Contains(textOf(n), "url(") || strings.Contains(textOf(n), "@import")) {
			t.Error("the style loads something")
		}
	}
}

func TestPageHasEveryCheck(t *testing.T) {
	verdicts := map[string]string{}
	var order []string
	for _, n := range parsed(t, New(sampleInput())) {
		if id, ok := strings.CutPrefix(attribute(n, "id"), "check-"); ok {
			verdicts[id] = attribute(n, "data-verdict")
			order = append(order, verdicts[id])
		}
	}
	for _, result := range sampleResults() {
		if got := verdicts[result.Check.ID]; got != string(result.Verdict) {
			t.Errorf("check %s stands there as %q, want %q", result.Check.ID, got, result.Verdict)
		}
	}
	if !slices.IsSortedFunc(order, func(a, b string) int {
		return slices.Index(trial.Verdicts(), trial.Verdict(a)) - slices.Index(trial.Verdicts(), trial.Verdict(b))
	}) {
		t.Errorf("what needs attention does not come first: %v", order)
	}
}

// Whatever a subject says, the page shows it as text and gains no element.
func TestPageEscapes(t *testing.T) {
	const hostile = `</script></style><img src=x onerror="alert(1)">'"<!--`
	in := sampleInput()
	plain := len(elements(parsed(t, New(in))))
	in.Subject.Name, in.PartialReason, in.Partial = hostile, hostile, true
	in.Warnings, in.Inferred, in.Command = []string{hostile}, []string{hostile}, []string{hostile}
	in.Phases[0].Name = hostile
	f := &in.Results[0].Findings[0]
	f.Summary, f.Expected, f.Hint, f.Object.Name = hostile, hostile, hostile, hostile
	in.Results[3].Reason = hostile
	in.History.Entries[2].Request.Name = hostile
	in.History.Entries[11].Process.Lines[0] = hostile
	nodes := parsed(t, New(in))
	// The notice of a partial report is new, with its first words in bold, and
	// one of the two inferred facts is gone.
	if got, want := len(elements(nodes)), plain+2-1; got != want {
		t.Errorf("the page has %d elements, want %d", got, want)
	}
	for _, n := range nodes {
		if n.Data == "img" || attribute(n, "onerror") != "" {
			t.Errorf("<%s> came from what the subject said", n.Data)
		}
	}
	if !slices.ContainsFunc(nodes, func(n *html.Node) bool { return n.Data == "h3" && textOf(n) == hostile }) {
		t.Error("the text of the finding is not shown as it was")
	}
}

func elements(nodes []*html.Node) []*html.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *html.Node) bool { return n.Type != html.ElementNode })
}

func TestPageOfAnEmptyReport(t *testing.T) {
	page := string(output(t, WriteHTML, New(Input{Partial: true, PartialReason: "interrupted"})))
	if !strings.Contains(page, "interrupted") || strings.Contains(page, "NaN") {
		t.Error("a report of a trial that hardly began is not readable")
	}
}

func TestHeadline(t *testing.T) {
	const pass, fail, open, skipped = trial.Pass, trial.Fail, trial.Inconclusive, trial.Skipped
	for want, tc := range map[string]struct {
		verdicts []trial.Verdict
		partial  bool
	}{
		"x failed 1 of 2 checks":                 {[]trial.Verdict{fail, open}, true},
		"The trial of x ended early":             {[]trial.Verdict{pass, open}, true},
		"1 of 2 checks of x could not be judged": {[]trial.Verdict{pass, open}, false},
		"No check of x was judged":               {[]trial.Verdict{skipped}, false},
		"x kept its promise":                     {[]trial.Verdict{pass, skipped}, false},
		"x kept all 2 promises":                  {[]trial.Verdict{pass, pass, skipped}, false},
	} {
		in := Input{Subject: Subject{Name: "x"}, Partial: tc.partial}
		for _, v := range tc.verdicts {
			in.Results = append(in.Results, trial.Result{Verdict: v})
		}
		if got := headline(New(in)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAxisHasRoundTicks(t *testing.T) {
	for length, want := range map[time.Duration]string{
		800 * time.Millisecond: "0s",
		38 * time.Second:       "0s 10s 20s 30s",
		100 * time.Second:      "0s 30s 1m 1m30s",
		25 * time.Minute:       "0s 5m 10m 15m 20m 25m",
	} {
		var got []string
		for _, tick := range axis(length).ticks() {
			got = append(got, tick.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", length, got, want)
		}
	}
}

func TestPageToLookAt(t *testing.T) {
	page := output(t, WriteHTML, New(sampleInput()))
	if *pageTo == "" {
		return
	}
	if err := os.WriteFile(*pageTo, page, 0o600); err != nil {
		t.Fatal(err)
	}
}
