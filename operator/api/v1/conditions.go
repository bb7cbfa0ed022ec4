package v1

// Types of conditions in status.conditions. Every condition stands there from
// the first visit on, and carries the generation that it was judged on.
const (
	// ConditionReady sums up: what spec asks for is there and works. True
	// exactly when Available is True, and Progressing and Degraded are False.
	ConditionReady = "Ready"
	// ConditionAvailable says that clients are served. This release judges by
	// the client Service having at least one ready Redis pod behind it.
	ConditionAvailable = "Available"
	// ConditionProgressing says that the operator or Kubernetes is on the way
	// from what is there to what spec asks for.
	ConditionProgressing = "Progressing"
	// ConditionDegraded says that something is wrong that waiting alone may
	// not mend. The message names it.
	ConditionDegraded = "Degraded"
)

// Reasons of conditions.
const (
	// ReasonPodsReady: every Redis pod is ready and follows spec (Ready), or
	// at least one is ready (Available).
	ReasonPodsReady = "PodsReady"
	// ReasonPodsNotReady: fewer Redis pods are ready than were before, with
	// no change of spec under way (Ready, Degraded), or none is (Available).
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonCreating: the children have not all been ready yet.
	ReasonCreating = "Creating"
	// ReasonScaling: the number of Redis pods is changing.
	ReasonScaling = "Scaling"
	// ReasonUpdating: Redis pods are being replaced by new ones.
	ReasonUpdating = "Updating"
	// ReasonRolledOut: nothing is left to do for this generation.
	ReasonRolledOut = "RolledOut"
	// ReasonDeleting: the RedisCluster is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonNameTaken: an object that does not belong to this RedisCluster
	// has the name of a child. It is left alone; the message names it.
	ReasonNameTaken = "NameTaken"
	// ReasonWaitingForDeletion: an earlier child of that name is still being
	// deleted.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonApplyFailed: the API server refused a child; the message quotes
	// it.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonAsExpected: nothing is wrong (Degraded).
	ReasonAsExpected = "AsExpected"
)

// Phases that status.phase takes in this version. More may come: clients must
// accept a value that they do not know.
const (
	PhasePending     = "Pending"
	PhaseForming     = "Forming"
	PhaseReady       = "Ready"
	PhaseRebalancing = "Rebalancing"
	PhaseUpdating    = "Updating"
	PhaseDegraded    = "Degraded"
	PhaseFailed      = "Failed"
	PhaseTerminating = "Terminating"
)
