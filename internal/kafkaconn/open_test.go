package kafkaconn_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

// What a server that is not a usable Kafka broker makes of a connection, and
// the sentence that an operator reads. Every case ends well before the request
// timeout: no case waits longer than the dial timeout.
func TestAnUnusableBrokerIsNamedInOneSentence(t *testing.T) {
	const dial, patient = 400 * time.Millisecond, time.Minute
	withTLS := &kafkaconn.TLS{}
	login := &kafkaconn.SASL{Mechanism: "plain", Username: "ops", Password: secret.New("hunter2")}
	tests := map[string]struct {
		server  func(net.Conn)
		tls     *kafkaconn.TLS
		sasl    *kafkaconn.SASL
		kind    fault.Kind
		message string
		hint    string
	}{
		"it closes every connection at once": {
			server: func(net.Conn) {}, kind: fault.Unreachable,
			message: "closed the connection without an answer", hint: "kafka.brokers",
		},
		"it closes at once, and a login is configured": {
			server: func(net.Conn) {}, sasl: login, kind: fault.Unreachable,
			message: "closed the connection without an answer", hint: "kafka.sasl",
		},
		"it never answers": {
			server: readForever, kind: fault.Unreachable,
			message: "accepted the connection but did not answer within 400ms", hint: "kafka.brokers",
		},
		"it never answers a TLS hello": {
			server: readForever, tls: withTLS, kind: fault.Unreachable,
			message: "accepted the connection but did not answer within 400ms", hint: "kafka.brokers",
		},
		"it speaks HTTP": {
			server: say("HTTP/1.1 400 Bad Request\r\n\r\n"), kind: fault.Config,
			message: "answered with something that is not Kafka's protocol", hint: "the port in kafka.brokers",
		},
		"it speaks HTTP, TLS is configured": {
			server: say("HTTP/1.1 400 Bad Request\r\n\r\n"), tls: withTLS, kind: fault.Unreachable,
			message: "ended the TLS handshake and speaks no plain text either", hint: "kafka.brokers",
		},
		"it answers half a length": {
			server: say("\x00\x00"), kind: fault.Config,
			message: "not Kafka's protocol", hint: "kafka.brokers",
		},
		"it promises two gigabytes": {
			server: say("\x7f\xff\xff\xff\x00\x00\x00\x01"), kind: fault.Config,
			message: "not Kafka's protocol", hint: "kafka.brokers",
		},
		"it speaks TLS": {
			server: speakTLS(t), kind: fault.Config,
			message: "speaks TLS, but the profile has no kafka.tls", hint: "add kafka.tls",
		},
		"its certificate is of an unknown authority": {
			server: speakTLS(t), tls: withTLS, kind: fault.Config,
			message: "an authority that this machine does not know", hint: "kafka.tls.ca-file",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := listen(t, tt.server)
			limit := patient
			if strings.Contains(tt.message, dial.String()) { // what never comes is waited for
				limit = dial
			}
			began := time.Now()
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{
				Brokers: []string{addr}, TLS: tt.tls, SASL: tt.sasl,
				DialTimeout: limit, RequestTimeout: patient,
			})
			wantFault(t, err, tt.kind, tt.message, tt.hint)
			if took := time.Since(began); took > patient/2 {
				t.Errorf("it took %s with a dial timeout of %s", took, limit)
			}
			if !strings.Contains(err.Error(), addr) {
				t.Errorf("%q does not name the broker %s", err, addr)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

func TestEveryBrokerThatWasTriedIsNamed(t *testing.T) {
	refused := port.Closed(t)
	closes := listen(t, func(net.Conn) {})
	_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{
		Brokers:     []string{refused, "no-such-host.invalid:9092", closes},
		DialTimeout: time.Minute,
	}, kafkaconn.WithDial(noSuchHost))
	f := wantFault(t, err, fault.Unreachable, closes+" closed the connection", "kafka.brokers")
	for _, want := range []string{refused + " refused the connection", "no-such-host.invalid:9092 has no address"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("message %q lacks %q", f.Message, want)
		}
	}
	if len(f.Refs) != 3 {
		t.Errorf("refs %q, want the three brokers", f.Refs)
	}
}

func TestOneBrokerThatFails(t *testing.T) {
	refused := port.Closed(t)
	tests := map[string]struct {
		broker  string
		dial    kafkaconn.DialFunc
		message string
	}{
		"nothing listens":         {refused, (&net.Dialer{}).DialContext, "refused the connection"},
		"the name has no address": {"no-such-host.invalid", noSuchHost, "no-such-host.invalid:9092 could not be reached, its host name has no address"},
		"packets are dropped":     {"192.0.2.1:9092", dropped, "did not accept a connection within 300ms"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{
				Brokers: []string{tt.broker}, DialTimeout: 300 * time.Millisecond,
			}, kafkaconn.WithDial(tt.dial))
			wantFault(t, err, fault.Unreachable, tt.message, "kafka.brokers")
			if took := time.Since(began); took > kafkaconn.DefaultRequestTimeout/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	addr := listen(t, readForever)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	_, err := kafkaconn.Open(ctx, kafkaconn.Config{Brokers: []string{addr}, DialTimeout: time.Minute, RequestTimeout: time.Minute})
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("kind %s, want cancelled: %v", fault.KindOf(err), err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// wantFault checks a fault's kind, message and hint, and that its text is one
// printable line.
func wantFault(t *testing.T, err error, kind fault.Kind, message, hint string) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("no fault: %v", err)
	}
	if f.Kind != kind {
		t.Errorf("kind %s, want %s", f.Kind, kind)
	}
	if !strings.Contains(f.Message, message) {
		t.Errorf("message %q lacks %q", f.Message, message)
	}
	if !strings.Contains(f.Hint, hint) {
		t.Errorf("hint %q lacks %q", f.Hint, hint)
	}
	for _, text := range []string{f.Error(), f.Hint} {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q holds a control character", text)
		}
	}
	return f
}

// listen serves every connection with serve and returns the address.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		conns []net.Conn
	)
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			wg.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return listener.Addr().String()
}

// readForever swallows what comes until the other side ends.
func readForever(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// say waits for the first bytes and answers with text.
func say(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			_, _ = io.WriteString(conn, text)
		}
	}
}

// speakTLS shows a certificate of its own making.
func speakTLS(t *testing.T) func(net.Conn) {
	t.Helper()
	cert, err := tls.X509KeyPair(selfSigned(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	return func(conn net.Conn) {
		server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}})
		if server.Handshake() == nil {
			readForever(server)
		}
	}
}

// selfSigned makes a certificate for localhost and its key, as PEM.
func selfSigned(t *testing.T, from, to time.Time) (certPEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: from, NotAfter: to, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// write makes a file in a folder that goes with the test.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// noSuchHost dials, but knows no names: a test must not depend on what a
// network's DNS makes of a name that does not exist.
func noSuchHost(ctx context.Context, network, addr string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(addr); net.ParseIP(host) == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

// dropped is a network that swallows every packet.
func dropped(ctx context.Context, network, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
}

// refuse is a network where nothing listens.
func refuse(_ context.Context, network, _ string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// droppedDocumentationNet is a network that swallows what goes to 192.0.2.0/24.
func droppedDocumentationNet(ctx context.Context, network, addr string) (net.Conn, error) {
	if strings.HasPrefix(addr, "192.0.2.") {
		return dropped(ctx, network, addr)
	}
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}
