package v1alpha1

// Phases that status.phase takes in this version. More may come: clients must
// accept a value that they do not know.
const (
	PhasePending  = "Pending"
	PhaseCreating = "Creating"
	PhaseRunning  = "Running"
	PhaseScaling  = "Scaling"
	PhaseUpdating = "Updating"
	PhaseDegraded = "Degraded"
	PhaseFailed   = "Failed"
	PhaseDeleting = "Deleting"
)
