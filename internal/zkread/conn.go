package zkread

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/replies"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// DefaultTimeout bounds one request, and the opening of a session.
const DefaultTimeout = 30 * time.Second

// DefaultPort is where an address without a port leads.
const DefaultPort = "2181"

// sessionTime is the session that is asked for; a server grants what it allows,
// 4 to 40 s by default. Nothing is sent to keep one: who reads again after a pause
// gets a new one.
const sessionTime = 30 * time.Second

// closeTime is how long a session is given to end.
const closeTime = 300 * time.Millisecond

// Options say how a server is reached.
type Options struct {
	Timeout time.Duration // of one request, and of the opening; zero: DefaultTimeout
	TLS     *tls.Config   // nil: none

	Dial DialFunc // nil: net.Dialer
}

// DialFunc opens a connection.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Conn is one session with one server. Requests may be made by several goroutines
// at once. After an error that belongs to the connection every further call fails
// with it.
type Conn struct {
	address string
	timeout time.Duration
	net     net.Conn
	alone   bool

	writing sync.Mutex // held while a frame is written

	calls *replies.Calls[reply]
}

// Dial connects and opens a session. The error is a fault: Unreachable, or
// Unsupported for a server that is not ZooKeeper.
func Dial(ctx context.Context, address string, o Options) (*Conn, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if !strings.Contains(address, ":") {
		address = net.JoinHostPort(address, DefaultPort)
	}
	c := &Conn{address: address, timeout: o.Timeout, calls: replies.New[reply](1)}
	opening, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	nc, err := o.Dial(opening, "tcp", address)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, fault.Wrap(fault.Unreachable, "connect", err, "no ZooKeeper server at %s", safetext.Of(address)).
			WithHint("check fluss.zookeeper.servers of the job: the cluster's own zookeeper.address").WithRef(c.ref())
	}
	c.net = nc
	if o.TLS != nil {
		c.net, err = c.secure(opening, nc, o.TLS)
	}
	if err == nil {
		err = c.open(opening)
	}
	if err != nil {
		_ = nc.Close() // nothing was asked for yet
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, err
	}
	go c.read()
	return c, nil
}

// secure begins TLS.
func (c *Conn) secure(ctx context.Context, nc net.Conn, config *tls.Config) (net.Conn, error) {
	if config.ServerName == "" {
		config = config.Clone()
		if host, _, err := net.SplitHostPort(c.address); err == nil {
			config.ServerName = host
		}
	}
	secured := tls.Client(nc, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nc, fault.Wrap(fault.Unreachable, "connect", err, "no TLS with the ZooKeeper server at %s", safetext.Of(c.address)).
			WithHint("is it the secure client port, and do the certificates of fluss.zookeeper.tls fit?").WithRef(c.ref())
	}
	return secured, nil
}

// open begins the session.
func (c *Conn) open(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) }) // what waits then ends
	defer stop()
	if _, err := c.net.Write(connectFrame(sessionTime)); err != nil {
		return c.lost(err)
	}
	frame, err := ReadFrame(c.net)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return c.unanswered("connect")
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return fault.Wrap(fault.Unreachable, "connect", err, "%s closed the connection without a word", safetext.Of(c.address)).
			WithHint("a ZooKeeper server does so without a quorum, at its limit of connections (maxClientCnxns) and on its TLS port (fluss.zookeeper.tls)").WithRef(c.ref())
	case err != nil:
		return c.lost(err)
	}
	s, err := parseConnect(frame)
	switch {
	case err != nil:
		return c.strange(err)
	case s.id == 0 || s.timeout <= 0:
		return fault.New(fault.Unreachable, "connect", "%s grants no session", safetext.Of(c.address)).WithHint("look at the ZooKeeper server's log").WithRef(c.ref())
	}
	c.alone = s.readOnly
	return nil
}

// Address is where the server is.
func (c *Conn) Address() string { return c.address }

// WithoutQuorum reports whether the server has lost its ensemble: what it says may
// be old.
func (c *Conn) WithoutQuorum() bool { return c.alone }

// Broken reports whether the session can't be used any more.
func (c *Conn) Broken() bool { return c.calls.Err() != nil }

// Exists asks whether a node is there. One that may not be read is still told to be
// there.
func (c *Conn) Exists(ctx context.Context, path string) (Stat, bool, error) {
	body, err := c.ask(ctx, opExists, path)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return Stat{}, false, nil
	}
	if err != nil {
		return Stat{}, false, err
	}
	s, err := parseExists(body)
	if err != nil {
		return Stat{}, false, c.undecodable(path, err)
	}
	return s, true, nil
}

// Get reads a node's data. A node that is not there is a fault of kind NotFound.
func (c *Conn) Get(ctx context.Context, path string) ([]byte, Stat, error) {
	body, err := c.ask(ctx, opGetData, path)
	if err != nil {
		return nil, Stat{}, err
	}
	data, s, err := parseData(body)
	if err != nil {
		return nil, Stat{}, c.undecodable(path, err)
	}
	return data, s, nil
}

// Children are the names of a node's children, in no order. A node that is not
// there is a fault of kind NotFound.
func (c *Conn) Children(ctx context.Context, path string) ([]string, error) {
	body, err := c.ask(ctx, opGetChildren, path)
	if err != nil {
		return nil, err
	}
	names, err := parseChildren(body)
	if err != nil {
		return nil, c.undecodable(path, err)
	}
	return names, nil
}

// Close ends the session. Calls that wait end with a fault of kind Cancelled.
func (c *Conn) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if id, reply, err := c.calls.Begin(); err == nil {
		defer c.calls.Forget(id)
		if c.write(ctx, opClose, requestFrame(id, opClose, "")) == nil {
			_, _, _ = c.calls.Wait(ctx, reply) // the server closes the connection after its answer
		}
	}
	c.end(fault.New(fault.Cancelled, "ask ZooKeeper", "the session with %s was closed", safetext.Of(c.address)))
}

// ask makes one request. The bytes are the caller's.
func (c *Conn) ask(ctx context.Context, o op, path string) ([]byte, error) {
	if err := checkPath(path); err != nil {
		return nil, fault.Wrap(fault.Usage, "ask ZooKeeper", err, "nothing can be asked of this node")
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	id, answer, err := c.calls.Begin()
	if err != nil {
		return nil, err
	}
	defer c.calls.Forget(id)
	if err := c.write(ctx, o, requestFrame(id, o, path)); err != nil {
		return nil, err
	}
	switch got, ok, err := c.calls.Wait(ctx, answer); {
	case err != nil:
		return nil, err
	case ok:
		return c.judged(path, got)
	default:
		return nil, c.givenUp(ctx, o)
	}
}

// givenUp is why a request is not waited for any more.
func (c *Conn) givenUp(ctx context.Context, o op) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return c.unanswered(o.String())
}

func (c *Conn) judged(path string, got reply) ([]byte, error) {
	if got.code != OK {
		return nil, c.refused(path, &Error{Code: got.code})
	}
	return got.body, nil
}

// write sends a frame whole. One that was sent in part ends the connection; one of a
// request that has no time left is not begun.
func (c *Conn) write(ctx context.Context, o op, frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if ctx.Err() != nil {
		return c.givenUp(ctx, o)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.net.SetWriteDeadline(deadline) // a connection that takes no deadline fails at the write
	}
	if _, err := c.net.Write(frame); err != nil {
		c.end(c.lost(err))
		return c.calls.Err() // why it had ended before, if it had
	}
	return nil
}

// read gives every answer to the call that waits for it, until the connection
// ends.
func (c *Conn) read() {
	for {
		frame, err := ReadFrame(c.net)
		if err != nil {
			c.end(c.lost(err))
			return
		}
		got, err := parseReply(frame)
		if err != nil {
			c.end(c.strange(err))
			return
		}
		if !c.calls.Deliver(got.xid, got) {
			c.end(c.strange(fmt.Errorf("it answers request %d, which was not made", got.xid)))
			return
		}
		if got.code.ends() { // before its end, which says less, is read
			c.end(c.shut(&Error{Code: got.code}))
			return
		}
	}
}

// lost is the fault for a connection that ended.
func (c *Conn) lost(err error) error {
	if other, ok := errors.AsType[*NotZooKeeperError](err); ok {
		hint := "the client port of ZooKeeper is 2181 by default; Fluss's own servers listen on others"
		if other.tls() {
			hint = "it speaks TLS there: set fluss.zookeeper.tls of the job, {} for the system's authorities"
		}
		return fault.Wrap(fault.Unsupported, "connect", other, "%s is no ZooKeeper server that is understood", safetext.Of(c.address)).WithHint("%s", hint).WithRef(c.ref())
	}
	return fault.Wrap(fault.Unreachable, "ask ZooKeeper", err, "the connection to ZooKeeper at %s ended", safetext.Of(c.address)).
		WithHint("is the server up? Its log says why it closed the connection").WithRef(c.ref())
}

// strange is the fault of an answer in a form that is not known.
func (c *Conn) strange(err error) error {
	return fault.Wrap(fault.Corrupt, "ask ZooKeeper", err, "%s answers in a form that is not known", safetext.Of(c.address)).
		WithHint("is it a ZooKeeper server?").WithRef(c.ref())
}

func (c *Conn) undecodable(path string, err error) error {
	return fault.Wrap(fault.Corrupt, "ask ZooKeeper", err, "the answer of %s for %s can't be decoded", safetext.Of(c.address), safetext.Of(path)).WithRef(c.ref())
}

// errSilent is within the fault of a request that nobody answered.
var errSilent = errors.New("no answer came")

func (c *Conn) unanswered(what string) error {
	return fault.Wrap(fault.Unreachable, "ask ZooKeeper", errSilent, "%s did not answer %s in %s", safetext.Of(c.address), what, c.timeout).
		WithHint("is it a ZooKeeper server, and up? Look at its log; or raise --timeout").WithRef(c.ref())
}

func (c *Conn) ref() string { return "zookeeper " + safetext.Of(c.address).String() }

// end closes the connection with a reason; the first one stays.
func (c *Conn) end(reason error) {
	if c.calls.End(reason) {
		_ = c.net.Close() // nothing that was read can be lost by it
	}
}
