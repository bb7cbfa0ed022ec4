package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seatrial/seatrial/operator/internal/resource"
)

// differences lists the fields in which what the operator owns of a live
// object is not what it wants. A field that somebody else changed is no longer
// owned, so it is listed as well. Fields that the operator never applied are
// none of its business.
func differences(t resource.Target, child resource.Child, live client.Object) ([]string, error) {
	applied, err := child.Owned(live)
	if err != nil {
		return nil, fmt.Errorf("reading what was applied: %w", err)
	}
	owned, err := fields(applied)
	if err != nil {
		return nil, err
	}
	desired, err := fields(child.Desired(t))
	if err != nil {
		return nil, err
	}
	return compare("", owned, desired), nil
}

func fields(configuration runtime.ApplyConfiguration) (map[string]any, error) {
	encoded, err := json.Marshal(configuration)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", configuration, err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", configuration, err)
	}
	return decoded, nil
}

// compare lists the differences between two JSON values, sorted by path.
func compare(path string, owned, desired any) []string {
	if reflect.DeepEqual(owned, desired) {
		return nil
	}
	ownedMap, ok1 := owned.(map[string]any)
	desiredMap, ok2 := desired.(map[string]any)
	if ok1 && ok2 {
		return compareMaps(path, ownedMap, desiredMap)
	}
	ownedList, ok1 := owned.([]any)
	desiredList, ok2 := desired.([]any)
	if ok1 && ok2 && len(ownedList) == len(desiredList) {
		var found []string
		for i := range ownedList {
			found = append(found, compare(fmt.Sprintf("%s[%d]", path, i), ownedList[i], desiredList[i])...)
		}
		return found
	}
	return []string{fmt.Sprintf("%s: %s -> %s", path, brief(owned), brief(desired))}
}

func compareMaps(path string, owned, desired map[string]any) []string {
	both := maps.Clone(owned)
	maps.Copy(both, desired)
	var found []string
	for _, key := range slices.Sorted(maps.Keys(both)) {
		below := key
		if path != "" {
			below = path + "." + key
		}
		found = append(found, compare(below, owned[key], desired[key])...)
	}
	return found
}

// briefLength is how much of a value is printed, in bytes.
const briefLength = 60

func brief(value any) string {
	if value == nil {
		return "(none)"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(encoded) > briefLength {
		return string(encoded[:briefLength]) + "…"
	}
	return string(encoded)
}
