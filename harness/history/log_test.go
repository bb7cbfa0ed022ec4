package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return start }

// filled is a log with one entry of each form, and what it wrote.
func filled(t *testing.T) (history.History, string) {
	t.Helper()
	var file bytes.Buffer
	log := history.NewLog(&file, history.Header{
		Subject: "widgets", User: "system:serviceaccount:a:b", Level: trial.LevelControlPlane,
		Primary: []history.PrimaryResource{{Group: "example.com", Kind: "Widget", Resource: "widgets", Versions: []string{"v1"}}},
	}, clock)
	log.Record(history.Entry{Mark: &history.Mark{Name: history.MarkStarted}})
	log.Record(history.Entry{Time: start.Add(time.Second), Request: &history.Request{
		Start: start, Duration: time.Second, Method: "GET", Path: "/apis/example.com/v1/widgets?limit=5", Verb: history.VerbList,
		Response: history.Response{Code: 200, Items: 3},
	}})
	log.Record(history.Entry{Change: &history.Change{Type: history.Added, Kind: "Widget", Name: "w", Object: json.RawMessage(`{"a":"<b>"}`)}})
	log.Record(history.Entry{Process: &history.Process{Event: history.ProcessExited, ExitCode: 2, Lines: []string{"panic"}}})
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	return log.History(), file.String()
}

func TestWhatALogWritesIsLoadedAgain(t *testing.T) {
	recorded, file := filled(t)
	loaded, err := history.Load(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recorded, loaded); diff != "" {
		t.Errorf("recorded (-), loaded (+):\n%s", diff)
	}
	if last := loaded.Entries[3]; last.Seq != 4 || !last.Time.Equal(start) {
		t.Errorf("the last entry is number %d at %v", last.Seq, last.Time)
	}
}

func TestLoad(t *testing.T) {
	_, file := filled(t)
	lines := strings.SplitAfter(file, "\n")
	tests := map[string]struct {
		file    string
		entries int
		err     string
	}{
		"a last line that was cut short":   {file[:len(file)-20], 3, ""},
		"a header and nothing else":        {lines[0], 0, ""},
		"an empty file":                    {"", 0, "reading history header"},
		"a line that is no entry":          {lines[0] + lines[1] + "oops\n" + lines[2], 0, "reading history line 3"},
		"a line twice":                     {lines[0] + lines[1] + lines[1], 0, "reading history line 3: sequence number 1 is out of order"},
		"the format of some other program": {strings.Replace(file, history.Schema, "other/v9", 1), 0, `history has schema "other/v9"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := history.Load(strings.NewReader(tc.file))
			switch {
			case tc.err == "" && (err != nil || len(h.Entries) != tc.entries):
				t.Errorf("%d entries, %v; want %d", len(h.Entries), err, tc.entries)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("error %v; want %q", err, tc.err)
			}
		})
	}
}

func TestEntriesOfManyGoroutinesAreNumberedInOrder(t *testing.T) {
	log := history.NewLog(nil, history.Header{}, clock)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				log.Record(history.Entry{Mark: &history.Mark{}})
			}
		})
	}
	all.Wait()
	for i, e := range log.History().Entries {
		if e.Seq != int64(i)+1 {
			t.Fatalf("entry %d has number %d", i, e.Seq)
		}
	}
}

func TestAHistoryDoesNotGrowWithItsLog(t *testing.T) {
	log := history.NewLog(nil, history.Header{}, clock)
	log.Record(history.Entry{Mark: &history.Mark{Name: history.MarkStarted}})
	before := log.History()
	log.Record(history.Entry{Mark: &history.Mark{Name: history.MarkStopped}})
	_ = append(before.Entries, history.Entry{})
	if after := log.History(); len(before.Entries) != 1 || after.Entries[1].Mark.Name != history.MarkStopped {
		t.Errorf("before: %v, after: %v", before.Entries, after.Entries)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFullDiskDoesNotDisturbTheTrialAndIsReportedAtItsEnd(t *testing.T) {
	log := history.NewLog(full{}, history.Header{}, clock)
	for range 2000 {
		log.Record(history.Entry{Request: &history.Request{Path: "/api/v1/pods", UserAgent: strings.Repeat("x", 100)}})
	}
	if n := len(log.History().Entries); n != 2000 {
		t.Errorf("%d entries were kept; want 2000", n)
	}
	if err := log.Flush(); err == nil || !strings.Contains(err.Error(), "writing history: no space left") {
		t.Errorf("flush: %v", err)
	}
}

func TestViews(t *testing.T) {
	h, _ := filled(t)
	if got := h.After(2).Entries; len(got) != 2 || got[0].Seq != 3 {
		t.Errorf("after 2: %v", got)
	}
	if got := h.After(9).Entries; len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
	if e, ok := h.Mark(history.MarkStopped, history.MarkStarted); !ok || e.Seq != 1 {
		t.Errorf("mark: %v, %v", e, ok)
	}
	if _, ok := h.Primary("example.com", "widgets"); !ok {
		t.Error("no primary resource")
	}
}
