package redis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNodes(t *testing.T) {
	tests := map[string]struct {
		line string
		want Node
	}{
		"a primary with slots": {
			"07c37df 127.0.0.1:30004@31004,host-a,shard-id=1 master - 0 1426238317239 4 connected 0-5460 6000",
			Node{ID: "07c37df", Address: Address{"127.0.0.1", 30004}, Hostname: "host-a", Primary: true, ConfigEpoch: 4, Connected: true, Ranges: []Range{{0, 5460}, {6000, 6000}}},
		},
		"a replica": {
			"67ed2db 10.0.0.2:6379@16379 slave e7d1eec 0 1426238316232 2 connected",
			Node{ID: "67ed2db", Address: Address{"10.0.0.2", 6379}, PrimaryID: "e7d1eec", ConfigEpoch: 2, Connected: true},
		},
		"itself, with open slots": {
			"e7d1eec :6379@16379 myself,master - 0 0 1 connected 0-1 [0->-aaa] [77-<-bbb]",
			Node{ID: "e7d1eec", Address: Address{"", 6379}, Myself: true, Primary: true, ConfigEpoch: 1, Connected: true, Ranges: []Range{{0, 1}}, Migrating: map[int]string{0: "aaa"}, Importing: map[int]string{77: "bbb"}},
		},
		"one that others take for failed": {
			"a 10.0.0.3:6379@16379 master,fail - 1 1 3 disconnected 5",
			Node{ID: "a", Address: Address{"10.0.0.3", 6379}, Primary: true, Failed: true, ConfigEpoch: 3, Ranges: []Range{{5, 5}}},
		},
		"one that it alone does not reach": {
			"a 10.0.0.3:6379@16379 slave,fail? b 1 1 3 disconnected",
			Node{ID: "a", Address: Address{"10.0.0.3", 6379}, PrimaryID: "b", Suspected: true, ConfigEpoch: 3},
		},
		"one that is being met": {
			"a 10.0.0.3:6379@16379 handshake - 1 1 0 disconnected",
			Node{ID: "a", Address: Address{"10.0.0.3", 6379}, Handshake: true},
		},
		"one without address": {
			"a :0@0 master,noaddr - 1 1 7 disconnected",
			Node{ID: "a", Primary: true, NoAddress: true, ConfigEpoch: 7},
		},
		"an address of IPv6": {
			"a fd00::1:6379@16379 master,nofailover,later - 1 1 7 connected",
			Node{ID: "a", Address: Address{"fd00::1", 6379}, Primary: true, ConfigEpoch: 7, Connected: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseNodes("\n" + tc.line + "\n")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Node{tc.want}, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNodesRefuses(t *testing.T) {
	for name, line := range map[string]string{
		"too few fields":               "a 1.2.3.4:1@2 master - 0 0 1",
		"an address without port":      "a 1.2.3.4 master - 0 0 1 connected",
		"a port that is no number":     "a 1.2.3.4:x@2 master - 0 0 1 connected",
		"a name for an address":        "a example.org:1@2 master - 0 0 1 connected",
		"an epoch that is no number":   "a 1.2.3.4:1@2 master - 0 0 x connected",
		"a slot beyond the last":       "a 1.2.3.4:1@2 master - 0 0 1 connected 16384",
		"a range that ends too early":  "a 1.2.3.4:1@2 master - 0 0 1 connected 5-4",
		"an open slot to nowhere":      "a 1.2.3.4:1@2 master - 0 0 1 connected [5]",
		"an open slot that is no slot": "a 1.2.3.4:1@2 master - 0 0 1 connected [x->-b]",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := ParseNodes(line); err == nil {
				t.Errorf("'%s' was read as %+v", line, got)
			}
		})
	}
}

func FuzzParseNodes(f *testing.F) {
	f.Add("07c37df 127.0.0.1:30004@31004,host-a master - 0 1426238317239 4 connected 0-5460 [6000->-a]")
	f.Add("a :0@0 master,noaddr - 1 1 7 disconnected")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := ParseNodes(text)
		if err != nil {
			return
		}
		for _, node := range nodes {
			for _, r := range node.Ranges {
				if r.First < 0 || r.Last >= Slots || r.Len() < 1 {
					t.Errorf("range %v of %q", r, text)
				}
			}
		}
	})
}
