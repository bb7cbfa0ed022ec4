package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// request is an entry of a request on the sample's StatefulSet.
func request(at float64, verb history.Verb, response history.Response) history.Entry {
	e := applied(at, response.ResourceVersion, response.Object)
	e.Request.Verb, e.Request.ContentType, e.Request.FieldManager, e.Request.Response = verb, "", "", response
	return e
}

func TestEntries(t *testing.T) {
	v1, v2 := statefulSet("1", "a", 3), statefulSet("2", "a", 5)
	stored := history.Response{Code: 200, UID: "u-sts", ResourceVersion: "2", Object: v2}
	scaled := []PathChange{{".spec.replicas", "3", "5"}}
	dryRun := request(5, history.VerbPatch, stored)
	dryRun.Request.DryRun = true
	scale := request(5, history.VerbUpdate, history.Response{Code: 200, UID: "u-sts", ResourceVersion: "2", Object: json.RawMessage(`{"kind":"Scale"}`)})
	scale.Request.Subresource = "scale"
	other := request(5, history.VerbOther, history.Response{Code: 200})
	other.Request.Method, other.Request.Path = "GET", "/version"
	fields := map[string]int{}
	for i := range 30 {
		fields[fmt.Sprint(i)] = i
	}
	many, err := json.Marshal(map[string]any{"spec": fields})
	if err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		// entries end with the one that is rendered unless at says otherwise.
		entries []history.Entry
		at      int
		want    Entry
	}{
		"a write is compared with the version before, also when the watch was faster than the answer": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), seen(4.998, history.Modified, "2", v2), request(5, history.VerbUpdate, stored)},
			want:    Entry{Actor: ActorOperator, Verb: "update", Code: 200, Summary: "changed spec", Changes: scaled},
		},
		"a write is compared with the version before when the watch was slower": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), request(5, history.VerbUpdate, stored), seen(5.1, history.Modified, "2", v2)},
			at:      2,
			want:    Entry{Actor: ActorOperator, Verb: "update", Code: 200, Summary: "changed spec", Changes: scaled},
		},
		"a write that the watch never showed is compared by its answer": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), request(5, history.VerbUpdate, stored)},
			want:    Entry{Actor: ActorOperator, Verb: "update", Code: 200, Summary: "changed spec", Changes: scaled},
		},
		"a write through scale is compared by what it did to the object": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), scale, seen(5.1, history.Modified, "2", v2)},
			at:      2,
			want:    Entry{Actor: ActorOperator, Verb: "update", Subresource: "scale", Code: 200, Summary: "changed spec", Changes: scaled},
		},
		"a write that stored nothing says so": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), seen(2, history.Modified, "2", v2), request(5, history.VerbUpdate, stored)},
			want:    Entry{Actor: ActorOperator, Verb: "update", Code: 200, Summary: "changed nothing: resourceVersion stays 2"},
		},
		"a repeated write stored nothing, however slow the watch": {
			entries: []history.Entry{
				seen(1, history.Added, "1", v1), request(4, history.VerbUpdate, stored), request(5, history.VerbUpdate, stored), seen(6, history.Modified, "2", v2),
			},
			at:   3,
			want: Entry{Actor: ActorOperator, Verb: "update", Code: 200, Summary: "changed nothing: resourceVersion stays 2"},
		},
		"a write to an object that was never seen says so": {
			entries: []history.Entry{request(5, history.VerbUpdate, stored)},
			want:    Entry{Actor: ActorOperator, Verb: "update", Code: 200, Summary: "the version before it was not seen"},
		},
		"a dry run is told apart": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), dryRun},
			want:    Entry{Actor: ActorOperator, Verb: "patch", Code: 200, Summary: "dry run"},
		},
		"a request without an answer says why": {
			entries: []history.Entry{request(5, history.VerbGet, history.Response{Error: "EOF"})},
			want:    Entry{Actor: ActorOperator, Verb: "get", Summary: "no answer: EOF"},
		},
		"warnings of the server are shown": {
			entries: []history.Entry{request(5, history.VerbCreate, history.Response{Code: 201, UID: "u", ResourceVersion: "9", Warnings: []string{"deprecated"}})},
			want:    Entry{Actor: ActorOperator, Verb: "create", Code: 201, Summary: "created; warning: deprecated"},
		},
		"a list says how much it returned": {
			entries: []history.Entry{request(5, history.VerbList, history.Response{Code: 200, Items: 7})},
			want:    Entry{Actor: ActorOperator, Verb: "list", Code: 200, Summary: "7 items"},
		},
		"a request that is about no resource has its path": {
			entries: []history.Entry{other},
			want:    Entry{Actor: ActorOperator, Verb: "GET", Code: 200},
		},
		"a version that differs in bookkeeping only says so": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), seen(5, history.Modified, "2", statefulSet("2", "a", 3))},
			want:    Entry{Actor: ActorWatch, Verb: "modified", Summary: "nothing but resourceVersion and managedFields changed"},
		},
		"many paths are counted": {
			entries: []history.Entry{seen(1, history.Added, "1", json.RawMessage(`{"spec":{}}`)), seen(5, history.Modified, "2", many)},
			want:    Entry{Actor: ActorWatch, Verb: "modified", Summary: "changed spec", MoreChanges: 30 - maxChanges},
		},
		"a version that the watch repeats is compared as before": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), seen(2, history.Modified, "2", v2), seen(5, history.Modified, "2", v2)},
			want:    Entry{Actor: ActorWatch, Verb: "modified", Summary: "changed spec", Changes: scaled},
		},
		"a deletion says that the object is gone": {
			entries: []history.Entry{seen(1, history.Added, "1", v1), seen(5, history.Deleted, "2", v1)},
			want:    Entry{Actor: ActorWatch, Verb: "deleted", Summary: "gone"},
		},
		"an exit that was asked for says so": {
			entries: []history.Entry{{Time: after(5), Process: &history.Process{Event: history.ProcessExited, ExitCode: -1, Signal: "killed", Asked: true}}},
			want:    Entry{Actor: ActorProcess, Verb: "exited", Summary: "ended by signal killed, as the trial asked"},
		},
		"a mark names what it is about": {
			entries: []history.Entry{{Time: after(5), Mark: &history.Mark{Name: history.MarkUnsettled, Detail: "not ready", Objects: []trial.ObjectRef{sampleStatefulSet, samplePDB}}}},
			want:    Entry{Actor: ActorTrial, Verb: "unsettled", Summary: "not ready: statefulsets.apps demo/redis, poddisruptionbudgets.policy demo/redis"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.at == 0 {
				tc.at = len(tc.entries)
			}
			got := newRenderer(sampleHistory(tc.entries...), sampleStart).timeline([]int64{int64(tc.at)})
			tc.want.Seq, tc.want.Offset = int64(tc.at), 5*time.Second
			ignored := []string{"Object"}
			if tc.want.MoreChanges > 0 {
				ignored = append(ignored, "Changes")
			}
			if d := cmp.Diff([]Entry{tc.want}, got, cmpopts.IgnoreFields(Entry{}, ignored...)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestEvidenceThatTheHistoryLacksIsLeftOut(t *testing.T) {
	if got := newRenderer(trialHistory(), sampleStart).timeline([]int64{4711}); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestMuchEvidenceIsCounted(t *testing.T) {
	in := sampleInput()
	in.Results[0].Findings[0].Evidence = slices.Repeat([]int64{3}, maxTimeline+9)
	rep := New(in)
	if f := rep.Results[0].Findings[0]; len(f.Timeline) != maxTimeline || f.MoreTimeline != 9 {
		t.Errorf("%d entries and %d more, want %d and 9", len(f.Timeline), f.MoreTimeline, maxTimeline)
	}
	for name, tc := range map[string]struct {
		write func(io.Writer, *Report) error
		want  string
	}{
		"text":  {asText(TextOptions{}), "and 55 more"},
		"junit": {WriteJUnit, "and 9 more"},
		"html":  {WriteHTML, "and 9 more"},
	} {
		if !strings.Contains(string(output(t, tc.write, rep)), tc.want) {
			t.Errorf("%s does not say %q", name, tc.want)
		}
	}
}

func TestATraceWithinOneLineIsUnfolded(t *testing.T) {
	var e Entry
	process(&e, &history.Process{Event: history.ProcessPanicked, Lines: []string{
		`{"msg":"Observed a panic","stacktrace":"goroutine 7 [running]:\nmain.f()\n\tmain.go:3"}`,
		`{"msg":"a \n within quotes"}`,
	}})
	want := []string{
		`{"msg":"Observed a panic","stacktrace":"goroutine 7 [running]:`, "main.f()", "\tmain.go:3\"}",
		`{"msg":"a \n within quotes"}`,
	}
	if d := cmp.Diff(want, e.Lines); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestLongLogsAreCutWhereTheySayLeast(t *testing.T) {
	lines := make([]string, 3*maxLines)
	for i := range lines {
		lines[i] = fmt.Sprint(i)
	}
	for event, first := range map[history.ProcessEvent]string{history.ProcessPanicked: "0", history.ProcessExited: fmt.Sprint(2 * maxLines)} {
		var e Entry
		process(&e, &history.Process{Event: event, Lines: lines})
		if len(e.Lines) != maxLines || e.Lines[0] != first {
			t.Errorf("%s: %d lines from %q, want %d from %q", event, len(e.Lines), e.Lines[0], maxLines, first)
		}
	}
}
