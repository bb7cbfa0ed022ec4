package backup

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

const threeNodes = `aaa 10.0.0.1:6379@16379,a.example myself,master - 0 0 1 connected 0-8000 8002 [7->-bbb] [9000-<-bbb]
bbb fd00::1:6379@16379 master - 0 0 2 connected 8001 8003-16383
ccc :0@0 slave,fail,noaddr aaa 0 0 1 disconnected
`

func TestParseNodes(t *testing.T) {
	want := []redis.Node{
		{
			ID: "aaa", Address: redis.Address{Host: "10.0.0.1", Port: 6379}, Myself: true, Primary: true, Connected: true,
			Ranges: []redis.Range{{First: 0, Last: 8000}, {First: 8002, Last: 8002}}, Migrating: map[int]string{7: "bbb"}, Importing: map[int]string{9000: "bbb"},
		},
		{ID: "bbb", Address: redis.Address{Host: "fd00::1", Port: 6379}, Primary: true, Connected: true, Ranges: []redis.Range{{First: 8001, Last: 8001}, {First: 8003, Last: 16383}}},
		{ID: "ccc", PrimaryID: "aaa", Failed: true, NoAddress: true},
	}
	got, err := parseNodes(threeNodes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shards, err := shardsOf(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0-8000,8002", "8001,8003-16383"}, slotsOf(shards)); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{7, 9000}, moving(got[0])); diff != "" {
		t.Errorf("moving (-want +got):\n%s", diff)
	}
}

func TestMissingSlotsAreNamed(t *testing.T) {
	nodes, err := parseNodes(strings.NewReplacer(" 8001 ", " ", "-16383", "-16000").Replace(threeNodes))
	if err != nil {
		t.Fatal(err)
	}
	_, err = shardsOf(nodes)
	if !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "8001,16001-16383") {
		t.Errorf("error is %v", err)
	}
}
