package flussrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/replies"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// DefaultTimeout bounds one request, and the opening of a connection.
const DefaultTimeout = 30 * time.Second

// ServerKind is what a server is.
type ServerKind int32

// The kinds. Unsaid: the server does not tell.
const (
	Unsaid       ServerKind = 0
	Coordinator  ServerKind = 1
	TabletServer ServerKind = 2
)

func (k ServerKind) String() string {
	switch k {
	case Coordinator:
		return "coordinator"
	case TabletServer:
		return "tablet server"
	default:
		return "server"
	}
}

// Login is a user of a SASL/PLAIN listener.
type Login struct {
	Username string
	Password secret.Value
}

// Options say how a server is reached.
type Options struct {
	Timeout time.Duration // of one request, and of the opening; zero: DefaultTimeout
	Login   *Login        // nil: the listener asks for none

	Dial DialFunc // nil: net.Dialer
}

// DialFunc opens a connection.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Conn is one connection to one server. Requests may be made by several
// goroutines at once; the server answers them in any order. After an error that
// belongs to the connection every further call fails with it.
type Conn struct {
	address string
	timeout time.Duration
	net     net.Conn
	kind    atomic.Int32  // a ServerKind; the reading goroutine names the server by it
	serves  map[API]int16 // the version to use

	writing sync.Mutex // held while a frame is written

	calls   *replies.Calls[Answer]
	spoke   bool      // an answer has come; the reading goroutine's
	buffers sync.Pool // of large frames that were let go of
}

// Dial connects, asks what the server serves, and logs in where that is wanted.
// The error is a fault: Unreachable, Denied for a refused login, Unsupported for
// a server that is not Fluss.
func Dial(ctx context.Context, address string, o Options) (*Conn, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	opening, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	nc, err := o.Dial(opening, "tcp", address)
	if err != nil {
		return nil, fault.Wrap(fault.Unreachable, "connect", err, "no Fluss server at %s", safetext.Of(address)).
			WithHint("check the address: a client listener of a coordinator or tablet server, as in host:9123").
			WithRef("fluss " + safetext.Of(address).String())
	}
	c := &Conn{
		address: address, timeout: o.Timeout, net: nc, serves: map[API]int16{APIVersions: 0, APIAuthenticate: 0},
		calls: replies.New[Answer](0),
	}
	go c.read()
	if err := c.shakeHands(opening, o.Login); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Address is where the server is.
func (c *Conn) Address() string { return c.address }

// Kind is what the server says it is.
func (c *Conn) Kind() ServerKind { return ServerKind(c.kind.Load()) }

// Serves reports whether the server says that it answers a call. One that it does
// not serve is never answered.
func (c *Conn) Serves(api API) bool {
	_, ok := c.serves[api]
	return ok
}

// Broken reports whether the connection can't be used any more.
func (c *Conn) Broken() bool { return c.calls.Err() != nil }

// Close ends the connection. Calls that wait end with a fault of kind Cancelled.
func (c *Conn) Close() {
	c.end(fault.New(fault.Cancelled, "ask Fluss", "the connection to %s was closed", safetext.Of(c.address)))
}

// shakeHands learns the server's calls and logs in.
func (c *Conn) shakeHands(ctx context.Context, login *Login) error {
	var versions flusspb.ApiVersionsResponse
	hello := &flusspb.ApiVersionsRequest{ClientSoftwareName: proto.String("recoverctl"), ClientSoftwareVersion: proto.String("1")}
	err := c.Call(ctx, APIVersions, hello, &versions)
	if fault.KindOf(err) == fault.Corrupt { // nothing is known yet that could be damaged
		return fault.Wrap(fault.Unsupported, "connect", errors.Unwrap(err), "%s is no Fluss server: its first answer can't be decoded", safetext.Of(c.address)).
			WithHint(hintElse).WithRef(c.ref())
	}
	if err != nil {
		return err
	}
	c.kind.Store(versions.GetServerType())
	for _, v := range versions.GetApiVersions() {
		// All calls that this package knows have a version 0, and it knows no other.
		if v.GetMinVersion() <= 0 && v.GetMaxVersion() >= 0 {
			c.serves[API(v.GetApiKey())] = 0
		}
	}
	if login == nil {
		return nil
	}
	token := append([]byte{0}, login.Username...)
	token = append(append(token, 0), login.Password.Reveal()...)
	defer clear(token)
	err = c.Call(ctx, APIAuthenticate, &flusspb.AuthenticateRequest{Protocol: proto.String("PLAIN"), Token: token}, &flusspb.AuthenticateResponse{})
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == Authenticate {
		if strings.Contains(refused.Message, "'PLAINTEXT'") {
			return fault.Wrap(fault.Denied, "log in", err, "%s wants no login of user %s", safetext.Of(c.address), safetext.Of(login.Username)).
				WithHint("this listener asks for no login: give the address of the one that does, or leave fluss.username out").WithRef("fluss " + safetext.Of(c.address).String())
		}
		return fault.Wrap(fault.Denied, "log in", err, "%s refused the login of user %s", safetext.Of(c.address), safetext.Of(login.Username)).
			WithHint("check user and password, and that the listener has the mechanism PLAIN").WithRef("fluss " + safetext.Of(c.address).String())
	}
	return err
}

// Call makes one request and decodes its answer. Each call has the connection's
// time limit, and ctx ends it sooner. The error is a fault; a refusal of the
// server is an *Error within it.
func (c *Conn) Call(ctx context.Context, api API, request, answer proto.Message) error {
	got, err := c.callRaw(ctx, api, request)
	if err != nil {
		return err
	}
	defer got.buffer.release() // a message keeps nothing of the bytes that it is decoded from
	if err := proto.Unmarshal(got.Body, answer); err != nil {
		return c.undecodable(api, err)
	}
	return nil
}

// undecodable is the fault of an answer that is none.
func (c *Conn) undecodable(api API, err error) error {
	// The library writes a space of another kind, so that nobody compares its words.
	words := errors.New(strings.ReplaceAll(err.Error(), "\u00a0", " "))
	return fault.Wrap(fault.Corrupt, "ask Fluss", words, "the answer of %s to %s can't be decoded", c.name(), api).
		WithHint("the server is of a release of Fluss that is not known here, or something between it and here changes what it says").WithRef(c.ref())
}

// callRaw is Call without the decoding. The caller holds the buffer of the answer.
func (c *Conn) callRaw(ctx context.Context, api API, request proto.Message) (Answer, error) {
	if !c.Serves(api) {
		return Answer{}, fault.New(fault.Unsupported, "ask Fluss", "%s does not serve %s", c.name(), api).
			WithHint("a %s may, or a newer release of Fluss", map[bool]string{true: "tablet server", false: "coordinator"}[c.Kind() == Coordinator]).WithRef(c.ref())
	}
	got, err := c.roundTrip(ctx, api, request)
	if err == nil && got.Err != nil {
		got.buffer.release() // the error has its own words
		err = c.refused(api, got.Err)
	}
	if err != nil {
		return Answer{}, err
	}
	return got, nil
}

func (c *Conn) roundTrip(ctx context.Context, api API, request proto.Message) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	id, reply, err := c.calls.Begin()
	if err != nil {
		return Answer{}, err
	}
	defer c.calls.Forget(id)
	frame, err := AppendRequest(nil, api, c.serves[api], id, request)
	if err != nil {
		return Answer{}, fault.Wrap(fault.Bug, "ask Fluss", err, "a request could not be made")
	}
	if err := c.write(ctx, api, frame); err != nil {
		return Answer{}, err
	}
	got, ok, err := c.calls.Wait(ctx, reply)
	if err == nil && !ok {
		err = c.unanswered(ctx, api)
	}
	return got, err
}

// write sends a frame whole. One that was sent in part ends the connection: the
// server would take the next one for its rest. One of a call that has no time left
// is not begun.
func (c *Conn) write(ctx context.Context, api API, frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if ctx.Err() != nil {
		return c.unanswered(ctx, api)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.net.SetWriteDeadline(deadline) // a connection that takes no deadline fails at the write
	}
	if _, err := c.net.Write(frame); err != nil {
		c.end(fault.Wrap(fault.Unreachable, "ask Fluss", err, "%s takes no requests", c.name()).WithRef(c.ref()))
		return c.calls.Err() // why it had ended before, if it had
	}
	return nil
}

// errSilent is within the fault of a call that nobody answered.
var errSilent = errors.New("a Fluss server says nothing to a request that it can't serve")

// unanswered is the fault of a call that nobody answered.
func (c *Conn) unanswered(ctx context.Context, api API) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fault.Wrap(fault.Unreachable, "ask Fluss", errSilent, "%s did not answer %s in %s", c.name(), api, c.timeout).
		WithHint("look at the server's log; ZooKeeper may be gone, or the server overloaded; or raise --timeout").WithRef(c.ref())
}

// refused makes the fault of a server's refusal.
func (c *Conn) refused(api API, e *Error) error {
	return refusal(api.String(), e, "%s refused", c.name()).WithRef(c.ref())
}

func (c *Conn) name() string { return fmt.Sprintf("%s %s", c.Kind(), safetext.Of(c.address)) }
func (c *Conn) ref() string  { return "fluss " + safetext.Of(c.address).String() }

// read gives every answer to the call that waits for it, until the connection
// ends.
func (c *Conn) read() {
	for {
		frame, buffer, err := readFrame(c.net, &c.buffers)
		if err != nil {
			c.end(c.lost(err))
			return
		}
		answer, err := ParseAnswer(frame)
		answer.buffer = buffer
		switch {
		case err != nil:
			c.end(fault.Wrap(fault.Corrupt, "ask Fluss", err, "%s answers in a form that is not known", c.name()).WithRef(c.ref()))
			return
		case answer.ID < 0:
			c.end(fault.Wrap(fault.Unreachable, "ask Fluss", answer.Err, "%s gave the connection up", c.name()).WithRef(c.ref()))
			return
		}
		c.spoke = true
		c.calls.Deliver(answer.ID, answer) // or its call gave up waiting
	}
}

// hintElse is what an operator looks at where another server listens.
const hintElse = "Kafka and web servers listen on other ports; a Fluss client listener is 9123 by default"

// lost is the fault for a connection that ended.
func (c *Conn) lost(err error) error {
	if other, ok := errors.AsType[*NotFlussError](err); ok {
		return fault.Wrap(fault.Unsupported, "connect", other, "%s is no Fluss server", safetext.Of(c.address)).
			WithHint(hintElse).WithRef(c.ref())
	}
	if !c.spoke && errors.Is(err, io.EOF) {
		return fault.Wrap(fault.Unreachable, "connect", err, "%s closed the connection without an answer", c.name()).
			WithHint("a server that is not Fluss does so, such as a Kafka broker, and one that shuts down. " + hintElse).WithRef(c.ref())
	}
	return fault.Wrap(fault.Unreachable, "ask Fluss", err, "the connection to %s ended", c.name()).
		WithHint("is the server up? Its log says why it closed the connection").WithRef(c.ref())
}

// end closes the connection with a reason; the first one stays.
func (c *Conn) end(reason error) {
	if c.calls.End(reason) {
		_ = c.net.Close() // nothing that was read or written can be lost by it
	}
}
