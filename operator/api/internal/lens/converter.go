package lens

// Section is a part of an object that may be absent as a whole, such as spec.
// An object may come without: the API server converts parts of objects to
// track who owns which field.
type Section[S, H any] struct {
	// SpokeAbsent and HubAbsent report whether an object lacks the section.
	SpokeAbsent func(*S) bool
	HubAbsent   func(*H) bool
	// Groups are a partition of the section's fields, in both versions.
	Groups []Group[S, H]
}

// Converter converts between the old version S and the new version H. The
// zero value converts nothing.
type Converter[S, H any] struct {
	Sections []Section[S, H]
}

// Lift sets every group of h from s and from what s had kept of h, and returns
// the spellings of s that h does not tell.
func (c Converter[S, H]) Lift(s *S, h *H, kept Kept) (spelled Kept) {
	spelled = Kept{}
	for _, section := range c.Sections {
		absent := section.SpokeAbsent(s)
		for _, g := range section.Groups {
			g.lift(s, h, kept, absent)
		}
		absent = section.HubAbsent(h)
		for _, g := range section.Groups {
			if spelling := g.spelling(s, h, absent); spelling != nil {
				spelled[g.id()] = spelling
			}
		}
	}
	return spelled
}

// Project sets every group of s from h and from how s had spelled them, and
// returns what s does not tell of h.
func (c Converter[S, H]) Project(h *H, s *S, spelled Kept) (kept Kept) {
	kept = Kept{}
	for _, section := range c.Sections {
		absent := section.HubAbsent(h)
		for _, g := range section.Groups {
			g.project(h, s, spelled, absent)
		}
		absent = section.SpokeAbsent(s)
		for _, g := range section.Groups {
			if lost := g.lost(h, s, absent); lost != nil {
				kept[g.id()] = lost
			}
		}
	}
	return kept
}
