package resource

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// FieldManager is the name under which the operator applies fields.
const FieldManager = "rediscluster-operator"

// Child is one of the objects that each RedisCluster owns.
type Child struct {
	// Role tells the children of one RedisCluster apart.
	Role Role
	// APIVersion and Kind are the object's.
	APIVersion, Kind string
	// Name is the object's name, given that of the RedisCluster.
	Name func(cluster string) string
	// Needs are the children without which this one must not be changed.
	Needs []Role
	// New returns an empty object to read into.
	New func() client.Object
	// Desired returns the fields that the operator wants.
	Desired func(Target) runtime.ApplyConfiguration
	// Pinned is Desired for the object with that UID only and, where version
	// is not empty, only as long as it has that resource version.
	Pinned func(target Target, uid types.UID, version string) runtime.ApplyConfiguration
	// Owned returns the fields of a live object that the operator applied last
	// and that nobody else has changed since.
	Owned func(client.Object) (runtime.ApplyConfiguration, error)
}

// Role tells the children of one RedisCluster apart.
type Role string

// The roles of the children.
const (
	RoleNodes      Role = "nodes"
	RoleConfig     Role = "config"
	RoleSet        Role = "set"
	RoleClient     Role = "client"
	RoleDisruption Role = "disruption"
)

// Children returns every child, in the order in which they are made.
func Children() []Child {
	return []Child{nodesService(), configMap(), statefulSet(), clientService(), disruptionBudget()}
}

// configuration is what the generated apply configurations have in common.
type configuration[T any] interface {
	runtime.ApplyConfiguration
	WithUID(types.UID) T
	WithResourceVersion(string) T
}

// recipe is what the file of a child says, in the child's own types.
type recipe[L client.Object, A configuration[A]] struct {
	role    Role
	version schema.GroupVersion
	kind    string
	name    func(cluster string) string
	needs   []Role
	empty   func() L
	desired func(Target) A
	// extract returns what a field manager applied to a live object.
	extract func(live L, manager string) (A, error)
}

func (r recipe[L, A]) child() Child {
	return Child{
		Role:       r.role,
		APIVersion: r.version.String(),
		Kind:       r.kind,
		Name:       r.name,
		Needs:      r.needs,
		New:        func() client.Object { return r.empty() },
		Desired:    func(t Target) runtime.ApplyConfiguration { return r.desired(t) },
		Pinned: func(t Target, uid types.UID, version string) runtime.ApplyConfiguration {
			a := r.desired(t).WithUID(uid)
			if version != "" {
				a = a.WithResourceVersion(version)
			}
			return a
		},
		Owned: func(o client.Object) (runtime.ApplyConfiguration, error) {
			live, ok := o.(L)
			if !ok {
				return nil, fmt.Errorf("%s %s is a %T", r.kind, o.GetName(), o)
			}
			return r.extract(live, FieldManager)
		},
	}
}

// Belongs reports whether a live object is a child of the RedisCluster:
// controlled by it, or made by it and robbed of its owner reference since.
// An object of the same name alone does not belong.
func Belongs(o client.Object, c *redisv1.RedisCluster) bool {
	if controller := metav1.GetControllerOf(o); controller != nil {
		return controller.UID == c.UID
	}
	return o.GetLabels()[LabelClusterUID] == string(c.UID) && applied(o)
}

// Predecessor reports whether a live object is controlled by an earlier
// RedisCluster of the same name, so that the garbage collector is about to
// delete it.
func Predecessor(o client.Object, c *redisv1.RedisCluster) bool {
	controller := metav1.GetControllerOf(o)
	return controller != nil && controller.UID != c.UID && controller.Name == c.Name &&
		controller.Kind == redisv1.Kind && groupOf(controller.APIVersion) == redisv1.Group
}

func applied(o client.Object) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply {
			return true
		}
	}
	return false
}
