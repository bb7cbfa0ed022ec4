package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// DeleteCompletes finds custom resources that were deleted and are still there,
// what they owned and left behind, and those that the operator made anew
// (classes F1, F3, F4).
//
// Without a garbage collector, nobody deletes what a deleted object owned: at
// such a level leftovers are not judged. What never had an owner is for
// OwnerReferencesValid.
func DeleteCompletes(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	deleting, ok := h.Mark(history.MarkDeleting)
	if !ok {
		return nil, errors.New("the trial ended before the samples were deleted")
	}
	end, err := afterDeletion(h)
	if err != nil {
		return nil, err
	}
	x := version.NewIndex(h)
	all := lives(h, x)
	d := deletion{h: h, x: x, all: all, asked: deleting, end: end, doomed: map[string]bool{}}
	for _, sample := range samples(deleting, all) {
		if ignored(o, sample.ref.Group, sample.ref.Resource) {
			continue
		}
		d.doomed[sample.ref.UID] = true
		if sample.gone.IsZero() && end.Mark.Name == history.MarkUndeleted {
			d.stuck(sample)
		}
	}
	made := creations(h, o, x, all)
	for _, c := range made {
		d.revived(c)
	}
	if collects(h) {
		d.leftovers(made)
	}
	return d.found.findings(), nil
}

// deletion judges how the deletion of the samples went.
type deletion struct {
	h          history.History
	x          *version.Index
	all        map[string]life
	asked, end history.Entry
	doomed     map[string]bool
	found      causes
}

// stuck notes a sample that is still there.
func (d *deletion) stuck(sample life) {
	m := metaOf(sample.raw)
	f := trial.Finding{
		Object: sample.ref, Evidence: d.attempts(sample),
		Expected: "a custom resource that was deleted is gone before the deadline",
	}
	waited := d.end.Time.Sub(d.asked.Time).Round(time.Second)
	switch {
	case m.DeletionTimestamp == "":
		f.Summary = fmt.Sprintf("%s is still there %s after its deletion was asked for, and not marked as deleted", sample.ref, waited)
		f.Hint = "something refuses or undoes the deletion: look for a webhook of the operator"
	case len(m.Finalizers) == 0:
		f.Summary = fmt.Sprintf("%s is still there %s after its deletion was asked for, without finalizers", sample.ref, waited)
	default:
		f.Summary = fmt.Sprintf("%s is still there %s after its deletion was asked for, held by %s", sample.ref, waited, held(m.Finalizers))
		f.Paths = []string{".metadata.finalizers"}
		f.Hint = "remove the finalizer as soon as its work is done, also when what it looks after is gone already, " +
			"and do not wait for what only the garbage collector removes after the owner"
	}
	d.found.add("stuck "+resourceName(sample.ref.Group, sample.ref.Resource)+quoted(m.Finalizers), f)
}

func held(finalizers []string) string {
	if len(finalizers) == 1 {
		return "the finalizer " + finalizers[0]
	}
	return "the finalizers " + quoted(finalizers)
}

// attempts are the entries that show how a deletion is stuck: that it was asked
// for, what the operator wrote to the object since, and how it looks.
func (d *deletion) attempts(l life) []int64 {
	evidence := []int64{d.asked.Seq}
	for seq := range d.h.After(d.asked.Seq).Requests() {
		if d.x.Effect(seq).Ref.UID == l.ref.UID {
			evidence = append(evidence, seq)
		}
	}
	if l.seq != 0 {
		evidence = append(evidence, l.seq)
	}
	return evidence
}

// revived notes a custom resource that the operator made anew under the name
// of a deleted one.
func (d *deletion) revived(c created) {
	if c.write.seq < d.asked.Seq || !c.gone.IsZero() {
		return
	}
	again := slices.ContainsFunc(d.asked.Mark.Objects, func(old trial.ObjectRef) bool {
		return old.UID != c.Ref.UID && old.Group == c.Ref.Group && old.Resource == c.Ref.Resource &&
			old.Namespace == c.Ref.Namespace && old.Name == c.Ref.Name
	})
	if again {
		d.found.add("revived "+resourceName(c.Ref.Group, c.Ref.Resource), trial.Finding{
			Summary: fmt.Sprintf("%s was deleted, and the operator made it anew", c.Ref), Object: c.Ref,
			Expected: "what the user deleted stays deleted", Evidence: []int64{d.asked.Seq, c.write.seq},
			Hint: "make nothing while the custom resource is being deleted or is not found",
		})
	}
}

// leftovers notes what the operator had made for the samples, and that is still
// there though its owners are gone.
func (d *deletion) leftovers(made []created) {
	for _, c := range made {
		if !c.gone.IsZero() || !d.orphaned(c.life) {
			continue
		}
		m := metaOf(c.raw)
		f := trial.Finding{
			Object: c.ref, Evidence: []int64{c.write.seq, d.asked.Seq, c.life.seq},
			Summary:  fmt.Sprintf("%s outlived its owner", c.ref),
			Expected: "what a custom resource owned is gone once it is",
			Hint:     "see whether the operator made it after the owner was gone",
		}
		if len(m.Finalizers) > 0 {
			f.Summary += ", held by " + held(m.Finalizers)
			f.Paths = []string{".metadata.finalizers"}
			f.Hint = "remove the finalizer of the child when its owner goes: nobody else will"
		}
		d.found.add("leftover "+resourceName(c.ref.Group, c.ref.Resource)+strings.Join(m.Finalizers, " "), f)
	}
}

// orphaned reports whether every owner of an object descends from a sample, and
// is gone.
func (d *deletion) orphaned(l life) bool {
	owners := metaOf(l.raw).OwnerReferences
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o ownerReference) bool {
		owner, known := d.all[o.UID]
		return !known || owner.gone.IsZero() || !d.descends(o.UID, map[string]bool{})
	})
}

// descends reports whether an object is a sample or was owned by one, at
// whatever distance.
func (d *deletion) descends(uid string, seen map[string]bool) bool {
	if d.doomed[uid] {
		return true
	}
	if seen[uid] {
		return false
	}
	seen[uid] = true
	return slices.ContainsFunc(metaOf(d.all[uid].raw).OwnerReferences, func(o ownerReference) bool {
		return d.descends(o.UID, seen)
	})
}
