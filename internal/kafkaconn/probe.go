package kafkaconn

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxProbeResponse bounds what a probe reads: ApiVersions and SaslHandshake
// answers are far below it.
const maxProbeResponse = 1 << 20

// noMechanism is a SASL mechanism that no broker has. A listener with login
// refuses it and names the mechanisms that it has; a listener without login
// says that it expects none.
const noMechanism = "NONE"

// finding is what a probe learned about one broker.
type finding struct {
	broker     string
	reason     reason
	mechanisms []string // of a listener with login, where it named them
	err        error    // what stood in the way; nil with reasonNone
}

// probe asks one broker what it speaks, on connections of its own: first as
// configured, and after a failure that has several causes in the other way.
// It ends when ctx does.
func (d *dialer) probe(ctx context.Context, broker, mechanism string) finding {
	f := finding{broker: broker}
	conn, err := d.open(ctx, "tcp", broker)
	if err != nil {
		f.reason, f.err = reasonOf(err), err
		if f.reason == reasonHandshakeClosed && d.speaksPlain(ctx, broker) {
			f.reason = reasonPlaintext
		}
		return f
	}
	defer conn.Close()
	stop := closeWith(ctx, conn)
	defer stop()

	wire := newWire(conn)
	if _, err := wire.ask(kmsg.NewPtrApiVersionsRequest()); err != nil {
		f.reason, f.err = probeReason(ctx, err), err
		if d.tls == nil && f.reason != reasonSilent && d.speaksTLS(ctx, broker) {
			f.reason = reasonTLS
		}
		return f
	}
	if mechanism == "" {
		return f
	}
	f.reason, f.mechanisms, f.err = wire.handshake(mechanism)
	if f.err != nil && f.reason == reasonNone {
		f.reason = probeReason(ctx, f.err)
	}
	return f
}

// speaksPlain reports whether the broker answers an ApiVersions request that
// is not encrypted.
func (d *dialer) speaksPlain(ctx context.Context, broker string) bool {
	conn, err := d.tcp(ctx, "tcp", broker)
	if err != nil {
		return false
	}
	defer conn.Close()
	stop := closeWith(ctx, conn)
	defer stop()
	_, err = newWire(conn).ask(kmsg.NewPtrApiVersionsRequest())
	return err == nil
}

// speaksTLS reports whether the broker answers a TLS hello with TLS. Nothing
// is sent over the connection, so the certificate need not be checked.
func (d *dialer) speaksTLS(ctx context.Context, broker string) bool {
	raw, err := d.tcp(ctx, "tcp", broker)
	if err != nil {
		return false
	}
	defer raw.Close()
	stop := closeWith(ctx, raw)
	defer stop()
	host, _, err := net.SplitHostPort(broker)
	if err != nil {
		return false
	}
	err = tls.Client(raw, &tls.Config{ServerName: host, InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // see above
	return err == nil || isAlert(err)
}

// closeWith closes conn when ctx ends, until stop is called: a read in
// progress has no other way to learn of it.
func closeWith(ctx context.Context, conn net.Conn) (stop func() bool) {
	if deadline, ok := ctx.Deadline(); ok {
		// A connection that can't take a deadline is closed by ctx all the same.
		_ = conn.SetDeadline(deadline)
	}
	return context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
}

// wire is one connection on which requests are asked one after the other.
type wire struct {
	conn   net.Conn
	in     *bufio.Reader
	format *kmsg.RequestFormatter
	last   int32 // correlation id of the last request
}

func newWire(conn net.Conn) *wire {
	return &wire{conn: conn, in: bufio.NewReader(conn), format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))}
}

// notKafkaError is an answer that no Kafka broker gives.
type notKafkaError struct {
	start []byte // how the answer begins
	why   string
}

func (e *notKafkaError) Error() string {
	return fmt.Sprintf("%s, beginning with %q", e.why, e.start)
}

// ask sends a request in its version and reads the answer. Only requests whose
// response header has no tagged fields may be asked.
func (w *wire) ask(req kmsg.Request) (kmsg.Response, error) {
	w.last++
	if _, err := w.conn.Write(w.format.AppendRequest(nil, req, w.last)); err != nil {
		// A broker that ends a connection without reading from it may have
		// said why: its last words are still to be read.
		if _, readErr := w.in.Peek(1); readErr != nil {
			return nil, readErr
		}
		return nil, err
	}
	head, err := w.in.Peek(8)
	if len(head) > 0 && (len(head) < 8 || !plausible(head, w.last)) {
		return nil, &notKafkaError{start: append([]byte{}, head...), why: "the answer is not Kafka's"}
	}
	if err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head)+4)
	if _, err := io.ReadFull(w.in, body); err != nil {
		return nil, err
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(body[8:]); err != nil {
		return nil, &notKafkaError{start: body[:min(len(body), 16)], why: "the answer can't be decoded"}
	}
	return resp, nil
}

// plausible reports whether head, a length and a correlation id, can begin the
// answer to the request with that id.
func plausible(head []byte, id int32) bool {
	size := binary.BigEndian.Uint32(head)
	return size >= 4 && size <= maxProbeResponse && int32(binary.BigEndian.Uint32(head[4:])) == id
}

// handshake asks for a mechanism. The listener's mechanisms are returned where
// it names them.
func (w *wire) handshake(mechanism string) (reason, []string, error) {
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Version = 1
	req.Mechanism = mechanism
	answer, err := w.ask(req)
	if err != nil {
		return reasonNone, nil, err
	}
	resp := answer.(*kmsg.SASLHandshakeResponse)
	switch err := kerr.ErrorForCode(resp.ErrorCode); {
	case err == nil:
		return reasonNone, resp.SupportedMechanisms, nil
	case errors.Is(err, kerr.UnsupportedSaslMechanism) && mechanism == noMechanism:
		return reasonLoginNeeded, resp.SupportedMechanisms, err
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return reasonMechanism, resp.SupportedMechanisms, err
	case errors.Is(err, kerr.IllegalSaslState):
		return reasonNoLogin, nil, err
	default:
		return reasonOther, nil, err
	}
}

// probeReason is reasonOf for an error after the connection stood. The clock
// decides before the error: a read that ctx ended fails in many ways.
func probeReason(ctx context.Context, err error) reason {
	if ctx.Err() != nil {
		return reasonSilent
	}
	var foreign *notKafkaError
	if errors.As(err, &foreign) {
		return reasonNotKafka
	}
	switch r := reasonOf(err); r {
	case reasonTimeout:
		return reasonSilent
	default:
		return r
	}
}
