package proxy

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/proxy/payload"
	"github.com/seatrial/seatrial/harness/redact"
)

// slow is a recorder that takes an entry when it is told to.
type slow struct{ take chan struct{} }

func (s slow) Record(history.Entry) int64 {
	<-s.take
	return 0
}

func TestRequestsWaitForARecordThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		decoder, err := payload.NewDecoder()
		if err != nil {
			t.Fatal(err)
		}
		recorder := slow{make(chan struct{})}
		r := newRecording(Options{Recorder: recorder, Now: time.Now, Redactor: redact.New()}, decoder)
		body := make([]byte, pendingBytes/4)
		const all = 8
		added := 0
		go func() {
			for range all {
				r.add(&exchange{got: body})
				added++
			}
		}()
		synctest.Wait()
		if added == 0 || added == all {
			t.Errorf("%d of %d were taken over while nothing was recorded: want some, not all", added, all)
		}
		for range all {
			recorder.take <- struct{}{}
		}
		synctest.Wait()
		if added != all {
			t.Errorf("%d of %d were taken over", added, all)
		}
		r.close()
	})
}

func TestARequestIsRecordedSoonThoughNobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		decoder, err := payload.NewDecoder()
		if err != nil {
			t.Fatal(err)
		}
		log := history.NewLog(nil, history.Header{}, time.Now)
		r := newRecording(Options{Recorder: log, Now: time.Now, Redactor: redact.New()}, decoder)
		for n := 1; n <= 3; n++ {
			r.add(&exchange{})
			<-time.After(batchAfter)
			synctest.Wait()
			if got := len(log.History().Entries); got != n {
				t.Errorf("%d are recorded, want %d", got, n)
			}
		}
		r.close()
	})
}

func TestConnectionsThatWereIdleTooLongAreClosed(t *testing.T) {
	for name, then := range map[string]func(*upstream){
		"when one is needed": func(u *upstream) {
			if c := u.reuse(true); c != nil {
				t.Error("it was used")
			}
		},
		"when another gets idle": func(u *upstream) {
			client, _ := net.Pipe()
			u.keep(&connection{upstream: u, raw: client})
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			u := &upstream{now: func() time.Time { return now }}
			client, server := net.Pipe()
			u.keep(&connection{upstream: u, raw: client})
			now = now.Add(idleFor + time.Second)
			then(u)
			// A pipe tells that its other end is closed at any use.
			if err := server.SetReadDeadline(now); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("it was not closed: %v", err)
			}
		})
	}
}
