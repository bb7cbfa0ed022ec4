package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"strconv"
)

const (
	rdbHeader = 9 // REDIS and four digits
	rdbFooter = 9 // the opcode and eight bytes of checksum
	rdbEOF    = 0xFF
)

// ErrRDB is a file that is no whole RDB file.
var ErrRDB = errors.New("not a whole RDB file")

// Summary is what is known of an RDB file once it has been read.
type Summary struct {
	Bytes      int64
	SHA256     string
	RDBVersion int
	// Checksummed is false where the node writes no checksums: rdbchecksum no.
	Checksummed bool
}

// checker is written an RDB file, and tells at the end whether it was one. It
// holds on to nothing but the ends of it.
type checker struct {
	table  *crc64.Table
	crc    uint64
	sum    hash.Hash
	bytes  int64
	header []byte
	footer []byte
}

func newChecker() *checker {
	// Redis takes the polynomial of Jones, and starts from zero where package
	// crc64 starts from ones: the complement is kept.
	return &checker{table: crc64.MakeTable(0x95AC9329AC4BC9B5), crc: ^uint64(0), sum: sha256.New()}
}

// Write never fails.
func (c *checker) Write(p []byte) (int, error) {
	n := len(p)
	c.bytes += int64(n)
	c.sum.Write(p)
	if missing := rdbHeader - len(c.header); missing > 0 {
		c.header = append(c.header, p[:min(missing, n)]...)
	}
	// The last eight bytes are the checksum, which does not sum up itself.
	c.footer = append(c.footer, p[max(0, n-rdbFooter):]...)
	if skipped := n - rdbFooter; skipped > 0 {
		c.crc = crc64.Update(c.crc, c.table, c.footer[:len(c.footer)-rdbFooter])
		c.crc = crc64.Update(c.crc, c.table, p[:skipped])
	} else if extra := len(c.footer) - rdbFooter; extra > 0 {
		c.crc = crc64.Update(c.crc, c.table, c.footer[:extra])
	}
	if extra := len(c.footer) - rdbFooter; extra > 0 {
		c.footer = append(c.footer[:0], c.footer[extra:]...)
	}
	return n, nil
}

// Summary tells what was written, or why it is no RDB file.
func (c *checker) Summary() (Summary, error) {
	if c.bytes < rdbHeader+rdbFooter || !bytes.HasPrefix(c.header, []byte("REDIS")) {
		return Summary{}, fmt.Errorf("%w: %d bytes that start with %q", ErrRDB, c.bytes, c.header)
	}
	version, err := strconv.ParseUint(string(c.header[5:]), 10, 16)
	if err != nil || version == 0 {
		return Summary{}, fmt.Errorf("%w: version %q", ErrRDB, c.header[5:])
	}
	if c.footer[0] != rdbEOF {
		return Summary{}, fmt.Errorf("%w: the mark at the end is missing", ErrRDB)
	}
	stored := binary.LittleEndian.Uint64(c.footer[1:])
	computed := ^crc64.Update(c.crc, c.table, c.footer[:1])
	if stored != 0 && stored != computed {
		return Summary{}, fmt.Errorf("%w: checksum %016x, but the data have %016x", ErrRDB, stored, computed)
	}
	return Summary{
		Bytes: c.bytes, SHA256: hex.EncodeToString(c.sum.Sum(nil)),
		RDBVersion: int(version), Checksummed: stored != 0,
	}, nil
}

// CheckRDB reads an RDB file to its end. It does not read the values: Redis's
// own checksum and the marks at both ends vouch for them.
func CheckRDB(r io.Reader) (Summary, error) {
	c := newChecker()
	if _, err := io.Copy(c, r); err != nil {
		return Summary{}, fmt.Errorf("reading an RDB file: %w", err)
	}
	return c.Summary()
}
