package spoke

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// units are those of redis.conf, the binary ones from large to small.
var units = []struct {
	name   string
	factor int64
	format resource.Format
}{
	{"gb", 1 << 30, resource.BinarySI},
	{"mb", 1 << 20, resource.BinarySI},
	{"kb", 1 << 10, resource.BinarySI},
	{"g", 1e9, resource.DecimalSI},
	{"m", 1e6, resource.DecimalSI},
	{"k", 1e3, resource.DecimalSI},
	{"b", 1, resource.DecimalSI},
	{"", 1, resource.DecimalSI},
}

// ParseMemory returns an amount of memory in the notation of redis.conf, or
// nil for 0, which means no limit to Redis, and for text that it cannot read.
// An amount that is too large to count is the largest that can be counted.
func ParseMemory(text string) *resource.Quantity {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(text, "bgkm")
	for _, unit := range units {
		if text != digits+unit.name {
			continue
		}
		amount, ok := new(big.Int).SetString(digits, 10)
		if !ok || amount.Sign() <= 0 {
			return nil
		}
		amount.Mul(amount, big.NewInt(unit.factor))
		if !amount.IsInt64() {
			return resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
		}
		return resource.NewQuantity(amount.Int64(), unit.format)
	}
	return nil
}

// FormatMemory writes an amount in the largest binary unit that expresses it,
// else in bytes. Nil is empty text.
func FormatMemory(amount *resource.Quantity) string {
	if amount == nil {
		return ""
	}
	bytes := amount.Value()
	for _, unit := range units {
		if unit.format == resource.BinarySI && bytes != 0 && bytes%unit.factor == 0 {
			return strconv.FormatInt(bytes/unit.factor, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}
