package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/history/version"
	"github.com/seatrial/seatrial/harness/trial"
)

// OwnerReferencesValid finds owner references that the garbage collector
// misreads (class F7), in every version that the subject wrote of what it made:
// an owner that is not there with that UID, or of another kind or name, or of a
// version that is not served, or in another namespace, or in a namespace where
// the dependent is in none; and a single owner, or several, without exactly one
// controller among them. Several owners without any controller share an object,
// which is fine.
//
// It also finds what has no owner at all, was made for a sample, as its name,
// labels or annotations tell, and is still there when the sample is gone (class
// F4). An operator that cleans up by a finalizer leaves none; PersistentVolumes
// and their claims are kept on purpose by many.
func OwnerReferencesValid(h history.History, o trial.CheckOptions) ([]trial.Finding, error) {
	x := version.NewIndex(h)
	all := lives(h, x)
	made := creations(h, o, x, all)
	incomplete := complete(h)
	j := ownership{h: h, all: all, whole: incomplete == nil}
	own := map[string]bool{}
	for _, c := range made {
		own[c.Ref.UID] = true
	}
	last := map[string]string{}
	for _, w := range writes(h, o, x) {
		if w.After == nil || !own[w.Ref.UID] || len(w.After.Raw) == 0 {
			continue
		}
		references := metaOf(w.After.Raw).OwnerReferences
		if said := fmt.Sprint(references); last[w.Ref.UID] != said {
			last[w.Ref.UID] = said
			j.references(w, references)
		}
	}
	j.strays(made)
	if findings := j.found.findings(); len(findings) > 0 {
		return findings, nil
	}
	return nil, incomplete
}

// ownership judges who owns what.
type ownership struct {
	h     history.History
	all   map[string]life
	found causes
	// whole: the trial ran to its end, so that what exists has been seen.
	whole bool
}

func (j *ownership) add(w write, flaw flaw, evidence ...int64) {
	j.found.add(flaw.name+" "+resourceName(w.Ref.Group, w.Ref.Resource), trial.Finding{
		Summary: fmt.Sprintf("%s %s", w.Ref, flaw.says), Object: w.Ref, Paths: []string{".metadata.ownerReferences"},
		Expected: flaw.expected, Hint: flaw.hint, Evidence: append(evidence, w.seq),
	})
}

// references judges the owner references of one version of one object.
func (j *ownership) references(w write, references []ownerReference) {
	controllers := 0
	for _, ref := range references {
		if ref.Controller {
			controllers++
		}
		owner, known := j.all[ref.UID]
		if !known {
			j.absent(w, ref)
			continue
		}
		j.identity(w, ref, owner)
		j.namespace(w, ref, owner)
		j.dead(w, ref, owner)
	}
	switch {
	case controllers > 1:
		j.add(w, flaw{
			name: "controllers", says: fmt.Sprintf("has %d owners that are its controller", controllers),
			expected: "exactly one owner is the controller", hint: "let one owner control it (controller: true) and the others only own it",
		})
	case controllers == 0 && len(references) == 1:
		j.add(w, flaw{
			name: "no controller", says: fmt.Sprintf("is owned by %s %s, which is not marked as its controller", references[0].Kind, references[0].Name),
			expected: "exactly one owner is the controller",
			hint:     "set the reference with controllerutil.SetControllerReference; SetOwnerReference leaves controller out",
		})
	}
}

// absent judges a reference to a UID that nothing has.
func (j *ownership) absent(w write, ref ownerReference) {
	if !j.whole {
		return
	}
	says := fmt.Sprintf("is owned by %s %s with the UID %s, which does not exist", ref.Kind, ref.Name, ref.UID)
	for _, other := range j.all {
		if other.ref.Kind == ref.Kind && other.ref.Name == ref.Name && (other.ref.Namespace == w.Ref.Namespace || other.ref.Namespace == "") {
			says = fmt.Sprintf("is owned by %s %s, but by another UID than that object has", ref.Kind, ref.Name)
		}
	}
	j.add(w, flaw{
		name: "absent", says: says, expected: "every owner exists, with that UID",
		hint: "take the UID from the object that was read; the garbage collector deletes what has no owner that exists",
	})
}

// identity judges whether a reference names the object whose UID it has. The
// collector looks the owner up by what the reference says, and compares the UID
// only then. What is not known of an owner is not held against a reference.
func (j *ownership) identity(w write, ref ownerReference, owner life) {
	group, served, grouped := strings.Cut(ref.APIVersion, "/")
	if !grouped {
		group, served = "", ref.APIVersion
	}
	switch {
	case owner.ref.Kind != "" && (owner.ref.Kind != ref.Kind || owner.ref.Group != group):
		j.add(w, flaw{
			name:     "kind",
			says:     fmt.Sprintf("is owned by %s %s of %s, but what has that UID is %s", ref.Kind, ref.Name, ref.APIVersion, owner.ref),
			expected: "apiVersion and kind are those of the owner",
			hint:     "take both from the scheme: objects that were read through a typed client have none",
		})
	case owner.ref.Name != "" && owner.ref.Name != ref.Name:
		j.add(w, flaw{
			name:     "name",
			says:     fmt.Sprintf("is owned by %s %s, but what has that UID is %s", ref.Kind, ref.Name, owner.ref),
			expected: "the name is that of the owner",
			hint:     "take name and UID from one object: the garbage collector looks the owner up by its name, and deletes what has an owner that it does not find",
		})
	case j.unserved(owner.ref, served):
		j.add(w, flaw{
			name:     "version",
			says:     fmt.Sprintf("is owned by %s %s of %s, a version that is not served", ref.Kind, ref.Name, ref.APIVersion),
			expected: "apiVersion is one that is served",
			hint:     "take it from the scheme: the garbage collector cannot look up an owner of a version that is not served, and leaves what it owns for ever",
		})
	}
}

// unserved reports whether an owner is of the subject's own resources, and none
// of their versions is the one given. Of others, the served versions are not
// known.
func (j *ownership) unserved(owner trial.ObjectRef, served string) bool {
	p, own := j.h.Primary(owner.Group, owner.Resource)
	return own && len(p.Versions) > 0 && !slices.Contains(p.Versions, served)
}

func (j *ownership) namespace(w write, ref ownerReference, owner life) {
	switch {
	case owner.ref.Namespace == "" || owner.ref.Namespace == w.Ref.Namespace:
	case w.Ref.Namespace == "":
		j.add(w, flaw{
			name: "scope", says: fmt.Sprintf("belongs to no namespace, yet is owned by %s %s in namespace %s", ref.Kind, ref.Name, owner.ref.Namespace),
			expected: "what is cluster-scoped is owned by what is cluster-scoped",
			hint:     "use labels and a finalizer instead: the garbage collector cannot follow such a reference, and never deletes it",
		})
	default:
		j.add(w, flaw{
			name: "namespace", says: fmt.Sprintf("is owned by %s %s in another namespace, %s", ref.Kind, ref.Name, owner.ref.Namespace),
			expected: "an owner is in the same namespace, or cluster-scoped",
			hint:     "use labels and a finalizer instead: the garbage collector deletes it, since it looks for the owner in its own namespace",
		})
	}
}

// dead judges a reference to an owner that was gone before the write began.
// Where the collector takes the dependent away again, the race is harmless.
func (j *ownership) dead(w write, ref ownerReference, owner life) {
	child := j.all[w.Ref.UID]
	if owner.gone.IsZero() || !owner.gone.Before(w.request.Start) || !child.gone.IsZero() || !collects(j.h) {
		return
	}
	j.add(w, flaw{
		name: "dead", says: fmt.Sprintf("was written when its owner %s %s was gone, and is still there", ref.Kind, ref.Name),
		expected: "nothing is made for an owner that is gone",
		hint:     "read the owner once more before making something for it, and stop when it is being deleted",
	}, owner.seq)
}

// strays notes what was made for samples that are gone, and belongs to nobody.
func (j *ownership) strays(made []created) {
	applied, begun := j.h.Mark(history.MarkApplied)
	deleting, asked := j.h.Mark(history.MarkDeleting)
	_, err := afterDeletion(j.h)
	if !begun || !asked || err != nil {
		return
	}
	doomed := slices.DeleteFunc(samples(deleting, j.all), func(l life) bool { return l.gone.IsZero() })
	for _, c := range made {
		if c.write.seq < applied.Seq || !c.gone.IsZero() || retained(c.Ref.Group, c.Ref.Resource) || len(metaOf(c.raw).OwnerReferences) > 0 {
			continue
		}
		i := slices.IndexFunc(doomed, func(sample life) bool { return madeFor(c.life, sample.ref) })
		if i < 0 {
			continue
		}
		j.found.add("stray "+resourceName(c.Ref.Group, c.Ref.Resource), trial.Finding{
			Summary: fmt.Sprintf("%s, made for %s, has no owner and is still there after the deletion", c.ref, doomed[i].ref),
			Object:  c.ref, Paths: []string{".metadata.ownerReferences"},
			Expected: "what is made for a custom resource is owned by it, or removed by a finalizer of it",
			Hint:     "set a controller reference where it is made (controllerutil.SetControllerReference)",
			Evidence: []int64{c.write.seq, deleting.Seq, c.life.seq},
		})
	}
}

// madeFor reports whether an object says that it was made for a custom
// resource: by its name, or by a label or an annotation.
func madeFor(l life, sample trial.ObjectRef) bool {
	if strings.Contains("-"+strings.ReplaceAll(l.ref.Name, ".", "-")+"-", "-"+sample.Name+"-") {
		return true
	}
	m := metaOf(l.raw)
	for _, values := range []map[string]string{m.Labels, m.Annotations} {
		for _, value := range values {
			if value == sample.Name || value == sample.UID && value != "" {
				return true
			}
		}
	}
	return false
}
