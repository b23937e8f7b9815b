package kafkaproxy

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

// recheck is how often a broker that is down is looked for.
const recheck = 20 * time.Millisecond

// broker is one broker and the listener that stands before it.
type broker struct {
	proxy   *Proxy
	address string // its own, host:port
	node    int32  // its id, −1 while not known; guarded by the proxy's lock

	host    string // of the listener
	port    int32
	suspect chan struct{} // filled when a connection to it ended or failed
}

// own is where clients reach it.
func (b *broker) own() string { return net.JoinHostPort(b.host, strconv.Itoa(int(b.port))) }

// accept serves clients until the proxy closes. While the broker is down its
// listener is closed, so that clients are refused as the broker itself would
// refuse them.
func (b *broker) accept(l net.Listener) {
	for l != nil {
		b.listen(l)
		if b.proxy.ctx.Err() != nil {
			return
		}
		held, err := port.Hold(b.own()) // nobody else answers there
		if err != nil {
			b.proxy.report(fmt.Errorf("broker %s is down, and its port was lost: %w", b.address, err))
			return
		}
		l = b.reopen(held)
	}
}

// listen accepts clients until the broker is down or the proxy closes.
func (b *broker) listen(l net.Listener) {
	down := make(chan struct{})
	defer close(down)
	clients := make(chan net.Conn)
	b.proxy.wg.Go(func() {
		defer close(clients)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case clients <- conn:
			case <-down:
				reset(conn)
				return
			}
		}
	})
	defer func() { _ = l.Close() }() // a listener holds nothing that could be lost
	for {
		select {
		case <-b.proxy.ctx.Done():
			return
		case <-b.suspect:
			conn, err := dial(b.proxy.ctx, b.address)
			if err != nil {
				return
			}
			conn.Close()
		case client, ok := <-clients:
			if !ok {
				return
			}
			upstream, err := dial(b.proxy.ctx, b.address)
			if err != nil {
				reset(client)
				return
			}
			s := newSession(b, client, upstream)
			b.proxy.wg.Go(s.run)
		}
	}
}

// reopen waits for the broker to come back and listens again at the same
// address, which is held until then. It returns nil when the proxy closes, or where
// the address is lost.
func (b *broker) reopen(held *port.Held) net.Listener {
	let := sync.OnceValue(held.Close)
	defer func() { _ = let() }() // nothing was written to it
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	for {
		select {
		case <-b.proxy.ctx.Done():
			return nil
		case <-tick.C:
		}
		conn, err := dial(b.proxy.ctx, b.address)
		if err != nil {
			continue
		}
		conn.Close()
		_ = let()
		l, err := listen(b.proxy.ctx, b.own())
		if err != nil {
			b.proxy.report(fmt.Errorf("broker %s is back, and its listener is not: %w", b.address, err))
			return nil
		}
		return l
	}
}

// doubt has the broker looked for: a connection to it ended.
func (b *broker) doubt() {
	select {
	case b.suspect <- struct{}{}:
	default:
	}
}

// reset closes a connection so that its client knows at once that nobody is
// there, and can't take it for a refused login.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // as much as can be done for a connection that ends anyway
	}
	conn.Close()
}
