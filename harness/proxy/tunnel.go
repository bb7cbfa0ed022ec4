package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// tunnel passes on, byte by byte, a connection that has switched protocols,
// until either side ends it.
func (p *Proxy) tunnel(x *exchange, w http.ResponseWriter, r *http.Request, response *http.Response) error {
	server, ok := response.Body.(io.ReadWriteCloser)
	if !ok {
		return errors.New("the response switched protocols, but its body cannot be written to")
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("%w: %w", errClient, err)
	}
	defer client.Close()
	x.request.Response.Code = response.StatusCode
	if err := switchProtocols(buffered, response); err != nil {
		return fmt.Errorf("%w: %w", errClient, err)
	}
	unbind := context.AfterFunc(r.Context(), func() { _ = client.Close() })
	defer unbind()
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(server, buffered) // an error is an end like any other
		ended <- struct{}{}
	}()
	go func() {
		x.request.Response.BodyBytes, _ = io.Copy(client, server)
		ended <- struct{}{}
	}()
	<-ended
	_, _ = client.Close(), server.Close()
	<-ended
	if p.closing.Err() != nil {
		x.request.Response.Error = endedByClose
	}
	return nil
}

// switchProtocols tells the client that its connection is now the protocol's.
func switchProtocols(w interface {
	io.StringWriter
	io.Writer
	Flush() error
}, response *http.Response,
) error {
	head := http.Header{"Connection": {"Upgrade"}, "Upgrade": response.Header["Upgrade"]}
	copyHead(head, response.Header)
	if _, err := w.WriteString("HTTP/1.1 101 Switching Protocols\r\n"); err != nil {
		return err
	}
	if err := head.Write(w); err != nil {
		return err
	}
	if _, err := w.WriteString("\r\n"); err != nil {
		return err
	}
	return w.Flush()
}
