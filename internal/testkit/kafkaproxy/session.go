package kafkaproxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	// drainLimit is how long a broker may take for what a client that has gone
	// had sent: the trace says what became of it.
	drainLimit = 10 * time.Second
	// leaveLimit is how long a client may take to see that its connection was
	// closed.
	leaveLimit = 2 * time.Second
	// inFlight is how many requests of one connection may wait for an answer
	// before the next one is read.
	inFlight = 1024
)

// session is one connection of a client, with its own to the broker. A broker
// answers the requests of a connection in their order, so three loops are
// enough: requests go to the broker, its answers come in, and each is brought
// to the request that waits first.
type session struct {
	broker           *broker
	client, upstream net.Conn

	pending chan *exchange // closed when the client sends no more
	frames  chan []byte    // from the broker
	gone    chan struct{}  // closed when nothing more comes from the broker
	over    chan struct{}  // closed when nothing is carried any more
	finish  func()         // closes over
}

func newSession(b *broker, client, upstream net.Conn) *session {
	over := make(chan struct{})
	return &session{
		broker: b, client: client, upstream: upstream,
		pending: make(chan *exchange, inFlight), frames: make(chan []byte),
		gone: make(chan struct{}), over: over, finish: sync.OnceFunc(func() { close(over) }),
	}
}

func (s *session) run() {
	ctx := s.broker.proxy.ctx
	stop := context.AfterFunc(ctx, func() {
		s.client.Close()
		s.upstream.Close()
	})
	defer stop()
	defer s.client.Close()
	defer s.upstream.Close()
	var loops sync.WaitGroup
	loops.Go(s.receive)
	loops.Go(func() { s.answer(ctx) })
	s.request(ctx)
	close(s.pending)
	s.limit(s.upstream, drainLimit)
	loops.Wait()
}

// request brings the client's requests to the broker. When nothing is carried
// any more it goes on reading: the trace knows what the client still asked
// for, and closing a connection that is not read would throw away answers that
// are on their way.
func (s *session) request(ctx context.Context) {
	p := s.broker.proxy
	carrying := true
	for {
		frame, err := readFrame(s.client)
		if err != nil {
			s.problem(err)
			return
		}
		h, req, err := parseRequest(frame)
		if err != nil {
			s.problem(err)
			s.push(&exchange{verdict: end})
			return
		}
		carrying = carrying && !s.ended()
		x := p.arrive(s.broker, h, req, carrying)
		if !carrying {
			continue
		}
		x.verdict = x.strike(ctx, BeforeForward)
		forward := x.verdict == proceed && x.answer == nil
		if forward {
			p.mark(&x.trace.Forwarded)
		}
		carrying = s.push(x) && x.verdict == proceed
		if forward && carrying {
			// Where this fails the broker has gone, and its loop ends the others.
			carrying = writeFrame(s.upstream, frame) == nil
		}
	}
}

// push lets a request wait for its answer.
func (s *session) push(x *exchange) bool {
	select {
	case s.pending <- x:
		return true
	case <-s.over:
		return false
	}
}

// receive takes the broker's answers.
func (s *session) receive() {
	defer close(s.gone)
	for {
		frame, err := readFrame(s.upstream)
		if err != nil {
			s.problem(err)
			if !s.ended() {
				s.broker.doubt()
			}
			return
		}
		select {
		case s.frames <- frame:
		case <-s.over:
			return
		}
	}
}

// answer brings the answers to the client, and closes the connection when
// there is nothing more to bring.
func (s *session) answer(ctx context.Context) {
	defer s.shut()
	for {
		select {
		case x, ok := <-s.pending:
			if !ok || !s.settle(ctx, x) {
				return
			}
		case <-s.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// settle brings one answer, and reports whether the connection goes on.
func (s *session) settle(ctx context.Context, x *exchange) bool {
	if x.verdict != proceed {
		return s.stop(x.verdict)
	}
	p := s.broker.proxy
	if x.answer == nil {
		if !x.oneWay {
			select {
			case frame := <-s.frames:
				var err error
				if x.answer, err = p.serve(x, frame); err != nil {
					s.problem(err)
					return false
				}
			case <-s.gone:
				return false
			case <-ctx.Done():
				return false
			}
		}
		if v := x.strike(ctx, AfterForward); v != proceed {
			return s.stop(v)
		}
	}
	if x.answer != nil {
		// Noted first: a client may act on the answer before this loop goes on.
		p.mark(&x.trace.Answered)
		// A client that has gone does not end this: the broker still answers
		// what it had sent.
		_ = writeFrame(s.client, x.answer)
	}
	return s.stop(x.strike(ctx, AfterAnswer))
}

// stop ends the connection as a verdict says, and reports whether it goes on.
// A silent one lasts until the client gives up.
func (s *session) stop(v verdict) bool {
	if v == silence {
		s.finish()
		for range s.pending {
			continue
		}
	}
	return v == proceed
}

// shut tells the client, with everything that was answered before, that
// nothing more comes.
func (s *session) shut() {
	s.finish()
	s.upstream.Close()
	if half, ok := s.client.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // fails where the client has gone already
	}
	s.limit(s.client, leaveLimit)
}

// ended reports whether nothing is carried any more.
func (s *session) ended() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// limit bounds how long is still read from a connection.
func (s *session) limit(conn net.Conn, d time.Duration) {
	if err := conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		conn.Close()
	}
}

// problem reports what no network does.
func (s *session) problem(err error) {
	if errors.Is(err, errFrame) {
		s.broker.proxy.report(err)
	}
}
