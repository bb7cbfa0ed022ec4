package redis

import "strings"

// SlotOf is the slot of a key: CRC16 of it, or of what stands between its first
// braces (redis.io, "Redis cluster specification", hash tags).
func SlotOf(key string) int {
	if _, rest, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	return int(crc16(key)) % Slots
}

// crc16 is CRC-16/XMODEM.
func crc16(text string) uint16 {
	const polynomial = 0x1021
	var crc uint16
	for _, b := range []byte(text) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ polynomial
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
