package payload

import (
	"compress/gzip"
	"io"
)

// Stream is what a body holds many of.
type Stream int

// The streams.
const (
	// Items of a list, or the rows of a table.
	Items Stream = iota
	// Events of a watch, bookmarks apart.
	Events
)

// Counter counts what a stream holds while it is written to it. It is for one
// goroutine.
type Counter struct {
	scan     scanner
	inflated *io.PipeWriter
	done     chan struct{}
}

// scanner counts in bytes that come in pieces of any size.
type scanner interface {
	// scan looks at the next piece.
	scan(piece []byte)
	// count is how many were complete so far.
	count() int
}

// NewCounter returns a counter for a body of that type and encoding, nil if it
// is none that can be counted.
func NewCounter(s Stream, contentType, contentEncoding string) *Counter {
	c := &Counter{}
	switch mediaType(contentType) {
	case typeJSON:
		c.scan = &jsonScanner{events: s == Events}
	case typeProtobuf:
		if s == Events {
			c.scan = &frameScanner{}
		} else {
			c.scan = &listScanner{}
		}
	default:
		return nil
	}
	switch contentEncoding {
	case "", "identity":
		return c
	case "gzip":
		c.inflate()
		return c
	}
	return nil
}

// inflate puts a decompressor before the scanner. It pulls where the counter
// is pushed, hence the goroutine.
func (c *Counter) inflate() {
	reader, writer := io.Pipe()
	c.inflated, c.done = writer, make(chan struct{})
	go func() {
		defer close(c.done)
		// A stream that is not gzip is not counted; that it goes on is not
		// the counter's business.
		if zipped, err := gzip.NewReader(reader); err == nil {
			_, _ = io.Copy(pieces{c.scan}, zipped) //nolint:gosec // nothing of it is kept
		}
		_, _ = io.Copy(io.Discard, reader)
	}()
}

type pieces struct{ scanner }

// Write implements io.Writer.
func (p pieces) Write(b []byte) (int, error) {
	p.scan(b)
	return len(b), nil
}

// Write takes the next piece of the body. It never fails.
func (c *Counter) Write(piece []byte) (int, error) {
	if c.inflated != nil {
		return c.inflated.Write(piece)
	}
	c.scan.scan(piece)
	return len(piece), nil
}

// Close ends the body and returns the count. A body that was cut short counts
// as far as it came.
func (c *Counter) Close() int {
	if c.inflated != nil {
		_ = c.inflated.Close() // never fails
		<-c.done
	}
	return c.scan.count()
}
