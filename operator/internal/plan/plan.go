package plan

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
	"github.com/seatrial/seatrial/operator/internal/resource"
)

// Observation is what is there.
type Observation struct {
	// Cluster is the RedisCluster. It is never changed.
	Cluster *redisv1.RedisCluster
	// Live holds, per child, the object that has its name, whoever it belongs
	// to. A role that is absent means that there is no such object.
	Live map[resource.Role]client.Object
	// Pods is how many pods must be kept: more than the RedisCluster asks for
	// while nodes that are to go still have a share in the Redis Cluster.
	Pods int32
}

// Target is what children are to be like.
func (o Observation) Target() resource.Target {
	set, ours := o.Live[resource.RoleSet].(*appsv1.StatefulSet)
	if !ours || !resource.Belongs(set, o.Cluster) {
		set = nil
	}
	return resource.TargetOf(o.Cluster, set, o.Pods)
}

// Verb is what an operation does.
type Verb string

const (
	// Create makes an object that is not there.
	Create Verb = "create"
	// Update changes fields of an object that is there.
	Update Verb = "update"
	// Refuse leaves an object alone that is not ours but has our name.
	Refuse Verb = "refuse"
	// Await waits until an object that is being deleted is gone.
	Await Verb = "await"
	// Hold puts an object off whose needs are not met.
	Hold Verb = "hold"
)

// Operation is one step of a plan.
type Operation struct {
	Verb  Verb
	Child resource.Child
	Name  string
	// Changes are the fields that an Update changes.
	Changes []string
	// Why says why an operation that does nothing stands in the plan.
	Why string
	// UID is that of the object that an Update is meant for, and no other.
	UID types.UID
	// ResourceVersion is that of the object that the plan was made on.
	ResourceVersion string
	// Shrinks is true where an Update takes pods away, which must not be done
	// on an old view of the object.
	Shrinks bool
}

// Writes reports whether the operation changes anything in the API.
func (o Operation) Writes() bool { return o.Verb == Create || o.Verb == Update }

// String is one line, and one more for each change.
func (o Operation) String() string {
	line := fmt.Sprintf("%s %s %s", o.Verb, o.Child.Kind, o.Name)
	if o.Why != "" {
		line += ": " + o.Why
	}
	return strings.Join(slices.Concat([]string{line}, o.Changes), "\n  ")
}

// Plan is what to do, in order.
type Plan []Operation

// String is the plan as text, one operation after the other.
func (p Plan) String() string {
	if len(p) == 0 {
		return "nothing to do\n"
	}
	var b strings.Builder
	for _, operation := range p {
		fmt.Fprintln(&b, operation)
	}
	return b.String()
}

// With returns the operations that have the verb.
func (p Plan) With(verb Verb) []Operation {
	return slices.Collect(func(yield func(Operation) bool) {
		for _, operation := range p {
			if operation.Verb == verb && !yield(operation) {
				return
			}
		}
	})
}

// For returns the operation on a child, if the plan has one.
func (p Plan) For(role resource.Role) (Operation, bool) {
	i := slices.IndexFunc(p, func(o Operation) bool { return o.Child.Role == role })
	if i < 0 {
		return Operation{}, false
	}
	return p[i], true
}

// Make returns the plan for an observation. A RedisCluster that is being
// deleted gets no operation: its children go with it, by their owner
// references.
func Make(o Observation) (Plan, error) {
	if !o.Cluster.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	var p Plan
	for _, child := range resource.Children() {
		operation, needed, err := step(o, child)
		if err != nil {
			return nil, fmt.Errorf("comparing %s %s: %w", child.Kind, child.Name(o.Cluster.Name), err)
		}
		if !needed {
			continue
		}
		if operation.Writes() {
			operation = hold(p, operation)
		}
		p = append(p, operation)
	}
	return p, nil
}

// step is the operation on one child, if one is needed.
func step(o Observation, child resource.Child) (Operation, bool, error) {
	operation := Operation{Child: child, Name: child.Name(o.Cluster.Name)}
	live, found := o.Live[child.Role]
	switch {
	case !found:
		operation.Verb = Create
		return operation, true, nil
	case resource.Predecessor(live, o.Cluster):
		operation.Verb, operation.Why = Await, "it goes with an earlier RedisCluster of the same name"
		return operation, true, nil
	case !resource.Belongs(live, o.Cluster):
		operation.Verb, operation.Why = Refuse, "it exists and does not belong to this RedisCluster"+controlledBy(live)
		return operation, true, nil
	case !live.GetDeletionTimestamp().IsZero():
		operation.Verb, operation.Why = Await, "it is being deleted"
		return operation, true, nil
	}
	changes, err := differences(o.Target(), child, live)
	if err != nil || len(changes) == 0 {
		return operation, false, err
	}
	operation.Verb, operation.Changes = Update, changes
	operation.UID, operation.ResourceVersion = live.GetUID(), live.GetResourceVersion()
	operation.Shrinks = removesPods(o.Target(), live)
	return operation, true, nil
}

func controlledBy(o client.Object) string {
	if controller := metav1.GetControllerOf(o); controller != nil {
		return fmt.Sprintf(", but to %s %s", controller.Kind, controller.Name)
	}
	return ""
}

func removesPods(t resource.Target, live client.Object) bool {
	set, ok := live.(*appsv1.StatefulSet)
	return ok && t.Pods < ptr.Deref(set.Spec.Replicas, 1)
}

// hold turns a write into a Hold if what it needs is not ours, or on its way
// out, as the plan so far says.
func hold(p Plan, operation Operation) Operation {
	for _, role := range operation.Child.Needs {
		need, found := p.For(role)
		if found && !need.Writes() {
			return Operation{
				Verb:  Hold,
				Child: operation.Child,
				Name:  operation.Name,
				Why:   fmt.Sprintf("it needs %s %s", need.Child.Kind, need.Name),
			}
		}
	}
	return operation
}
