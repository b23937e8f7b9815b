package kafkaconn

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DialFunc opens a TCP connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer opens connections to brokers, TLS handshake included, each within one
// timeout, and remembers which broker failed how: franz-go replaces some dial
// errors with its own when it retries.
type dialer struct {
	tcp        DialFunc
	tls        *tls.Config // nil: plain text
	serverName string      // empty: the host of each broker
	timeout    time.Duration
	seeds      []string // host:port, as configured

	mu       sync.Mutex
	failures map[string]*dialError // by address; an entry goes when a connection succeeds
}

// dialError is a connection that could not be made.
type dialError struct {
	addr       string
	advertised bool // the address came from the cluster, not from the profile
	handshake  bool // TCP stood, TLS failed
	asked      bool // the broker asked for a client certificate
	shown      bool // and was shown one
	err        error
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// Dial is the dialer of every franz-go client here. An error is a *dialError,
// unless ctx ended.
func (d *dialer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.open(ctx, network, addr)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.failures, addr)
		return conn, nil
	}
	if d.failures == nil {
		d.failures = map[string]*dialError{}
	}
	var failure *dialError
	errors.As(err, &failure)
	d.failures[addr] = failure
	return nil, err
}

// failed is the connections that fail at present, by address.
func (d *dialer) failed() []*dialError {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*dialError
	for _, addr := range slices.Sorted(maps.Keys(d.failures)) {
		out = append(out, d.failures[addr])
	}
	return out
}

func (d *dialer) open(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	failure := &dialError{addr: addr, advertised: !slices.Contains(d.seeds, addr)}
	raw, err := d.tcp(ctx, network, addr)
	if err != nil {
		failure.err = err
		return nil, failure
	}
	if d.tls == nil {
		return raw, nil
	}
	conn := &tlsConn{hasCert: len(d.tls.Certificates) > 0}
	conn.Conn = tls.Client(raw, d.configFor(addr, conn))
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		failure.err, failure.handshake = err, true
		failure.asked, failure.shown = conn.asked.Load(), len(d.tls.Certificates) > 0
		return nil, failure
	}
	return conn, nil
}

// configFor is the TLS configuration for one connection. A client certificate
// is always shown when the broker asks: left to itself, crypto/tls shows none
// that the broker's list of authorities does not name, and the broker then
// complains about a missing certificate instead of a strange one.
func (d *dialer) configFor(addr string, conn *tlsConn) *tls.Config {
	config := d.tls.Clone()
	config.ServerName = d.serverName
	if config.ServerName == "" {
		if host, _, err := net.SplitHostPort(addr); err == nil {
			config.ServerName = host
		}
	}
	certs := config.Certificates
	config.Certificates = nil
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		conn.asked.Store(true)
		if len(certs) == 0 {
			return &tls.Certificate{}, nil
		}
		return &certs[0], nil
	}
	return config
}

// tlsConn knows whether the broker asked for a client certificate. In TLS 1.3
// a broker refuses it only after the handshake, so that the refusal is found
// by the first read.
type tlsConn struct {
	*tls.Conn
	hasCert  bool // there is a client certificate to show
	asked    atomic.Bool
	answered atomic.Bool // something was read
}

func (c *tlsConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.answered.Store(true)
	}
	if err != nil && c.asked.Load() && !c.answered.Load() {
		return n, &certError{c.hasCert, err}
	}
	return n, err
}

// certError is a connection that a broker ended without a word after it asked
// for a client certificate.
type certError struct {
	shown bool // a certificate was shown
	err   error
}

func (e *certError) Error() string { return e.err.Error() }
func (e *certError) Unwrap() error { return e.err }
