package topology

// Assess says what to do about a view. The same view always gets the same
// answer. So far it only states the facts and takes no step; it never asks for
// fewer pods than there are, because it does not yet know that they are empty.
func Assess(v View) Assessment {
	return Assessment{
		Pods:    max(v.Replicas, v.Wanted.Pods()),
		Waiting: []Reason{{Code: "NotDecided", Message: "Nothing is decided yet."}},
		Facts:   newCluster(v).facts(),
	}
}
