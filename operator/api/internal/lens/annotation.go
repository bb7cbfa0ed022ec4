package lens

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"strings"
)

const (
	// compressFrom is the length in bytes from which what is kept is
	// compressed: all annotations of an object together may have 256 KiB.
	compressFrom = 4 << 10
	// compressed marks what is.
	compressed = "gzip:"
	// longest is the most that is read back, in bytes: more cannot have been
	// written, and may be meant to exhaust memory.
	longest = 4 << 20
)

// Attach returns the annotations with what was kept under key, or without the
// key where nothing was. The given map is not changed.
func Attach(annotations map[string]string, key string, kept Kept) map[string]string {
	_, stale := annotations[key]
	if len(kept) == 0 && !stale {
		return annotations
	}
	all := maps.Clone(annotations)
	if len(kept) == 0 {
		delete(all, key)
		return all
	}
	if all == nil {
		all = map[string]string{}
	}
	all[key] = pack(encode(kept))
	return all
}

// Detach returns what was kept under key, and the annotations without it. What
// cannot be read counts as nothing. The given map is not changed.
func Detach(annotations map[string]string, key string) (Kept, map[string]string) {
	value, found := annotations[key]
	if !found {
		return nil, annotations
	}
	rest := maps.Clone(annotations)
	delete(rest, key)
	if len(rest) == 0 {
		rest = nil
	}
	var kept Kept
	if err := json.Unmarshal(unpack(value), &kept); err != nil {
		return nil, rest
	}
	return kept, rest
}

func pack(encoded []byte) string {
	if len(encoded) < compressFrom {
		return string(encoded)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return string(encoded)
	}
	// A buffer takes all that it is given.
	_, _ = w.Write(encoded)
	_ = w.Close()
	return compressed + base64.StdEncoding.EncodeToString(packed.Bytes())
}

func unpack(value string) []byte {
	packed, found := strings.CutPrefix(value, compressed)
	if !found {
		return []byte(value)
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(r, longest))
	if err != nil {
		return nil
	}
	return content
}
