package flussrpc

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Config says how a cluster is reached.
type Config struct {
	// Servers are client listeners of coordinators or tablet servers, as in
	// host:9123; without a port it is DefaultPort. The others are learned from the
	// first that answers.
	Servers []string

	Timeout  time.Duration // of one request; zero: DefaultTimeout
	Connect  time.Duration // of opening one connection; zero: DefaultConnect, or Timeout where that is less
	Patience time.Duration // how long a bucket is waited for that nobody serves; zero: twice Timeout

	// Login gives the user, when a connection is first opened; nil: the listeners
	// ask for none. Its error is passed on.
	Login func(context.Context) (Login, error)

	// Dial opens a connection; nil: net.Dialer.
	Dial DialFunc
}

// DefaultPort is where a server listens whose configuration says nothing else.
const DefaultPort = "9123"

// DefaultConnect bounds the opening of one connection.
const DefaultConnect = 10 * time.Second

// Client asks the servers of one cluster, each what it alone or best can answer.
// It may be used by several goroutines. Making one opens no connection.
//
// Every call here reads, and so may be asked again: of another server where one
// is gone, of a bucket's new leader where the old one says that it is not any
// more. What a server says of others may be old: with its coordinator gone, a
// tablet server goes on naming dead servers as live.
type Client struct {
	config Config
	asking chan struct{} // held while Login is asked

	mu     sync.Mutex
	closed bool
	login  *Login
	slots  map[string]*slot // by address
	view   view
	routes map[Log]route
}

// slot is the one connection to an address.
type slot struct {
	turn   chan struct{} // held while dialling
	conn   *Conn
	failed error // of the last dialling
	at     time.Time
}

// again is how long a server that could not be connected to is not tried.
const again = time.Second

// NewClient makes a client. The error is a fault of kind Config or Usage.
func NewClient(config Config) (*Client, error) {
	if len(config.Servers) == 0 {
		return nil, fault.New(fault.Config, "connect", "no Fluss servers are configured").
			WithHint("give --fluss HOST:PORT or set fluss.servers of the job in the profile")
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Connect <= 0 {
		config.Connect = min(DefaultConnect, config.Timeout)
	}
	if config.Patience <= 0 {
		config.Patience = 2 * config.Timeout
	}
	config.Servers = slices.Clone(config.Servers)
	for i, s := range config.Servers {
		if !strings.Contains(s, ":") {
			config.Servers[i] = net.JoinHostPort(s, DefaultPort)
		}
	}
	return &Client{config: config, asking: make(chan struct{}, 1), slots: map[string]*slot{}, routes: map[Log]route{}}, nil
}

// Close ends all connections. Calls that wait end with a fault of kind Cancelled.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	var open []*Conn
	for _, s := range c.slots {
		if s.conn != nil {
			open = append(open, s.conn)
		}
	}
	c.mu.Unlock()
	for _, conn := range open {
		conn.Close()
	}
}

// connect returns the connection to an address, and opens it where there is
// none.
func (c *Client) connect(ctx context.Context, address string) (*Conn, error) {
	c.mu.Lock()
	s := c.slots[address]
	if s == nil {
		s = &slot{turn: make(chan struct{}, 1)}
		c.slots[address] = s
	}
	c.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	conn, failed, at := s.conn, s.failed, s.at
	c.mu.Unlock()
	switch {
	case conn != nil && !conn.Broken():
		return conn, nil
	case failed != nil && time.Since(at) < again:
		return nil, failed
	}
	login, err := c.user(ctx)
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, c.config.Connect)
	conn, err = Dial(opening, address, Options{Timeout: c.config.Timeout, Login: login, Dial: c.config.Dial})
	cancel()
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed && err == nil {
		conn.Close()
		err = fault.New(fault.Cancelled, "connect", "the client was closed")
	}
	if err != nil {
		s.conn, s.failed, s.at = nil, err, time.Now()
		return nil, err
	}
	s.conn, s.failed = conn, nil
	return conn, nil
}

// user is the login of this client, asked for once.
func (c *Client) user(ctx context.Context) (*Login, error) {
	if c.config.Login == nil {
		return nil, nil //nolint:nilnil // no login is a value
	}
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	login := c.login
	c.mu.Unlock()
	if login != nil {
		return login, nil
	}
	got, err := c.config.Login(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.login = &got
	return c.login, nil
}

// prefer says which servers are asked first.
type prefer uint8

const (
	anyServer        prefer = iota // one that is connected, else in the order of the configuration
	coordinatorFirst               // it knows first who is dead and who leads
)

// candidates are the addresses to ask, the best first, each once.
func (c *Client) candidates(p prefer) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	add := func(addresses ...string) {
		for _, a := range addresses {
			if a != "" && !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	known := append([]string(nil), c.config.Servers...)
	for _, s := range c.view.tablets {
		known = append(known, s.Address)
	}
	coordinator := ""
	if c.view.coordinator != nil {
		coordinator = c.view.coordinator.Address
	}
	if p == coordinatorFirst {
		add(coordinator)
	}
	for _, connected := range []bool{true, false} {
		for _, a := range known {
			if s := c.slots[a]; (s != nil && s.conn != nil && !s.conn.Broken()) == connected {
				add(a)
			}
		}
	}
	add(coordinator)
	return out
}

// maxSilent is how many servers may be silent before a question is given up: a
// cluster without ZooKeeper is silent as a whole.
const maxSilent = 2

// ask puts a question to one server after another until one answers it. What a
// server refuses for good is not asked of the next.
func (c *Client) ask(ctx context.Context, p prefer, api API, request, answer proto.Message) (*Conn, error) {
	var failed tried
	silent := 0
	for _, address := range c.candidates(p) {
		conn, err := c.connect(ctx, address)
		if err == nil {
			err = conn.Call(ctx, api, request, answer)
		}
		if err == nil {
			return conn, nil
		}
		if ctx.Err() != nil || fault.KindOf(err) == fault.Cancelled {
			return nil, err
		}
		refused, isRefusal := errors.AsType[*Error](err)
		switch {
		case isRefusal && !refused.elsewhere(), !isRefusal && fault.KindOf(err) == fault.Denied, fault.KindOf(err) == fault.Bug, fault.KindOf(err) == fault.Config:
			return nil, err
		case errors.Is(err, errSilent):
			silent++
		}
		failed = append(failed, err)
		if silent == maxSilent {
			break
		}
	}
	return nil, nobody(api, failed, silent == maxSilent)
}

// nobody is the fault where no server answered.
func nobody(api API, failed tried, silent bool) error {
	if len(failed) == 1 {
		return failed[0]
	}
	kind, hint := fault.Unsupported, ""
	var refs []string
	for _, err := range failed {
		f := fault.Of(err)
		if f.Kind != fault.Unsupported {
			kind = fault.Unreachable
		}
		refs = append(refs, f.Refs...)
		hint = f.Hint
	}
	if silent {
		hint = "is ZooKeeper up? Without it Fluss's servers take a request and never answer; or raise --timeout"
	}
	return fault.Wrap(kind, "ask Fluss", failed, "no server of the Fluss cluster answered %s", api).WithHint("%s", hint).WithRef(refs...)
}

// tried are the failures of servers that were asked one after another.
type tried []error

func (t tried) Error() string {
	texts := make([]string, 0, len(t))
	for _, err := range t {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

func (t tried) Unwrap() []error { return t }
