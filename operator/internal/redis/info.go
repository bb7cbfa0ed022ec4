package redis

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// values reads the lines key:value of INFO and CLUSTER INFO.
func values(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			found[key] = value
		}
	}
	return found
}

// parseReplication reads INFO replication.
func parseReplication(info map[string]string) (Replication, error) {
	r := Replication{
		Primary: info["role"] == "master",
		LinkUp:  info["master_link_status"] == "up",
		Syncing: info["master_sync_in_progress"] == "1",
	}
	offset := "slave_repl_offset"
	if r.Primary {
		offset = "master_repl_offset"
	}
	var err error
	if r.Offset, err = integer(info, offset); err != nil {
		return Replication{}, err
	}
	silent, err := integer(info, "master_last_io_seconds_ago")
	if err != nil {
		return Replication{}, err
	}
	r.SilentFor = time.Duration(max(silent, 0)) * time.Second
	for i := range len(info) {
		line, found := info["slave"+strconv.Itoa(i)]
		if !found {
			break
		}
		follower, err := parseFollower(line)
		if err != nil {
			return Replication{}, fmt.Errorf("reading slave%d of INFO: %w", i, err)
		}
		r.Replicas = append(r.Replicas, follower)
	}
	return r, nil
}

// parseFollower reads ip=…,port=…,state=online,offset=…,lag=….
func parseFollower(line string) (Follower, error) {
	fields := map[string]string{}
	for field := range strings.SplitSeq(line, ",") {
		key, value, _ := strings.Cut(field, "=")
		fields[key] = value
	}
	port, err := integer(fields, "port")
	if err != nil {
		return Follower{}, err
	}
	offset, err := integer(fields, "offset")
	if err != nil {
		return Follower{}, err
	}
	return Follower{
		Address: Address{Host: fields["ip"], Port: int(port)},
		Online:  fields["state"] == "online",
		Offset:  offset,
	}, nil
}

// integer reads a number; one that is absent is 0.
func integer(fields map[string]string, key string) (int64, error) {
	text, found := fields[key]
	if !found {
		return 0, nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", key, err)
	}
	return number, nil
}
