package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// maxValue is how many characters of a value a report shows.
const maxValue = 240

// bookkeeping are the paths that every write changes; they say nothing about
// what it was for.
var bookkeeping = map[string]bool{
	".metadata.managedFields":   true,
	".metadata.resourceVersion": true,
}

// listKeys are the fields that identify an element of a list, in the order in
// which they are tried.
var listKeys = []string{"name", "type", "key", "uid", "ip", "containerPort", "port"}

// plainField matches the names that need no quotes in a path.
var plainField = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// diff returns the paths in which two versions of an object differ, in order
// of the paths, bookkeeping apart.
func diff(before, after json.RawMessage) ([]PathChange, error) {
	b, err := decode(before)
	if err != nil {
		return nil, fmt.Errorf("reading the version before: %w", err)
	}
	a, err := decode(after)
	if err != nil {
		return nil, fmt.Errorf("reading the version after: %w", err)
	}
	var d differ
	d.compare("", b, a)
	return d.changes, nil
}

func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

type differ struct{ changes []PathChange }

// absent stands for what is not there, which differs from null.
type absent struct{}

func (d *differ) compare(path string, before, after any) {
	if bookkeeping[path] || reflect.DeepEqual(before, after) {
		return
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			d.compareMaps(path, b, a)
			return
		}
	case []any:
		if a, ok := after.([]any); ok {
			d.compareLists(path, b, a)
			return
		}
	}
	d.changes = append(d.changes, PathChange{Path: path, Before: render(before), After: render(after)})
}

func (d *differ) compareMaps(path string, before, after map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		d.compare(path+field(name), get(before, name), get(after, name))
	}
}

// compareLists matches elements by what identifies them, so that one that was
// put in front does not make all others differ. Where nothing does, or only the
// order changed, it goes by index.
func (d *differ) compareLists(path string, before, after []any) {
	for _, key := range listKeys {
		b, okB := keyed(before, key)
		a, okA := keyed(after, key)
		if okB && okA && sameOrder(before, after, key) {
			for _, value := range slices.Sorted(maps.Keys(union(b, a))) {
				d.compare(fmt.Sprintf("%s[%s=%s]", path, key, value), get(b, value), get(a, value))
			}
			return
		}
	}
	for i := range max(len(before), len(after)) {
		d.compare(path+"["+strconv.Itoa(i)+"]", at(before, i), at(after, i))
	}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// keyed returns the elements of a list by the value of a field, if each one is
// an object with a value of its own there.
func keyed(list []any, key string) (map[string]any, bool) {
	elements := map[string]any{}
	for _, element := range list {
		value, ok := keyOf(element, key)
		if _, taken := elements[value]; !ok || taken {
			return nil, false
		}
		elements[value] = element
	}
	return elements, true
}

func keyOf(element any, key string) (string, bool) {
	object, _ := element.(map[string]any)
	switch value := object[key].(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	default:
		return "", false
	}
}

// sameOrder reports whether the elements that both lists have stand in the same
// order in both.
func sameOrder(before, after []any, key string) bool {
	return slices.Equal(common(before, after, key), common(after, before, key))
}

// common returns the keys of list's elements that other has too.
func common(list, other []any, key string) []string {
	known, _ := keyed(other, key)
	var keys []string
	for _, element := range list {
		if value, _ := keyOf(element, key); known[value] != nil {
			keys = append(keys, value)
		}
	}
	return keys
}

func get(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return absent{}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

func field(name string) string {
	if plainField.MatchString(name) {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}

// render returns a value as compact JSON, cut short.
func render(v any) string {
	if _, ok := v.(absent); ok {
		return ""
	}
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
