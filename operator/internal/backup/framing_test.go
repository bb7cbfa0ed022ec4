package backup

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

var mark = strings.Repeat("0123456789abcdef", 3)[:markLength]

func TestCopyPayload(t *testing.T) {
	tests := map[string]struct {
		sent string
		want string
		err  error
	}{
		"a known length":                {sent: "$5\r\nhello", want: "hello"},
		"empty lines go before":         {sent: "\n\n\n$5\r\nhello", want: "hello"},
		"writes that follow are left":   {sent: "$5\r\nhello*1\r\n$4\r\nPING\r\n", want: "hello"},
		"up to a mark":                  {sent: "\n$EOF:" + mark + "\r\nhello" + mark, want: "hello"},
		"nothing up to a mark":          {sent: "$EOF:" + mark + "\r\n" + mark, want: ""},
		"half a mark is data":           {sent: "$EOF:" + mark + "\r\nhe" + mark[:39] + "llo" + mark, want: "he" + mark[:39] + "llo"},
		"an end before the length":      {sent: "$5\r\nhell", want: "hell", err: io.ErrUnexpectedEOF},
		"an end before the mark":        {sent: "$EOF:" + mark + "\r\nhello" + mark[:39], want: "hello", err: io.ErrUnexpectedEOF},
		"an end before anything":        {sent: "\n\n", err: io.ErrUnexpectedEOF},
		"an error":                      {sent: "-LOADING Redis is loading\r\n", err: replyError("LOADING Redis is loading")},
		"a negative length":             {sent: "$-1\r\n", err: errFraming},
		"a length with a sign":          {sent: "$+5\r\nhello", err: errFraming},
		"no length":                     {sent: "+OK\r\n", err: errFraming},
		"a mark that is too short":      {sent: "$EOF:abc\r\nabc", err: errFraming},
		"a line that never ends":        {sent: strings.Repeat("x", 1<<17), err: errFraming},
		"a length that is out of range": {sent: "$99999999999999999999\r\n", err: errFraming},
	}
	for name, tc := range tests {
		for reading, wrap := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "end with data": iotest.DataErrReader,
		} {
			t.Run(name+", "+reading, func(t *testing.T) {
				var got bytes.Buffer
				err := copyPayload(&got, bufio.NewReaderSize(wrap(strings.NewReader(tc.sent)), 64<<10))
				if !errors.Is(err, tc.err) {
					t.Errorf("error is %v, want %v", err, tc.err)
				}
				if tc.err == nil && got.String() != tc.want {
					t.Errorf("got %q, want %q", got.String(), tc.want)
				}
			})
		}
	}
}

func TestOnlyRefusedAccessIsPermanent(t *testing.T) {
	tests := map[string]struct {
		reply string
		want  bool
	}{
		"a wrong password":         {"WRONGPASS invalid username-password pair", true},
		"no password":              {"NOAUTH Authentication required.", true},
		"no right":                 {"NOPERM this user has no permissions", true},
		"loading":                  {"LOADING Redis is loading the dataset in memory", false},
		"no link to the primary":   {"NOMASTERLINK Can't SYNC while not connected with my master", false},
		"the primary is not there": {"MASTERDOWN Link with MASTER is down", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := permanent(replyError(tc.reply)); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func FuzzCopyPayload(f *testing.F) {
	f.Add([]byte("$5\r\nhello"), []byte("data"))
	f.Add([]byte("\n$EOF:"+mark+"\r\nhello"+mark), []byte(mark[:20]))
	f.Fuzz(func(t *testing.T, sent, data []byte) {
		// Whatever is sent, it ends and gives no more than it got.
		var got bytes.Buffer
		_ = copyPayload(&got, bufio.NewReader(bytes.NewReader(sent)))
		if got.Len() > len(sent) {
			t.Errorf("%d bytes out of %d", got.Len(), len(sent))
		}
		if bytes.Contains(append(bytes.Clone(data), mark[:markLength-1]...), []byte(mark)) {
			t.Skip("the mark stands in the data")
		}
		got.Reset()
		framed := "$EOF:" + mark + "\r\n" + string(data) + mark
		if err := copyPayload(&got, bufio.NewReader(iotest.HalfReader(strings.NewReader(framed)))); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), data) {
			t.Errorf("got %q, want %q", got.Bytes(), data)
		}
	})
}
