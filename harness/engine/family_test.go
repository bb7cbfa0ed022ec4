package engine

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

func owned(t *testing.T, uid string, owners ...string) *history.Change {
	t.Helper()
	refs := []map[string]string{}
	for _, o := range owners {
		refs = append(refs, map[string]string{"uid": o})
	}
	object, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid, "ownerReferences": refs}})
	if err != nil {
		t.Fatal(err)
	}
	return &history.Change{Type: history.Added, Resource: "things", Name: uid, UID: uid, Object: object}
}

func TestFamilyNoneLeft(t *testing.T) {
	root := []trial.ObjectRef{{UID: "root"}}
	tests := map[string]struct {
		alive [][]string // uid, owners...
		want  bool
	}{
		"nobody":                            {nil, true},
		"a child":                           {[][]string{{"child", "root"}}, false},
		"a grandchild whose parent is gone": {[][]string{{"grandchild", "gone"}}, true},
		"a grandchild under a child":        {[][]string{{"child", "root"}, {"grandchild", "child"}}, false},
		"a child that somebody else owns":   {[][]string{{"child", "root", "other"}}, true},
		"a stranger":                        {[][]string{{"stranger", "other"}}, true},
		"an object that nobody owns":        {[][]string{{"alone"}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFamily()
			for _, a := range tc.alive {
				f.changed(owned(t, a[0], a[1:]...))
			}
			if got, missing := f.noneLeft(root)(); got != tc.want {
				t.Errorf("got %v (%s), want %v", got, missing, tc.want)
			}
		})
	}
}

func TestFamilyForgetsWhatIsDeletedOrDisowned(t *testing.T) {
	root := []trial.ObjectRef{{UID: "root"}}
	for name, last := range map[string]*history.Change{
		"deleted":  {Type: history.Deleted, UID: "child"},
		"disowned": owned(t, "child"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily()
			f.changed(owned(t, "child", "root"))
			f.changed(last)
			if got, missing := f.noneLeft(root)(); !got {
				t.Error(fmt.Sprint("still waits: ", missing))
			}
		})
	}
}
