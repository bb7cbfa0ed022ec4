//go:build unix

package proxy

import (
	"net"
	"syscall"
)

// closedByPeer looks, without waiting, whether the other side has closed an
// idle connection. Anything to read on it is a farewell as well.
func closedByPeer(c net.Conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	var peeked error
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, peeked = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err != nil || peeked != syscall.EAGAIN
}
