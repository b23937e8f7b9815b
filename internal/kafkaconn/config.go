package kafkaconn

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// The timeouts where the profile names none.
const (
	DefaultDialTimeout    = 10 * time.Second
	DefaultRequestTimeout = 30 * time.Second
)

// clientID is how this program names itself to brokers, in their logs and
// quotas.
const clientID = "recoverctl"

const defaultPort = "9092"

// Config is how to reach one Kafka cluster: a profile's kafka section.
type Config struct {
	Brokers []string // host or host:port; the port is 9092 where none is given
	TLS     *TLS     // nil: plain text
	SASL    *SASL    // nil: no login

	DialTimeout    time.Duration // to connect and hear a first answer; 0: DefaultDialTimeout
	RequestTimeout time.Duration // for one request with its retries; 0: DefaultRequestTimeout
}

// TLS is a profile's kafka.tls section. All fields may be empty.
type TLS struct {
	CAFile     string // PEM; empty: the system's authorities
	CertFile   string // PEM, the client's certificate
	KeyFile    string // PEM, its key
	ServerName string // the name that the broker's certificate must carry; empty: the broker's host
}

// withDefaults returns the configuration with ports and timeouts filled in, or
// a Config fault that names the profile key that is wrong.
func (c Config) withDefaults() (Config, error) {
	if c.DialTimeout < 0 || c.RequestTimeout < 0 {
		return c, fault.New(fault.Config, opConnect, "kafka.timeouts must not be negative")
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = DefaultDialTimeout
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if len(c.Brokers) == 0 {
		return c, fault.New(fault.Config, opConnect, "kafka.brokers names no broker").
			WithHint("give at least one broker as host:port, in the profile or with --brokers")
	}
	seen := map[string]bool{}
	brokers := make([]string, 0, len(c.Brokers))
	for _, text := range c.Brokers {
		addr, err := brokerAddress(text)
		if err != nil {
			return c, err
		}
		if !seen[addr] {
			seen[addr] = true
			brokers = append(brokers, addr)
		}
	}
	c.Brokers = brokers
	return c, nil
}

// brokerAddress is text as host:port.
func brokerAddress(text string) (string, error) {
	text = strings.TrimSpace(text)
	bad := func(why string) error {
		return fault.New(fault.Config, opConnect, "kafka.brokers: \"%s\" is not host:port: %s", safetext.Of(text), why)
	}
	switch {
	case text == "":
		return "", bad("it is empty")
	case strings.Contains(text, "://"):
		return "", bad("leave out what stands before and with ://")
	case strings.ContainsAny(text, ", \t"):
		return "", bad("it holds more than one broker; list each on its own")
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
		if strings.Contains(bare, ":") && net.ParseIP(bare) == nil {
			return "", bad("its colons can't be read")
		}
		host, port = bare, defaultPort
	}
	if host == "" {
		return "", bad("the host is missing")
	}
	if strings.ContainsAny(host, "[]") {
		return "", bad("its brackets can't be read")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", bad("the port must be a number from 1 to 65535")
	}
	return net.JoinHostPort(host, port), nil
}

// readFile reads a file that a profile key names.
func readFile(key, path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.Config, opConnect, plainCause(err), "%s: the file %s can't be read", key, safetext.Of(path)).
			WithRef(fmt.Sprintf("file %s", safetext.Of(path)))
	}
	return content, nil
}
