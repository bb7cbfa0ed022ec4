package version

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Op says how two values differ.
type Op string

// The ways to differ.
const (
	Add     Op = "add"
	Remove  Op = "remove"
	Replace Op = "replace"
	// Reorder: a list has the same elements in another order.
	Reorder Op = "reorder"
)

// Difference is one field in which two values differ.
type Difference struct {
	// Path names the field, such as .status.conditions[type=Ready].reason or
	// .metadata.annotations["example.com/hash"].
	Path string
	Op   Op
	// Before and After are the decoded values; nil where there is none.
	Before, After any
}

// Root is the first field of the path: "metadata", "spec", "status".
func (d Difference) Root() string {
	first := strings.TrimPrefix(d.Path, ".")
	if i := strings.IndexAny(first, ".["); i >= 0 {
		return first[:i]
	}
	return first
}

// Leaf is the last field of the path without its list index.
func (d Difference) Leaf() string {
	path := d.Path
	for strings.HasSuffix(path, "]") {
		i := strings.LastIndexByte(path, '[')
		if i < 0 {
			break
		}
		if key, err := strconv.Unquote(path[i+1 : len(path)-1]); err == nil {
			return key
		}
		path = path[:i]
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// Decode decodes JSON without losing the digits of its numbers. It returns nil
// for what is not JSON.
func Decode(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil
	}
	return v
}

// Diff returns the fields in which two decoded values differ, in the order of
// their paths. Lists whose elements have names are compared by name.
func Diff(before, after any) []Difference {
	found := diff(nil, "", before, after)
	slices.SortStableFunc(found, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return found
}

func diff(found []Difference, path string, before, after any) []Difference {
	if reflect.DeepEqual(before, after) {
		return found
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			return diffMaps(found, path, b, a)
		}
	case []any:
		if a, ok := after.([]any); ok {
			return diffLists(found, path, b, a)
		}
	}
	return append(found, Difference{Path: path, Op: Replace, Before: before, After: after})
}

func diffMaps(found []Difference, path string, before, after map[string]any) []Difference {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		now, kept := after[key]
		if !kept {
			found = append(found, Difference{Path: child(path, key), Op: Remove, Before: before[key]})
			continue
		}
		found = diff(found, child(path, key), before[key], now)
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[key]; !was {
			found = append(found, Difference{Path: child(path, key), Op: Add, After: after[key]})
		}
	}
	return found
}

// plain matches the fields that need no quotes in a path.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// child appends a field to a path; a field that is no plain word is quoted.
func child(path, key string) string {
	if plain.MatchString(key) {
		return path + "." + key
	}
	return path + "[" + strconv.Quote(key) + "]"
}

func diffLists(found []Difference, path string, before, after []any) []Difference {
	if key := listKey(before, after); key != "" {
		return diffKeyed(found, path, key, before, after)
	}
	if sameElements(before, after) {
		return append(found, Difference{Path: path, Op: Reorder, Before: before, After: after})
	}
	for i := range max(len(before), len(after)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(after):
			found = append(found, Difference{Path: at, Op: Remove, Before: before[i]})
		case i >= len(before):
			found = append(found, Difference{Path: at, Op: Add, After: after[i]})
		default:
			found = diff(found, at, before[i], after[i])
		}
	}
	return found
}

// listKeys are the fields by which Kubernetes names the elements of lists, in
// the order in which they are tried.
var listKeys = []string{"name", "type", "key", "uid", "ip", "containerPort", "port"}

// listKey returns the field that names each element of both lists, "" if there
// is none.
func listKey(before, after []any) string {
	for _, key := range listKeys {
		if names(before, key) != nil && names(after, key) != nil {
			return key
		}
	}
	return ""
}

// names returns the elements by their name; nil if they have none, or not each
// its own.
func names(list []any, key string) map[string]any {
	byName := make(map[string]any, len(list))
	for _, element := range list {
		m, ok := element.(map[string]any)
		if !ok {
			return nil
		}
		value, ok := m[key]
		if !ok {
			return nil
		}
		byName[fmt.Sprint(value)] = element
	}
	if len(byName) < len(list) {
		return nil
	}
	return byName
}

func diffKeyed(found []Difference, path, key string, before, after []any) []Difference {
	was, is := names(before, key), names(after, key)
	at := func(name string) string { return fmt.Sprintf("%s[%s=%s]", path, key, name) }
	for _, name := range slices.Sorted(maps.Keys(was)) {
		now, kept := is[name]
		if !kept {
			found = append(found, Difference{Path: at(name), Op: Remove, Before: was[name]})
			continue
		}
		found = diff(found, at(name), was[name], now)
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, there := was[name]; !there {
			found = append(found, Difference{Path: at(name), Op: Add, After: is[name]})
		}
	}
	if reordered(key, before, after) {
		found = append(found, Difference{Path: path, Op: Reorder, Before: before, After: after})
	}
	return found
}

// reordered reports whether two lists name the same elements in another order.
func reordered(key string, before, after []any) bool {
	if len(before) != len(after) {
		return false
	}
	moved := false
	is := names(after, key)
	for i := range before {
		name := fmt.Sprint(before[i].(map[string]any)[key])
		if _, there := is[name]; !there {
			return false
		}
		moved = moved || name != fmt.Sprint(after[i].(map[string]any)[key])
	}
	return moved
}

// sameElements reports whether two lists hold the same elements.
func sameElements(before, after []any) bool {
	if len(before) != len(after) {
		return false
	}
	count := map[string]int{}
	for i := range before {
		count[text(before[i])]++
		count[text(after[i])]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// text is a value as JSON, for comparison: encoding/json sorts keys.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
