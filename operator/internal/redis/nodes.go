package redis

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Fields of a line of CLUSTER NODES, as redis.io documents them; slots follow.
const (
	fieldID = iota
	fieldAddress
	fieldFlags
	fieldPrimary
	fieldPingSent
	fieldPongReceived
	fieldEpoch
	fieldLink
	leastFields
)

// ParseNodes reads the answer to CLUSTER NODES.
func ParseNodes(text string) ([]Node, error) {
	var nodes []Node
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		node, err := parseNode(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("reading the line '%s' of CLUSTER NODES: %w", line, err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func parseNode(fields []string) (Node, error) {
	if len(fields) < leastFields {
		return Node{}, fmt.Errorf("it has %d fields, at least %d are needed", len(fields), leastFields)
	}
	node := Node{ID: fields[fieldID], Connected: fields[fieldLink] == "connected"}
	var err error
	if node.Address, node.Hostname, err = parseAddress(fields[fieldAddress]); err != nil {
		return Node{}, err
	}
	node.flag(strings.Split(fields[fieldFlags], ","))
	if primary := fields[fieldPrimary]; primary != "-" {
		node.PrimaryID = primary
	}
	if node.ConfigEpoch, err = strconv.ParseInt(fields[fieldEpoch], 10, 64); err != nil {
		return Node{}, fmt.Errorf("reading the config epoch: %w", err)
	}
	if node.Myself {
		node.Connected = true
	}
	return node, node.slots(fields[leastFields:])
}

// flag takes up the flags. One that is not known means nothing here: later
// releases have more.
func (n *Node) flag(flags []string) {
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	n.Myself, n.Primary = has("myself"), has("master")
	n.Suspected, n.Failed = has("fail?"), has("fail")
	n.Handshake, n.NoAddress = has("handshake"), has("noaddr")
}

// parseAddress reads ip:port@cport[,hostname[,…]]. A node whose address is not
// known has an empty one, as in :0@0.
func parseAddress(text string) (Address, string, error) {
	endpoint, rest, _ := strings.Cut(text, ",")
	hostname, _, _ := strings.Cut(rest, ",")
	endpoint, _, _ = strings.Cut(endpoint, "@")
	colon := strings.LastIndexByte(endpoint, ':')
	if colon < 0 {
		return Address{}, "", fmt.Errorf("the address '%s' has no port", text)
	}
	port, err := strconv.ParseUint(endpoint[colon+1:], 10, 16)
	if err != nil {
		return Address{}, "", fmt.Errorf("reading the port of '%s': %w", text, err)
	}
	host := strings.Trim(endpoint[:colon], "[]")
	if host != "" && net.ParseIP(host) == nil {
		return Address{}, "", fmt.Errorf("'%s' must be an IP address", host)
	}
	return Address{Host: host, Port: int(port)}, hostname, nil
}

func (n *Node) slots(fields []string) error {
	for _, field := range fields {
		inner, open := strings.CutPrefix(field, "[")
		if open {
			if err := n.open(strings.TrimSuffix(inner, "]")); err != nil {
				return err
			}
			continue
		}
		r, err := parseRange(field)
		if err != nil {
			return err
		}
		n.Ranges = append(n.Ranges, r)
	}
	return nil
}

// open reads an open slot: 93-<-id on its way in, 77->-id on its way out.
func (n *Node) open(text string) error {
	if slot, id, importing := strings.Cut(text, "-<-"); importing {
		return openSlot(&n.Importing, slot, id)
	}
	if slot, id, migrating := strings.Cut(text, "->-"); migrating {
		return openSlot(&n.Migrating, slot, id)
	}
	return fmt.Errorf("the open slot '%s' has no direction", text)
}

func openSlot(to *map[int]string, text, id string) error {
	slot, err := parseSlot(text)
	if err != nil {
		return err
	}
	if *to == nil {
		*to = map[int]string{}
	}
	(*to)[slot] = id
	return nil
}

func parseRange(text string) (Range, error) {
	first, last, found := strings.Cut(text, "-")
	if !found {
		last = first
	}
	from, err := parseSlot(first)
	if err != nil {
		return Range{}, err
	}
	to, err := parseSlot(last)
	if err != nil {
		return Range{}, err
	}
	if to < from {
		return Range{}, fmt.Errorf("the range of slots '%s' ends before it begins", text)
	}
	return Range{First: from, Last: to}, nil
}

func parseSlot(text string) (int, error) {
	slot, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("reading the slot '%s': %w", text, err)
	}
	if slot < 0 || slot >= Slots {
		return 0, fmt.Errorf("slot %d must be from 0 to %d", slot, Slots-1)
	}
	return slot, nil
}
