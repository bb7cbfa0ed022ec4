package v1

import (
	"fmt"
	"strconv"
	"strings"
)

// Slots is how many slots a Redis Cluster has.
const Slots = 16384

// FormatSlots writes ranges as Redis does, such as 0-5460,6000.
func FormatSlots(ranges []SlotRange) string {
	parts := make([]string, 0, len(ranges))
	for _, r := range ranges {
		if r.Start == r.End {
			parts = append(parts, strconv.Itoa(int(r.Start)))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", r.Start, r.End))
	}
	return strings.Join(parts, ",")
}

// ParseSlots reads what FormatSlots writes. Empty text is no range.
func ParseSlots(text string) ([]SlotRange, error) {
	if text == "" {
		return nil, nil
	}
	var ranges []SlotRange
	for part := range strings.SplitSeq(text, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		start, err := parseSlot(first)
		if err != nil {
			return nil, fmt.Errorf("reading slots '%s': %w", text, err)
		}
		end, err := parseSlot(last)
		if err != nil {
			return nil, fmt.Errorf("reading slots '%s': %w", text, err)
		}
		ranges = append(ranges, SlotRange{Start: start, End: end})
	}
	return ranges, nil
}

func parseSlot(text string) (int32, error) {
	slot, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, err
	}
	if slot < 0 || slot >= Slots {
		return 0, fmt.Errorf("slot %d must be from 0 to %d", slot, Slots-1)
	}
	return int32(slot), nil
}
