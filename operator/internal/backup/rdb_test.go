package backup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// redisCRC is the checksum by the definition, bit by bit.
func redisCRC(data []byte) uint64 {
	const reflected = 0x95AC9329AC4BC9B5
	var crc uint64
	for _, b := range data {
		crc ^= uint64(b)
		for range 8 {
			if crc&1 == 1 {
				crc = crc>>1 ^ reflected
			} else {
				crc >>= 1
			}
		}
	}
	return crc
}

func sealed(body string) []byte {
	data := append([]byte(body), rdbEOF)
	return binary.LittleEndian.AppendUint64(data, redisCRC(data))
}

func TestChecksumIsThatOfRedis(t *testing.T) {
	// The value that Redis's own test of crc64 has.
	if got := redisCRC([]byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("got %016x", got)
	}
	c := newChecker()
	if got := ^crc64.Update(c.crc, c.table, []byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("got %016x from package crc64", got)
	}
}

func TestCheckRDB(t *testing.T) {
	whole := sealed("REDIS0010 some data")
	damaged := bytes.Clone(whole)
	damaged[12] ^= 1
	unsummed := append(bytes.Clone(whole[:len(whole)-8]), make([]byte, 8)...)
	tests := map[string]struct {
		data    []byte
		version int
		summed  bool
		wrong   bool
	}{
		"a whole file":                {data: whole, version: 10, summed: true},
		"the shortest file":           {data: sealed("REDIS0011"), version: 11, summed: true},
		"rdbchecksum no":              {data: unsummed, version: 10},
		"nothing":                     {wrong: true},
		"one bit turned":              {data: damaged, wrong: true},
		"the end is missing":          {data: whole[:len(whole)-1], wrong: true},
		"no mark at the end":          {data: append([]byte("REDIS0010 data"), make([]byte, 9)...), wrong: true},
		"another kind of file":        {data: sealed("RUBIS0010 some data"), wrong: true},
		"a version that is no number": {data: sealed("REDIS00x0 some data"), wrong: true},
		"more after the end":          {data: append(bytes.Clone(whole), 'x'), wrong: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := CheckRDB(bytes.NewReader(tc.data))
			if tc.wrong {
				if !errors.Is(err, ErrRDB) {
					t.Errorf("error is %v, want ErrRDB", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.RDBVersion != tc.version || got.Checksummed != tc.summed || got.Bytes != int64(len(tc.data)) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func FuzzCheckRDB(f *testing.F) {
	f.Add([]byte("REDIS0010 some data"), 3, true)
	f.Add([]byte("REDIS0010"), 1, false)
	f.Fuzz(func(t *testing.T, data []byte, size int, seal bool) {
		if seal {
			data = sealed(string(data))
		}
		whole, wholeErr := CheckRDB(bytes.NewReader(data))
		split := newChecker()
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+(size&31))
			_, _ = split.Write(rest[:n])
			rest = rest[n:]
		}
		got, err := split.Summary()
		if diff := cmp.Diff(whole, got); diff != "" || (err == nil) != (wholeErr == nil) {
			t.Errorf("in pieces (-whole +pieces):\n%s%v, %v", diff, wholeErr, err)
		}
		one, err := CheckRDB(iotest.OneByteReader(bytes.NewReader(data)))
		if one != whole || (err == nil) != (wholeErr == nil) {
			t.Errorf("byte by byte: %+v, %v, want %+v, %v", one, err, whole, wholeErr)
		}
		if wholeErr == nil && whole.Checksummed && redisCRC(data[:len(data)-8]) != binary.LittleEndian.Uint64(data[len(data)-8:]) {
			t.Error("accepted a wrong checksum")
		}
	})
}
