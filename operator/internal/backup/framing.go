package backup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const markLength = 40

// errFraming is an answer that the replication protocol does not know.
var errFraming = errors.New("not the replication protocol")

// replyError is an error that Redis answered, such as LOADING.
type replyError string

func (e replyError) Error() string { return string(e) }

// permanent reports whether asking again is of no use.
func (e replyError) permanent() bool {
	code, _, _ := strings.Cut(string(e), " ")
	switch code {
	case "NOAUTH", "WRONGPASS", "NOPERM":
		return true
	}
	return false
}

// readLine reads one line, past the empty ones that Redis sends while it makes
// the RDB file, so that the other end does not give up.
func readLine(r *bufio.Reader) (string, error) {
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("%w: a line without an end", errFraming)
		}
		if err != nil {
			return "", fmt.Errorf("reading a line: %w", unexpected(err))
		}
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case text == "":
		case text[0] == '-':
			return "", replyError(text[1:])
		default:
			return text, nil
		}
	}
}

// copyPayload reads the one bulk that carries the RDB file: of a known length,
// or up to a mark where Redis sends it without writing it to disk first.
func copyPayload(w io.Writer, r *bufio.Reader) error {
	line, err := readLine(r)
	if err != nil {
		return err
	}
	if mark, found := strings.CutPrefix(line, "$EOF:"); found {
		if len(mark) != markLength {
			return fmt.Errorf("%w: a mark of %d bytes", errFraming, len(mark))
		}
		return copyToMark(w, r, []byte(mark))
	}
	text, found := strings.CutPrefix(line, "$")
	length, err := strconv.ParseUint(text, 10, 63)
	if !found || err != nil {
		return fmt.Errorf("%w: %.60q where the length should be", errFraming, line)
	}
	if _, err := io.CopyN(w, r, int64(length)); err != nil {
		return fmt.Errorf("reading %d bytes: %w", length, unexpected(err))
	}
	return nil
}

// copyToMark copies what stands before the mark.
func copyToMark(w io.Writer, r io.Reader, mark []byte) error {
	chunk := make([]byte, 64<<10)
	held := 0 // bytes at the start of chunk that may be part of the mark
	for {
		n, err := r.Read(chunk[held:])
		held += n
		if at := bytes.Index(chunk[:held], mark); at >= 0 {
			_, err := w.Write(chunk[:at])
			return err
		}
		if sure := held - (markLength - 1); sure > 0 {
			if _, err := w.Write(chunk[:sure]); err != nil {
				return err
			}
			held = copy(chunk, chunk[sure:held])
		}
		if err != nil {
			return fmt.Errorf("reading up to the mark: %w", unexpected(err))
		}
	}
}

// unexpected makes an end that came too early tell so.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
