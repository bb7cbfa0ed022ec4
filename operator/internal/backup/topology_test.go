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

func TestShardsAreTheOwnersOfSlots(t *testing.T) {
	got, err := redis.ParseNodes(threeNodes)
	if err != nil {
		t.Fatal(err)
	}
	shards, err := shardsOf(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0-8000,8002", "8001,8003-16383"}, slotsOf(shards)); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	if n := len(shards[0].replicas); n > 0 {
		t.Errorf("%d replicas, want none: the only one has failed", n)
	}
	if address := addressOf(shards[1].primary); address != "[fd00::1]:6379" {
		t.Errorf("address %s", address)
	}
	if diff := cmp.Diff([]int{7, 9000}, moving(got[0])); diff != "" {
		t.Errorf("moving (-want +got):\n%s", diff)
	}
}

func TestMissingSlotsAreNamed(t *testing.T) {
	nodes, err := redis.ParseNodes(strings.NewReplacer(" 8001 ", " ", "-16383", "-16000").Replace(threeNodes))
	if err != nil {
		t.Fatal(err)
	}
	_, err = shardsOf(nodes)
	if !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "8001,16001-16383") {
		t.Errorf("error is %v", err)
	}
}
