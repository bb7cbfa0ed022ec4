package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Recorder takes in what is seen. It must be safe for concurrent use.
type Recorder interface {
	// Record appends the entry and returns its sequence number. It sets Seq
	// and, where it is zero, Time.
	Record(e Entry) int64
}

// Log is a Recorder that keeps a history in memory and writes it, as JSON lines,
// while it grows: a harness that crashes loses the last 64 KiB.
type Log struct {
	now func() time.Time

	mu      sync.Mutex
	header  Header
	entries []Entry
	w       *bufio.Writer
	lines   *json.Encoder
	err     error
}

// NewLog returns an empty log that writes its header and every entry to w;
// w may be nil. now is the clock.
func NewLog(w io.Writer, header Header, now func() time.Time) *Log {
	header.Schema = Schema
	l := &Log{now: now, header: header}
	if w != nil {
		l.w = bufio.NewWriterSize(w, 1<<16)
		l.lines = json.NewEncoder(l.w)
		l.lines.SetEscapeHTML(false) // objects stay as they were seen
		l.writeLine(header)
	}
	return l
}

// Record implements Recorder.
func (l *Log) Record(e Entry) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Seq = int64(len(l.entries)) + 1
	if e.Time.IsZero() {
		e.Time = l.now()
	}
	l.entries = append(l.entries, e)
	l.writeLine(e)
	return e.Seq
}

// writeLine keeps the first error for Flush: a recorder that cannot write must
// not disturb the trial, but must not hide it either.
func (l *Log) writeLine(v any) {
	if l.w == nil || l.err != nil {
		return
	}
	if err := l.lines.Encode(v); err != nil {
		l.err = fmt.Errorf("writing history: %w", err)
	}
}

// History returns what was recorded so far.
func (l *Log) History() History {
	l.mu.Lock()
	defer l.mu.Unlock()
	return History{Header: l.header, Entries: slices.Clip(l.entries)}
}

// Flush writes out what is buffered and returns the first error of any write.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return nil
	}
	if err := l.w.Flush(); err != nil && l.err == nil {
		l.err = fmt.Errorf("writing history: %w", err)
	}
	return l.err
}

// Load reads a saved history. A last line that was cut short, as a killed
// harness leaves it, ends the history without an error; anything else that is
// not an entry is one, with its line number.
func Load(r io.Reader) (History, error) {
	dec := json.NewDecoder(r)
	var h History
	if err := dec.Decode(&h.Header); err != nil {
		return History{}, fmt.Errorf("reading history header: %w", err)
	}
	if h.Header.Schema != Schema {
		return History{}, fmt.Errorf("history has schema %q: this program reads %q", h.Header.Schema, Schema)
	}
	for line := 2; ; line++ {
		var e Entry
		err := dec.Decode(&e)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return h, nil
		case err != nil:
			return History{}, fmt.Errorf("reading history line %d: %w", line, err)
		case e.Seq <= 0 || len(h.Entries) > 0 && e.Seq <= h.Entries[len(h.Entries)-1].Seq:
			return History{}, fmt.Errorf("reading history line %d: sequence number %d is out of order", line, e.Seq)
		}
		h.Entries = append(h.Entries, e)
	}
}
