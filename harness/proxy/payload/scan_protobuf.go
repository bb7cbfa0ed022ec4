package payload

import (
	"bytes"
	"encoding/binary"
)

// protobufMagic begins every body in protobuf; see
// k8s.io/apimachinery/pkg/runtime/serializer/protobuf.
var protobufMagic = []byte("k8s\x00")

// The parts of the wire format that matter here.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5

	// unknownRaw is the field of runtime.Unknown that holds the object.
	unknownRaw = 2
	// listItems is the field that holds the items in every list of the API.
	listItems = 2
)

// listScanner counts the items of a list in protobuf: an envelope, in it the
// list, in that the items.
type listScanner struct {
	n int
	// skip is how many bytes to pass over.
	skip uint64
	// word holds the bytes of a number that is being read.
	word []byte
	// started: the magic is behind. tag is that of the field whose length or
	// value follows, 0 before the next tag.
	started bool
	tag     uint64
	// inner is how many bytes of the list remain; inList says that it began.
	inner  uint64
	inList bool
	broken bool
}

func (s *listScanner) count() int { return s.n }

func (s *listScanner) scan(piece []byte) {
	if !s.started {
		s.started, s.skip = true, uint64(len(protobufMagic))
	}
	for len(piece) > 0 && !s.broken {
		if s.skip > 0 {
			n := min(s.skip, uint64(len(piece)))
			s.skip -= n
			s.consumed(n)
			piece = piece[n:]
			continue
		}
		s.byte(piece[0])
		piece = piece[1:]
	}
}

// consumed keeps track of where the list ends.
func (s *listScanner) consumed(n uint64) {
	if !s.inList {
		return
	}
	if n >= s.inner {
		s.inList, s.inner = false, 0
		return
	}
	s.inner -= n
}

// byte takes one byte of a number.
func (s *listScanner) byte(b byte) {
	s.word = append(s.word, b)
	if b&0x80 != 0 {
		s.broken = len(s.word) >= binary.MaxVarintLen64
		return
	}
	number, _ := binary.Uvarint(s.word)
	s.consumed(uint64(len(s.word)))
	s.word = s.word[:0]
	if s.tag == 0 {
		s.startField(number)
		return
	}
	if s.tag&7 == wireBytes {
		s.startBytes(s.tag>>3, number)
	}
	s.tag = 0
}

func (s *listScanner) startField(tag uint64) {
	switch tag & 7 {
	case wireVarint, wireBytes:
		s.tag = tag
	case wire64:
		s.skip = 8
	case wire32:
		s.skip = 4
	default:
		s.broken = true
	}
	s.broken = s.broken || tag == 0
}

// startBytes enters the list and passes over everything else.
func (s *listScanner) startBytes(field, length uint64) {
	switch {
	case s.inList && field == listItems:
		s.n++
		s.skip = length
	case !s.inList && field == unknownRaw && length > 0:
		s.inList, s.inner = true, length
	default:
		s.skip = length
	}
}

// frameScanner counts the frames of a watch in protobuf: each has four bytes of
// length and an event, whose first field is its type.
type frameScanner struct {
	n      int
	header []byte
	// left is what remains of the frame; head is its beginning.
	left uint32
	head []byte
}

// frameHeader is the length of a frame's length.
const frameHeader = 4

// bookmarkHead begins the event of a bookmark: field 1, bytes, eight of them.
var bookmarkHead = append([]byte{1<<3 | wireBytes, byte(len(typeBookmark))}, typeBookmark...)

func (s *frameScanner) count() int { return s.n }

func (s *frameScanner) scan(piece []byte) {
	for len(piece) > 0 {
		if s.left == 0 {
			n := min(frameHeader-len(s.header), len(piece))
			s.header = append(s.header, piece[:n]...)
			piece = piece[n:]
			if len(s.header) == frameHeader {
				s.left = binary.BigEndian.Uint32(s.header)
				s.header, s.head = s.header[:0], s.head[:0]
			}
			continue
		}
		n := int(min(s.left, uint32(min(len(piece), 1<<30))))
		s.head = append(s.head, piece[:min(n, len(bookmarkHead)-len(s.head))]...)
		piece = piece[n:]
		s.left -= uint32(n)
		if s.left == 0 && !bytes.Equal(s.head, bookmarkHead) {
			s.n++
		}
	}
}
