package port_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func refuses(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%s: %v, want that it is refused", address, err)
	}
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A server that stops and comes back to its port, which is held in between.
func TestAServerComesBackToItsPort(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	address := l.Addr().String()
	for range 3 {
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		served, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		served.Close() // first, as a server that stops does
		client.Close()
		l.Close()
		held, err := port.Hold(address)
		if err != nil {
			t.Fatal(err)
		}
		if held.Address() != address {
			t.Errorf("%s is held instead of %s", held.Address(), address)
		}
		refuses(t, address)
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		l = listen(t, address)
	}
	l.Close()
}

// Nobody who asks for any port is given one that is held.
func TestAPortThatIsHeldIsGivenToNobody(t *testing.T) {
	closed := port.Closed(t)
	server := listen(t, "127.0.0.1:0")
	gone := server.Addr().String()
	server.Close()
	port.Keep(t, gone)
	for range 2000 {
		l := listen(t, "127.0.0.1:0")
		if got := l.Addr().String(); got == closed || got == gone {
			t.Errorf("%s is given to another", got)
		}
		l.Close()
	}
	refuses(t, closed)
	refuses(t, gone)
}
