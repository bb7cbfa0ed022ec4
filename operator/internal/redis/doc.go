// Package redis talks to the nodes of a Redis Cluster: what one of them says of
// itself and of the others, and the commands that change it. It decides
// nothing; package topology does.
package redis
