package process

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
)

const (
	// linesKept is how many of the last lines of a log are kept in memory.
	linesKept = 200
	// lineBytes is how much of a line is kept; the log file has all of it.
	lineBytes = 8 << 10
)

// tail passes a log on to a file, line by line to a hook, and keeps its last
// lines.
type tail struct {
	file   *os.File
	onLine func(string)

	mu    sync.Mutex
	lines []string
	next  int
}

func newTail(file *os.File, onLine func(string)) *tail { return &tail{file: file, onLine: onLine} }

// readFrom reads until the end. A line that is too long is cut.
func (t *tail) readFrom(r io.Reader) {
	if t.file != nil {
		r = io.TeeReader(r, ignoreErrors{t.file})
	}
	reader := bufio.NewReaderSize(r, lineBytes)
	for {
		line, err := reader.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 {
			t.add(string(trimNewline(line)))
		}
		for cut {
			_, err = reader.ReadSlice('\n')
			cut = errors.Is(err, bufio.ErrBufferFull)
		}
		if err != nil {
			return
		}
	}
}

func trimNewline(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

func (t *tail) add(line string) {
	t.mu.Lock()
	if len(t.lines) < linesKept {
		t.lines = append(t.lines, line)
	} else {
		t.lines[t.next] = line
		t.next = (t.next + 1) % linesKept
	}
	t.mu.Unlock()
	if t.onLine != nil {
		t.onLine(line)
	}
}

// last returns the last lines, oldest first, at most n.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ordered := append(append([]string{}, t.lines[t.next:]...), t.lines[:t.next]...)
	return ordered[max(0, len(ordered)-n):]
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// ignoreErrors keeps a full disk from stopping the program whose log it is.
type ignoreErrors struct{ w io.Writer }

func (i ignoreErrors) Write(p []byte) (int, error) {
	_, _ = i.w.Write(p)
	return len(p), nil
}
