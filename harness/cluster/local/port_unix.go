//go:build unix

package local

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// port is a TCP port on loopback that nobody else can take: a socket is bound
// to it without listening, and the server binds to it as well (SO_REUSEPORT).
// Choosing a free port, closing it and hoping is how parallel suites fail.
type port struct {
	number int
	fd     int
}

// holdPort holds the port, or a free one for 0.
func holdPort(number int) (*port, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("holding a port: %w", err)
	}
	unix.CloseOnExec(fd)
	p := &port{fd: fd}
	if err := p.bind(number); err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

func (p *port) bind(number int) error {
	// A port on which somebody listens without sharing it fails to bind here.
	if err := unix.SetsockoptInt(p.fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return fmt.Errorf("holding a port: %w", err)
	}
	err := unix.Bind(p.fd, &unix.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}})
	if errors.Is(err, unix.EADDRINUSE) {
		return fmt.Errorf("port %d on 127.0.0.1 is in use", number)
	}
	if err != nil {
		return fmt.Errorf("holding port %d: %w", number, err)
	}
	address, err := unix.Getsockname(p.fd)
	if err != nil {
		return fmt.Errorf("holding a port: %w", err)
	}
	p.number = address.(*unix.SockaddrInet4).Port
	return nil
}

func (p *port) release() error { return unix.Close(p.fd) }
