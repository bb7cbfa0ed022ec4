// Package topology decides what a Redis Cluster needs next. It is given what the
// spec wants and what was observed, and answers with steps. It does no I/O, has
// no clock and remembers nothing: whatever was begun is taken up again from the
// state that the nodes are in.
package topology
