package kafkaproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// maxProblems bounds what is kept of what went wrong: the first say it all.
const maxProblems = 20

// Proxy stands before the brokers of one cluster. It is safe for concurrent
// use.
type Proxy struct {
	ctx   context.Context
	close context.CancelFunc
	wg    sync.WaitGroup
	seeds []*broker

	mu       sync.Mutex
	brokers  map[string]*broker // by the broker's own address
	names    map[kadm.TopicID]string
	faults   []*Fault
	trace    []*Request
	kept     int // bytes of record batches in the trace
	clock    int
	changed  chan struct{} // closed and made anew at every tick
	problems []error
}

// New stands before a cluster of which some brokers are named, as host:port.
// The others are found as a client would find them. The caller closes it.
func New(seeds ...string) (*Proxy, error) {
	if len(seeds) == 0 {
		return nil, errors.New("kafkaproxy: no broker to stand before")
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		ctx: ctx, close: cancel,
		brokers: map[string]*broker{}, names: map[kadm.TopicID]string{}, changed: make(chan struct{}),
	}
	for _, seed := range seeds {
		b, err := p.brokerAt(seed, -1)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.seeds = append(p.seeds, b)
	}
	return p, nil
}

// Start is New for a test: the proxy ends with it. A test in which the proxy
// itself met what it can't read fails.
func Start(t kafkatest.TB, seeds ...string) *Proxy {
	t.Helper()
	p, err := New(seeds...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		p.Close()
		if err := p.Err(); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return p
}

// Brokers is where clients connect, as host:port: one address for each seed.
func (p *Proxy) Brokers() []string {
	out := make([]string, len(p.seeds))
	for i, b := range p.seeds {
		out[i] = b.own()
	}
	return out
}

// Err is what the proxy itself could not do: a frame that is not Kafka's, a
// port that was lost, a trace that is not whole. What the network or a broker
// does to a connection is no such thing, and nor is what a rule does.
func (p *Proxy) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.problems...)
}

// Close ends all connections and waits for everything that runs: a function
// that a rule runs as well, so it must not be called from there.
func (p *Proxy) Close() {
	p.close()
	p.wg.Wait()
}

// report keeps a problem.
func (p *Proxy) report(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problem(err)
}

// problem is report with the lock held.
func (p *Proxy) problem(err error) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, fmt.Errorf("kafkaproxy: %w", err))
	}
}

// brokerAt is the broker with an address of its own; its listener is made when
// it is first seen. A node id of −1 is not known.
func (p *Proxy) brokerAt(address string, node int32) (*broker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.brokers[address]
	if b == nil {
		if p.ctx.Err() != nil {
			return nil, errors.New("kafkaproxy: closed")
		}
		listener, err := listen(p.ctx, "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("kafkaproxy: %w", err)
		}
		at := listener.Addr().(*net.TCPAddr)
		b = &broker{proxy: p, address: address, node: -1, host: at.IP.String(), port: int32(at.Port), suspect: make(chan struct{}, 1)}
		p.brokers[address] = b
		p.wg.Go(func() { b.accept(listener) })
	}
	if node >= 0 {
		b.node = node
	}
	return b, nil
}

// snapshot is a request as it is now.
func (p *Proxy) snapshot(x *exchange) Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return x.trace.clone()
}

// mark notes that something happened to a request now.
func (p *Proxy) mark(place *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*place = p.tick()
}

// exchange is a request on its way.
type exchange struct {
	req     kmsg.Request // nil: not known here
	trace   *Request
	faults  []*Fault
	oneWay  bool   // the broker does not answer it
	answer  []byte // for the client: the broker's, or one that was made up
	verdict verdict
}

// strike lets the faults of a moment do their part.
func (x *exchange) strike(ctx context.Context, when When) verdict {
	for _, f := range x.faults {
		if f.rule.When != when {
			continue
		}
		f.strikes(x)
		if v := f.rule.Do.act(ctx, f, x); v != proceed {
			return v
		}
	}
	return proceed
}

// dialLimit bounds how long a connection to a broker may take.
const dialLimit = 5 * time.Second

func dial(ctx context.Context, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}
