// Package port keeps ports of this machine for tests. A port that was let go is
// anybody's: while it is closed another process may listen on it, and then a
// server that is down answers, or one that comes back finds its port taken.
package port

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
)

// Held is a port that refuses every connection and that nobody else is given.
type Held struct {
	socket  int
	address string
}

// Hold keeps the port of an address of IPv4, as in 127.0.0.1:9092, that nobody
// listens on; port 0 stands for a free one. It does so by a socket that is bound to
// the port and never listens.
func Hold(address string) (*Held, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	socket, err := open()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	h := &Held{socket: socket}
	if err := h.bind(at); err != nil {
		return nil, errors.Join(fmt.Errorf("hold the port of %s: %w", address, err), h.Close())
	}
	return h, nil
}

// open is a socket that no process inherits.
func open() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	return socket, err
}

func (h *Held) bind(at netip.AddrPort) error {
	if err := syscall.SetsockoptInt(h.socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(h.socket, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(h.socket)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	bound, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		return errors.New("it has no address of the fourth version")
	}
	h.address = net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(bound.Addr), uint16(bound.Port))).String()
	return nil
}

// Address is the port with its host.
func (h *Held) Address() string { return h.address }

// Close lets the port go, for who listens on it next. It is called once.
func (h *Held) Close() error { return os.NewSyscallError("close", syscall.Close(h.socket)) }

// TB is what of testing.TB is used here.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// Closed is an address that refuses every connection until the test ends.
func Closed(tb TB) (address string) {
	tb.Helper()
	return kept(tb, "127.0.0.1:0")
}

// Keep holds the ports of servers that were just closed, and that don't come back,
// until the test ends.
func Keep(tb TB, addresses ...string) {
	tb.Helper()
	for _, address := range addresses {
		kept(tb, address)
	}
}

func kept(tb TB, address string) string {
	tb.Helper()
	h, err := Hold(address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Fatal(err)
		}
	})
	return h.Address()
}
