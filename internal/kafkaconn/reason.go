package kafkaconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
)

// reason is why a broker can't be used.
type reason uint8

// The reasons, from the farthest to the nearest: of several brokers, the one
// that was reached best explains the failure.
const (
	reasonNone            reason = iota // usable
	reasonOther                         // none of those below
	reasonCancelled                     // the caller gave up
	reasonNoHost                        // the name has no address
	reasonRefused                       // nothing listens
	reasonTimeout                       // no TCP connection in time
	reasonUnroutable                    // no way to the host
	reasonClosed                        // closed without an answer
	reasonSilent                        // connected, but never answered
	reasonNotKafka                      // answered, but not as Kafka
	reasonHandshakeClosed               // closed during the TLS handshake
	reasonHandshakeSilent               // never answered the TLS handshake
	reasonHandshake                     // TLS failed for a reason of its own
	reasonPlaintext                     // TLS was tried, the broker speaks plain text
	reasonTLS                           // plain text was tried, the broker speaks TLS
	reasonAuthority                     // the broker's certificate is of an unknown authority
	reasonServerName                    // the broker's certificate is for another name
	reasonServerCert                    // the broker's certificate is expired or not for this use
	reasonCertNeeded                    // the broker wants a client certificate
	reasonCertRefused                   // the broker does not accept the client certificate
	reasonNoLogin                       // a login was tried, the listener has none
	reasonLoginNeeded                   // the listener wants a login
	reasonMechanism                     // the listener does not have the mechanism
	reasonLoginClosed                   // the listener closed the connection during the login
	reasonLoginAnswer                   // the listener's answer does not fit the login
	reasonCredentials                   // wrong user, password, token or key
)

// reasonOf classifies an error of a connection, as far as it can be told from
// the error alone.
func reasonOf(err error) reason {
	var dial *dialError
	var cert *certError
	switch {
	case err == nil:
		return reasonNone
	case errors.As(err, &cert):
		return certReason(cert.err, cert.shown)
	case errors.As(err, new(*answerError)):
		return reasonLoginAnswer
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return reasonCredentials
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return reasonMechanism
	case errors.Is(err, kerr.IllegalSaslState):
		return reasonNoLogin
	case errors.As(err, &dial) && dial.handshake:
		return handshakeReason(dial)
	case errors.As(err, &dial):
		return tcpReason(dial.err)
	case isDial(err):
		return tcpReason(err)
	default:
		return lostReason(err)
	}
}

// tcpReason is why there is no TCP connection.
func tcpReason(err error) reason {
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return reasonCancelled
	case errors.As(err, &dns) && dns.IsTimeout, isTimeout(err):
		return reasonTimeout
	case errors.As(err, &dns):
		return reasonNoHost
	case errors.Is(err, syscall.ECONNREFUSED):
		return reasonRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return reasonUnroutable
	case isClosed(err):
		return reasonClosed
	default:
		return reasonOther
	}
}

// handshakeReason is why TLS could not be set up over a TCP connection.
func handshakeReason(dial *dialError) reason {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		verify    *tls.CertificateVerificationError
		notTLS    tls.RecordHeaderError
	)
	err := dial.err
	switch {
	case errors.Is(err, context.Canceled):
		return reasonCancelled
	case errors.As(err, &authority):
		return reasonAuthority
	case errors.As(err, &name):
		return reasonServerName
	case errors.As(err, &verify):
		return reasonServerCert
	case isTimeout(err):
		return reasonHandshakeSilent
	case dial.asked && (isAlert(err) || isClosed(err)):
		return certReason(err, dial.shown)
	case errors.As(err, &notTLS), isClosed(err):
		return reasonHandshakeClosed
	default:
		return reasonHandshake
	}
}

// certReason is why a broker that asked for a client certificate ended the
// connection.
func certReason(err error, shown bool) reason {
	switch {
	case !isAlert(err) && !isClosed(err):
		return lostReason(err)
	case shown:
		return reasonCertRefused
	default:
		return reasonCertNeeded
	}
}

// lostReason is why a connection that stood is of no use.
func lostReason(err error) reason {
	switch {
	case errors.Is(err, context.Canceled):
		return reasonCancelled
	case isTimeout(err):
		return reasonSilent
	case isClosed(err):
		return reasonClosed
	default:
		return reasonOther
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// isClosed reports whether the other side ended the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// isAlert reports whether the other side ended TLS with an alert. Crypto/tls
// marks these with the operation "remote error".
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
