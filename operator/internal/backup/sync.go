package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// position is where in the history of a shard an RDB file was taken.
type position struct {
	ReplicationID string
	Offset        int64
}

// stalling is a connection that fails when nothing comes for too long. Redis
// sends an empty line every second or so even while it has nothing to send.
type stalling struct {
	net.Conn
	limit time.Duration
}

func (s stalling) Read(p []byte) (int, error) {
	if err := s.SetReadDeadline(time.Now().Add(s.limit)); err != nil {
		return 0, err
	}
	return s.Conn.Read(p)
}

// fetch asks the node for an RDB file as a replica does.
func fetch(ctx context.Context, address, password string, stall time.Duration, w io.Writer) (position, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	raw, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return position{}, fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = raw.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	conn := stalling{raw, stall}
	at, err := fetchFrom(conn, bufio.NewReaderSize(conn, 64<<10), password, w)
	if ctx.Err() != nil {
		return position{}, context.Cause(ctx)
	}
	return at, err
}

func fetchFrom(conn io.Writer, r *bufio.Reader, password string, w io.Writer) (position, error) {
	if password != "" {
		if _, err := ask(conn, r, "AUTH", password); err != nil {
			return position{}, fmt.Errorf("logging in: %w", err)
		}
	}
	if _, err := ask(conn, r, "REPLCONF", "capa", "eof", "capa", "psync2"); err != nil {
		return position{}, fmt.Errorf("announcing a replica: %w", err)
	}
	// From 7.0 on the node need not keep the writes that follow. An older one
	// does not know the option, and its writes are left unread.
	var refused replyError
	if _, err := ask(conn, r, "REPLCONF", "rdb-only", "1"); err != nil && !errors.As(err, &refused) {
		return position{}, fmt.Errorf("announcing a replica: %w", err)
	}
	line, err := ask(conn, r, "PSYNC", "?", "-1")
	if err != nil {
		return position{}, fmt.Errorf("asking for the data: %w", err)
	}
	at, err := parsePosition(line)
	if err != nil {
		return position{}, err
	}
	return at, copyPayload(w, r)
}

func parsePosition(line string) (position, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != "+FULLRESYNC" {
		return position{}, fmt.Errorf("%w: %.60q in answer to PSYNC", errFraming, line)
	}
	offset, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return position{}, fmt.Errorf("%w: offset %q", errFraming, fields[2])
	}
	return position{ReplicationID: fields[1], Offset: offset}, nil
}

func ask(w io.Writer, r *bufio.Reader, words ...string) (string, error) {
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(w, command.String()); err != nil {
		return "", err
	}
	return readLine(r)
}
