package v1

// Annotations that keep what one version of the API cannot express. They are
// written by conversion and are nobody else's to change.
const (
	// AnnotationConversionData stands on an object that is read in an older
	// version and holds what that version cannot say of it.
	AnnotationConversionData = Group + "/conversion-data"
	// AnnotationResidue and the name of an older version stands on a stored
	// object and holds how that version had spelled what v1 spells otherwise.
	AnnotationResidue = Group + "/residue."
)
