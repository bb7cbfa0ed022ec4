package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/seatrial/seatrial/harness/history/version"
)

// maxValue is how many characters of a value a report shows.
const maxValue = 240

// bookkeeping reports whether every write changes the path, which then says
// nothing about what it was for.
func bookkeeping(path string) bool {
	return path == ".metadata.resourceVersion" || strings.HasPrefix(path, ".metadata.managedFields")
}

// diff returns the paths in which two versions of an object differ, in order
// of the paths, bookkeeping apart.
func diff(before, after map[string]any) []PathChange {
	var changes []PathChange
	for _, d := range version.Diff(before, after) {
		if bookkeeping(d.Path) {
			continue
		}
		change := PathChange{Path: d.Path}
		if d.Op != version.Add {
			change.Before = render(d.Before)
		}
		if d.Op != version.Remove {
			change.After = render(d.After)
		}
		changes = append(changes, change)
	}
	return changes
}

// render returns a value as compact JSON, cut short.
func render(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return cut(string(bytes.TrimSpace(b.Bytes())), maxValue)
}

// cut shortens s to at most limit characters.
func cut(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}
