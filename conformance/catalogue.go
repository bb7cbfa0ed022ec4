package conformance

import "github.com/seatrial/seatrial/harness/oracle"

// Version is that of the catalogue. It changes with every change that can
// change a verdict.
const Version = "v1alpha1.4"

// Catalogue returns every check, in the order in which reports list them.
func Catalogue() []oracle.Invariant {
	return []oracle.Invariant{
		noPanics(),
		forbiddenRequests(),
		quiescent(),
		noOpWrites(),
		observedGeneration(),
		conditionsWellFormed(),
		ownerReferencesValid(),
		deleteCompletes(),
	}
}

// Documents that several checks refer to.
const (
	apiConventions = "Kubernetes API conventions (kubernetes/community, contributors/devel/sig-architecture/api-conventions.md)"
	controllers    = "Writing Controllers (kubernetes/community, contributors/devel/sig-api-machinery/controllers.md)"
	ownersDocs     = "Kubernetes documentation, Owners and Dependents"
)
