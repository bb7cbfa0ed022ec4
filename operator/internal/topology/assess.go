package topology

// Assess says what to do about a view. The same view always gets the same
// answer.
func Assess(v View) Assessment {
	return Assessment{Pods: v.Wanted.Pods(), Waiting: []Reason{{Code: "NotDecided", Message: "Nothing is decided yet."}}}
}
