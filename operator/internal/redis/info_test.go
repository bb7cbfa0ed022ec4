package redis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseReplication(t *testing.T) {
	tests := map[string]struct {
		text string
		want Replication
	}{
		"a primary with two replicas": {
			"# Replication\r\nrole:master\r\nconnected_slaves:2\r\nslave0:ip=10.0.0.2,port=6379,state=online,offset=14,lag=0\r\n" +
				"slave1:ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0\r\nmaster_repl_offset:15\r\n",
			Replication{Primary: true, Offset: 15, Replicas: []Follower{
				{Address{"10.0.0.2", 6379}, true, 14}, {Address{"10.0.0.3", 6379}, false, 0},
			}},
		},
		"a replica in sync": {
			"role:slave\r\nmaster_link_status:up\r\nmaster_last_io_seconds_ago:3\r\nmaster_sync_in_progress:0\r\nslave_repl_offset:12\r\nmaster_repl_offset:12\r\n",
			Replication{LinkUp: true, Offset: 12, SilentFor: 3 * time.Second},
		},
		"a replica that reads all": {
			"role:slave\r\nmaster_link_status:down\r\nmaster_last_io_seconds_ago:-1\r\nmaster_sync_in_progress:1\r\nslave_repl_offset:0\r\n",
			Replication{Syncing: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseReplication(values(tc.text))
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("error %v, replication (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := parseReplication(map[string]string{"slave_repl_offset": "many"}); err == nil {
		t.Error("an offset that is no number was read")
	}
}
