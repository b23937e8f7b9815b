package kafkaconn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// sentence makes the fault for brokers of which none is usable: one sentence
// about the one that was reached best, the others in brackets after it.
func (c *Conn) sentence(findings []finding) error {
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b finding) int { return int(b.reason) - int(a.reason) })
	best := findings[0]
	message, hint, kind := c.explainReason(best)
	if rest := findings[1:]; len(rest) > 0 {
		others := make([]string, 0, len(rest))
		for _, f := range rest {
			others = append(others, fmt.Sprintf("%s %s", safetext.Of(f.broker), short(f.reason)))
		}
		message += " (of the others, " + strings.Join(others, ", ") + ")"
	}
	out := fault.New(kind, opConnect, "%s", message).WithHint("%s", hint)
	if best.err != nil && !saysItAll(best.reason) {
		out.Err = plainCause(best.err)
	}
	for _, f := range findings {
		out = out.WithRef("broker " + safetext.Of(f.broker).String())
	}
	return out
}

// saysItAll reports whether a reason was found by asking the broker in another
// way, so that the first error explains nothing.
func saysItAll(r reason) bool {
	return r == reasonTLS || r == reasonPlaintext || r == reasonLoginNeeded
}

// explainReason is the sentence for one broker: what happened, what to change,
// and what kind of failure it is.
func (c *Conn) explainReason(f finding) (message, hint string, kind fault.Kind) {
	broker := "broker " + safetext.Of(f.broker).String()
	switch f.reason {
	case reasonNoHost:
		return broker + " could not be reached, its host name has no address",
			"check the name in kafka.brokers, and this machine's DNS", fault.Unreachable
	case reasonRefused:
		return broker + " refused the connection, nothing listens on its port",
			"check the port in kafka.brokers, and whether the broker runs", fault.Unreachable
	case reasonTimeout:
		return fmt.Sprintf("%s did not accept a connection within %s", broker, c.config.DialTimeout),
			"check the address in kafka.brokers, and firewalls on the way; kafka.timeouts.dial is the limit", fault.Unreachable
	case reasonUnroutable:
		return broker + " could not be reached, there is no way to its network",
			"check the address in kafka.brokers, and whether a VPN is needed", fault.Unreachable
	case reasonClosed:
		return c.closedSentence(broker)
	case reasonSilent, reasonHandshakeSilent:
		return fmt.Sprintf("%s accepted the connection but did not answer within %s", broker, c.config.DialTimeout),
			"check that kafka.brokers names a Kafka listener; a broker that starts or is overloaded answers later", fault.Unreachable
	case reasonNotKafka:
		return broker + " answered with something that is not Kafka's protocol",
			"check the port in kafka.brokers", fault.Config
	case reasonHandshakeClosed:
		return broker + " ended the TLS handshake and speaks no plain text either",
			"check that kafka.brokers names a Kafka listener", fault.Unreachable
	case reasonHandshake:
		return "the TLS handshake with " + broker + " failed",
			"check kafka.tls against the listener's settings (versions and ciphers)", fault.Config
	case reasonPlaintext:
		return broker + " speaks plain text, but the profile has kafka.tls",
			"remove kafka.tls from the profile, or give kafka.brokers the port of the TLS listener", fault.Config
	case reasonTLS:
		return broker + " speaks TLS, but the profile has no kafka.tls",
			"add kafka.tls to the profile (tls: {} trusts the system's authorities), or give kafka.brokers the port of the plain listener", fault.Config
	default:
		return c.refusalSentence(broker, f)
	}
}

// refusalSentence is for a broker that was reached and that this side, or that
// side, does not accept.
func (c *Conn) refusalSentence(broker string, f finding) (message, hint string, kind fault.Kind) {
	switch f.reason {
	case reasonAuthority:
		return "the certificate of " + broker + " was signed by an authority that this machine does not know",
			"set kafka.tls.ca-file to the authority's certificate (PEM)", fault.Config
	case reasonServerName:
		return "the certificate of " + broker + " is for another host name",
			"set kafka.tls.server-name to a name in the certificate, or use that name in kafka.brokers", fault.Config
	case reasonServerCert:
		return "the certificate of " + broker + " is not valid",
			"renew the broker's certificate, or check this machine's clock", fault.Config
	case reasonCertNeeded:
		return broker + " requires a client certificate, and the profile has none",
			"set kafka.tls.cert-file and kafka.tls.key-file", fault.Config
	case reasonCertRefused:
		return broker + " did not accept the client certificate",
			"check that kafka.tls.cert-file was signed by an authority that the broker trusts and has not expired", fault.Denied
	case reasonNoLogin:
		return broker + " has a listener without login, but the profile has kafka.sasl",
			"remove kafka.sasl from the profile, or give kafka.brokers the port of the listener with login", fault.Config
	case reasonLoginNeeded:
		return broker + " requires a login" + offers(f.mechanisms) + ", and the profile has no kafka.sasl",
			"set kafka.sasl (mechanism, and what that needs)", fault.Config
	case reasonMechanism:
		return fmt.Sprintf("%s does not offer the mechanism %s%s", broker, c.configuredMechanism(), offers(f.mechanisms)),
			"set kafka.sasl.mechanism to one that the listener offers", fault.Config
	case reasonLoginClosed:
		return broker + " closed the connection during " + c.login.offered(),
			"some listeners refuse a login so: " + c.login.advice(), fault.Denied
	case reasonLoginAnswer:
		return broker + " gave an answer that does not fit during " + c.login.offered(),
			"check that kafka.brokers names the right cluster; " + c.login.advice(), fault.Denied
	case reasonCredentials:
		return broker + " refused " + c.login.offered(), c.login.advice(), fault.Denied
	default:
		return broker + " can't be used", "see the cause", fault.Unreachable
	}
}

// closedSentence is for a broker that ended the connection without a word. A
// listener that is older than SASL's own errors answers a wrong password so.
func (c *Conn) closedSentence(broker string) (message, hint string, kind fault.Kind) {
	if c.login != nil {
		return broker + " closed the connection without an answer",
			"check kafka.sasl (some listeners close the connection on a wrong password), and that kafka.brokers names a Kafka listener", fault.Unreachable
	}
	return broker + " closed the connection without an answer",
		"check that kafka.brokers names a Kafka listener, and that the broker has finished starting", fault.Unreachable
}

// offers lists a listener's mechanisms for a sentence.
func offers(mechanisms []string) string {
	if len(mechanisms) == 0 {
		return ""
	}
	return " (it offers " + safetext.Of(strings.ToLower(strings.Join(mechanisms, ", "))).String() + ")"
}

// short is a reason in a few words, for a list of brokers.
func short(r reason) string {
	switch r {
	case reasonNoHost:
		return "has no address"
	case reasonRefused:
		return "refused the connection"
	case reasonTimeout:
		return "did not accept a connection"
	case reasonUnroutable:
		return "has no way to it"
	case reasonClosed:
		return "closed the connection"
	case reasonSilent, reasonHandshakeSilent:
		return "did not answer"
	case reasonNotKafka:
		return "does not speak Kafka's protocol"
	case reasonPlaintext:
		return "speaks plain text"
	case reasonTLS:
		return "speaks TLS"
	case reasonHandshakeClosed, reasonHandshake, reasonAuthority, reasonServerName, reasonServerCert:
		return "failed in TLS"
	case reasonCertNeeded, reasonCertRefused:
		return "did not accept the client's certificate"
	case reasonNoLogin, reasonLoginNeeded, reasonMechanism, reasonLoginClosed, reasonLoginAnswer, reasonCredentials:
		return "did not accept the login"
	default:
		return "failed"
	}
}
