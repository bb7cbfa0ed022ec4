package payload

import "bytes"

// jsonScanner counts, in a JSON text, either the elements of the top-level
// member "items" (or "rows", in a table), or the top-level objects whose
// member "type" is not "BOOKMARK". It knows just enough of JSON for that: where
// strings end and how deep objects and arrays nest.
type jsonScanner struct {
	events bool
	n      int

	depth    int
	inString bool
	escaped  bool
	// text is the string at depth one that is being read, or was read last,
	// as far as it matters.
	text []byte
	// key is whether that string is a member's name, and member the last name.
	value    bool
	member   string
	kind     string
	counting bool
}

// longestText is the longest string that means something: "BOOKMARK".
const longestText = len(typeBookmark)

const typeBookmark = "BOOKMARK"

func (s *jsonScanner) count() int { return s.n }

func (s *jsonScanner) scan(piece []byte) {
	for i := 0; i < len(piece); {
		if s.inString {
			i += s.string(piece[i:])
			continue
		}
		s.token(piece[i])
		i++
	}
}

// string takes what belongs to the string and returns how much that is.
func (s *jsonScanner) string(piece []byte) int {
	if s.escaped {
		s.escaped = false
		return 1
	}
	end := bytes.IndexAny(piece, `"\`)
	if end < 0 {
		s.keep(piece)
		return len(piece)
	}
	s.keep(piece[:end])
	if piece[end] == '\\' {
		s.escaped = true
	} else {
		s.inString = false
		s.ended()
	}
	return end + 1
}

func (s *jsonScanner) keep(text []byte) {
	if s.depth == 1 {
		room := longestText + 1 - len(s.text)
		s.text = append(s.text, text[:min(len(text), max(room, 0))]...)
	}
}

// ended notes a string at depth one.
func (s *jsonScanner) ended() {
	switch {
	case s.depth != 1:
	case !s.value:
		s.member = string(s.text)
	case s.member == "type":
		s.kind = string(s.text)
	}
}

func (s *jsonScanner) token(b byte) {
	switch b {
	case '"':
		s.inString = true
		s.text = s.text[:0]
	case ':':
		s.value = true
	case ',':
		s.value = false
	case '{', '[':
		s.open(b)
	case '}', ']':
		s.close()
	}
}

func (s *jsonScanner) open(b byte) {
	s.depth++
	s.value = false
	switch {
	case s.events:
		if s.depth == 1 {
			s.kind = ""
		}
	case s.depth == 2:
		s.counting = b == '[' && (s.member == "items" || s.member == "rows")
	case s.depth == 3 && s.counting:
		s.n++
	}
}

func (s *jsonScanner) close() {
	s.depth--
	s.value = false
	switch {
	case s.events && s.depth == 0:
		if s.kind != typeBookmark {
			s.n++
		}
	case s.depth == 1:
		s.counting = false
	}
}
