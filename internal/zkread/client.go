package zkread

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Config says how an ensemble is reached.
type Config struct {
	Servers []string // host or host:port; the first that answers is asked

	Timeout time.Duration // of one request; zero: DefaultTimeout
	Connect time.Duration // of opening one session; zero: DefaultConnect, or Timeout where that is less
	TLS     *tls.Config   // nil: none

	Dial DialFunc // nil: net.Dialer
}

// DefaultConnect bounds the opening of one session.
const DefaultConnect = 10 * time.Second

// Client asks whichever server of an ensemble answers. It may be used by several
// goroutines. Making one opens no connection.
type Client struct {
	config Config

	turn chan struct{} // held while a session is opened

	mu     sync.Mutex
	conn   *Conn
	failed error // of the last opening
	at     time.Time
	closed bool
}

// again is how long an ensemble of which no server answered is not tried.
const again = time.Second

// NewClient makes a client. The error is a fault of kind Config.
func NewClient(config Config) (*Client, error) {
	if len(config.Servers) == 0 {
		return nil, fault.New(fault.Config, "connect", "no ZooKeeper servers are configured").WithHint("set fluss.zookeeper.servers of the job in the profile")
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Connect <= 0 {
		config.Connect = min(DefaultConnect, config.Timeout)
	}
	config.Servers = slices.Clone(config.Servers)
	return &Client{config: config, turn: make(chan struct{}, 1)}, nil
}

// Close ends the session. Calls that wait end with a fault of kind Cancelled.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// WithoutQuorum reports whether the server that is asked has lost its ensemble, so
// that what it says may be old. It is false before anything was asked.
func (c *Client) WithoutQuorum() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil && c.conn.WithoutQuorum()
}

// Exists is [Conn.Exists].
func (c *Client) Exists(ctx context.Context, path string) (stat Stat, found bool, err error) {
	err = c.with(ctx, func(conn *Conn) error {
		stat, found, err = conn.Exists(ctx, path)
		return err
	})
	return stat, found, err
}

// Get is [Conn.Get].
func (c *Client) Get(ctx context.Context, path string) (data []byte, stat Stat, err error) {
	err = c.with(ctx, func(conn *Conn) error {
		data, stat, err = conn.Get(ctx, path)
		return err
	})
	return data, stat, err
}

// Children is [Conn.Children].
func (c *Client) Children(ctx context.Context, path string) (names []string, err error) {
	err = c.with(ctx, func(conn *Conn) error {
		names, err = conn.Children(ctx, path)
		return err
	})
	return names, err
}

// with asks, and asks once more where the session has ended: reading may be
// repeated.
func (c *Client) with(ctx context.Context, ask func(*Conn) error) error {
	for try := 0; ; try++ {
		conn, err := c.session(ctx)
		if err != nil {
			return err
		}
		err = ask(conn)
		refused, ok := errors.AsType[*Error](err)
		if err == nil || try > 0 || ctx.Err() != nil || !conn.Broken() && !(ok && refused.ended()) {
			return err
		}
		c.mu.Lock()
		if c.conn == conn {
			c.conn = nil
		}
		c.mu.Unlock()
		conn.Close()
	}
}

// session returns the open session, and opens one where there is none.
func (c *Client) session(ctx context.Context) (*Conn, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	conn, failed, at, closed := c.conn, c.failed, c.at, c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return nil, fault.New(fault.Cancelled, "connect", "the client was closed")
	case conn != nil && !conn.Broken():
		return conn, nil
	case failed != nil && time.Since(at) < again:
		return nil, failed
	}
	conn, err := c.dial(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.mu.Lock()
	if closed = c.closed; !closed {
		c.conn, c.failed, c.at = conn, err, time.Now()
	}
	c.mu.Unlock()
	if closed && conn != nil {
		conn.Close()
		return nil, fault.New(fault.Cancelled, "connect", "the client was closed")
	}
	return conn, err
}

// dial tries the servers one after another. One that has a quorum is preferred to
// one that has lost it. The error is that of the first.
func (c *Client) dial(ctx context.Context) (*Conn, error) {
	var alone *Conn
	var first error
	for _, address := range c.config.Servers {
		conn, err := Dial(ctx, address, Options{Timeout: c.config.Connect, TLS: c.config.TLS, Dial: c.config.Dial})
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
		case conn.WithoutQuorum() && alone == nil:
			conn.timeout = c.config.Timeout
			alone = conn
		case conn.WithoutQuorum():
			conn.Close()
		default:
			conn.timeout = c.config.Timeout
			if alone != nil {
				alone.Close()
			}
			return conn, nil
		}
	}
	if alone != nil {
		return alone, nil
	}
	return nil, first
}
