package backup

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/seatrial/seatrial/operator/internal/redis"
)

// parseNodes reads CLUSTER NODES.
func parseNodes(text string) ([]redis.Node, error) {
	var nodes []redis.Node
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		n, err := parseNode(fields)
		if err != nil {
			return nil, fmt.Errorf("reading the node %.120q: %w", line, err)
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func parseNode(fields []string) (redis.Node, error) {
	if len(fields) < 8 {
		return redis.Node{}, fmt.Errorf("%d fields, want 8 or more", len(fields))
	}
	address, err := parseAddress(fields[1])
	if err != nil {
		return redis.Node{}, err
	}
	flags := strings.Split(fields[2], ",")
	is := func(flag string) bool { return slices.Contains(flags, flag) }
	n := redis.Node{
		ID: fields[0], Address: address, Myself: is("myself"), Primary: is("master"),
		Suspected: is("fail?"), Failed: is("fail"), Handshake: is("handshake"), NoAddress: is("noaddr"),
		Connected: fields[7] == "connected",
	}
	if fields[3] != "-" {
		n.PrimaryID = fields[3]
	}
	for _, field := range fields[8:] {
		if err := parseSlots(&n, field); err != nil {
			return redis.Node{}, err
		}
	}
	return n, nil
}

// parseAddress reads ip:port@bus[,hostname].
func parseAddress(field string) (redis.Address, error) {
	endpoint, _, _ := strings.Cut(field, "@")
	host, port, err := net.SplitHostPort(bracketed(endpoint))
	if err != nil {
		return redis.Address{}, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return redis.Address{}, fmt.Errorf("port %q: %w", port, err)
	}
	return redis.Address{Host: host, Port: int(number)}, nil
}

// bracketed puts an IPv6 address, which Redis writes bare, into brackets.
func bracketed(endpoint string) string {
	at := strings.LastIndexByte(endpoint, ':')
	if at < 0 || !strings.Contains(endpoint[:at], ":") || strings.HasPrefix(endpoint, "[") {
		return endpoint
	}
	return "[" + endpoint[:at] + "]" + endpoint[at:]
}

func parseSlots(n *redis.Node, field string) error {
	if open, found := strings.CutPrefix(field, "["); found {
		return parseOpenSlot(n, strings.TrimSuffix(open, "]"))
	}
	first, last, found := strings.Cut(field, "-")
	if !found {
		last = first
	}
	from, err := parseSlot(first)
	if err != nil {
		return err
	}
	to, err := parseSlot(last)
	if err != nil {
		return err
	}
	if to < from {
		return fmt.Errorf("slots %q end before they start", field)
	}
	n.Ranges = append(n.Ranges, redis.Range{First: from, Last: to})
	return nil
}

func parseOpenSlot(n *redis.Node, open string) error {
	out := true
	text, id, found := strings.Cut(open, "->-")
	if !found {
		out = false
		text, id, found = strings.Cut(open, "-<-")
	}
	slot, err := parseSlot(text)
	if !found || err != nil {
		return fmt.Errorf("open slot %q", open)
	}
	into := &n.Importing
	if out {
		into = &n.Migrating
	}
	if *into == nil {
		*into = map[int]string{}
	}
	(*into)[slot] = id
	return nil
}

func parseSlot(text string) (int, error) {
	slot, err := strconv.ParseUint(text, 10, 16)
	if err != nil || slot >= redis.Slots {
		return 0, fmt.Errorf("slot %q", text)
	}
	return int(slot), nil
}
