package lens

// Names pairs the values of the old version with those of the new one. A value
// that is in no pair stays what it is, both ways.
type Names map[string]string

// Up is the new version's word for one of the old.
func (n Names) Up(old string) string {
	if name, found := n[old]; found {
		return name
	}
	return old
}

// Down is the old version's word for one of the new.
func (n Names) Down(name string) string {
	for old, candidate := range n {
		if candidate == name {
			return old
		}
	}
	return name
}
