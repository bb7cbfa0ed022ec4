package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// The kinds of unrest.
const (
	onlyTimes    = "only timestamps change"
	onlyOrder    = "only the order of a list changes"
	comesAndGoes = "it is made and deleted again and again"
	keepsMaking  = "one after another is made"
	keepsRemoval = "one after another is deleted"
	madeLate     = "it is made only now"
	deletedLate  = "it is deleted only now"
	fightsFill   = "it drops fields that somebody else fills in again"
	putBack      = "somebody else puts back what each write changes"
	alternates   = "values alternate"
	statusChurn  = "its status never stays as it is"
	otherUnrest  = "it does not stay as it is"
)

// motive is the cause of a finding: objects of one resource that are restless
// in one way have one.
type motive struct {
	resource, kind, manner string
	paths                  []string
}

// String is the motive as a key.
func (m motive) String() string {
	return fmt.Sprintf("%s|%s|%s|%q", m.resource, m.kind, m.manner, m.paths)
}

// unrest tells what kind of unrest the writes of one target are.
func unrest(h history.History, x *version.Index, all []write) (motive, trial.Finding) {
	m := motive{
		resource: resourceName(all[0].Ref.Group, all[0].Ref.Resource), manner: all[0].manner(),
		kind: kindOf(all), paths: paths(all),
	}
	f := trial.Finding{
		Object: all[0].Ref, Paths: m.paths, Evidence: sequence(all),
		Summary: fmt.Sprintf("%s was changed %s", all[0].target(), times(len(all))),
		Hint:    hintOf(m.kind),
	}
	if replaces(all) {
		f.Summary = fmt.Sprintf("%s was made or deleted %s", all[0].target(), times(len(all)))
	}
	if m.kind == putBack || m.kind == fightsFill {
		f.Evidence = append(f.Evidence, between(h, x, all)...)
		if who := rivals(h, x, all); len(who) > 0 {
			m.kind += ": " + quoted(who)
		}
	}
	return m, f
}

// kindOf returns the most telling kind that fits all the writes.
func kindOf(all []write) string {
	switch {
	case replaces(all):
		return replacement(all)
	case every(all, isTime):
		return onlyTimes
	case every(all, isReorder):
		return onlyOrder
	case isPutBack(all) && every(all, isRemoval):
		return fightsFill
	case isPutBack(all):
		return putBack
	case revisits(all):
		return alternates
	case len(all) > 1 && every(all, isStatus):
		return statusChurn
	default:
		return otherUnrest
	}
}

// replaces reports whether any of the writes made or ended an object.
func replaces(all []write) bool {
	return slices.ContainsFunc(all, func(w write) bool { return w.Kind != version.Changed })
}

// replacement tells how objects come and go.
func replacement(all []write) string {
	made, deleted := 0, 0
	for _, w := range all {
		switch w.Kind {
		case version.Created:
			made++
		case version.Deleted:
			deleted++
		default:
		}
	}
	switch {
	case made > 0 && deleted > 0:
		return comesAndGoes
	case made > 1:
		return keepsMaking
	case deleted > 1:
		return keepsRemoval
	case made == 1:
		return madeLate
	default:
		return deletedLate
	}
}

// every reports whether the writes changed something, and all of that is so.
func every(all []write, is func(version.Difference) bool) bool {
	some := false
	for _, w := range all {
		for _, d := range w.differences {
			if !is(d) {
				return false
			}
			some = true
		}
	}
	return some
}

func isReorder(d version.Difference) bool { return d.Op == version.Reorder }
func isRemoval(d version.Difference) bool { return d.Op == version.Remove }
func isStatus(d version.Difference) bool  { return d.Root() == "status" }

func hintOf(kind string) string {
	switch kind {
	case onlyTimes:
		return "write a timestamp only together with what it is the time of"
	case onlyOrder:
		return "sort what is rendered from maps and lists before it is compared and written"
	case madeLate, deletedLate:
		return "do all that is needed before the custom resource is reported as ready"
	case comesAndGoes, keepsMaking, keepsRemoval:
		return "give the object a name that follows from its owner, and look for it before making it"
	case fightsFill:
		return "keep the fields that are not yours: change the object that was read instead of sending a new one, or apply server-side"
	case putBack:
		return "leave the field to the other writer: do not send it, or apply server-side and give it up"
	case alternates:
		return "find the two places that write the field, and have one of them own it"
	case statusChurn:
		return "compare the new status with the old one, and write it only when it says something else"
	default:
		return "compare what is wanted with what is there, and write only when they differ"
	}
}

// heartbeats reports whether the writes change nothing but times.
func heartbeats(all []write) bool { return kindOf(all) == onlyTimes }

// timeName matches the names that fields with a time usually have.
var timeName = regexp.MustCompile(`(?i)(time|timestamp|date|heartbeat|epoch)$|(last|probed?|seen|synced|reconciled|updated|checked)(At|On)?$`)

// epoch is the least number that counts as a time in seconds: September 2001.
const epoch = 1_000_000_000

// isTime reports whether a field only went from one time to another.
func isTime(d version.Difference) bool {
	if after, ok := d.After.(string); ok {
		return d.Op != version.Remove && isMoment(after)
	}
	n, ok := d.After.(json.Number)
	if !ok || !timeName.MatchString(d.Leaf()) {
		return false
	}
	v, err := n.Float64()
	return err == nil && v >= epoch
}

// layouts are the forms in which operators write times: that of Kubernetes
// first, then what Go's String and other libraries make of them.
var layouts = []string{
	time.RFC3339, "2006-01-02 15:04:05 -0700 MST", time.DateTime, time.RFC1123, time.RFC1123Z, time.UnixDate, time.ANSIC,
}

// isMoment reports whether a text is a time.
func isMoment(text string) bool {
	// The reading of a monotonic clock, which Go's String adds, is none.
	text, _, _ = strings.Cut(text, " m=")
	return slices.ContainsFunc(layouts, func(layout string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	})
}

// isPutBack reports whether others undo what the writes do: each one changes
// the same fields again, from what they were before the last one.
func isPutBack(all []write) bool {
	if len(all) < 2 {
		return false
	}
	for i, w := range all[1:] {
		last := all[i]
		if len(w.differences) == 0 || !slices.EqualFunc(last.differences, w.differences, sameStep) {
			return false
		}
	}
	return true
}

// sameStep reports whether two differences are the same step: from the same
// value to the same value.
func sameStep(a, b version.Difference) bool {
	return a.Path == b.Path && a.Op == b.Op && len(version.Diff(a.Before, b.Before)) == 0 && len(version.Diff(a.After, b.After)) == 0
}

// revisits reports whether a field returns to a value that it had left.
func revisits(all []write) bool {
	last, left := map[string]string{}, map[string]bool{}
	for _, w := range all {
		for _, d := range w.differences {
			for _, v := range []any{d.Before, d.After} {
				value := fmt.Sprint(v)
				if last[d.Path] == value {
					continue
				}
				if left[d.Path+" "+value] {
					return true
				}
				left[d.Path+" "+last[d.Path]] = true
				last[d.Path] = value
			}
		}
	}
	return false
}

// between returns the changes that others made to the object between the
// writes.
func between(h history.History, x *version.Index, all []write) []int64 {
	var found []int64
	for seq, c := range h.Changes() {
		if c.UID != all[0].Ref.UID || seq < all[0].seq || seq > all[len(all)-1].seq {
			continue
		}
		if _, own := x.Author(c); !own {
			found = append(found, seq)
		}
	}
	return found
}

// rivals names the field managers behind those changes.
func rivals(h history.History, x *version.Index, all []write) []string {
	numbers := between(h, x, all)
	var who []string
	for seq, c := range h.Changes() {
		if slices.Contains(numbers, seq) {
			if manager := lastManager(c.Object); manager != "" {
				who = append(who, manager)
			}
		}
	}
	return distinct(who)
}

// lastManager returns who wrote a version last, as far as its managedFields
// tell.
func lastManager(object json.RawMessage) string {
	var o struct {
		Metadata struct {
			ManagedFields []struct{ Manager, Time string }
		}
	}
	if err := json.Unmarshal(object, &o); err != nil || len(o.Metadata.ManagedFields) == 0 {
		return ""
	}
	fields := o.Metadata.ManagedFields
	return slices.MaxFunc(fields, func(a, b struct{ Manager, Time string }) int { return strings.Compare(a.Time, b.Time) }).Manager
}
