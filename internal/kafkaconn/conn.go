package kafkaconn

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// opConnect is the operation that faults about a connection name.
const opConnect = "connect to Kafka"

// requestRetries bounds how often one request is tried again, 250 ms to 2.5 s
// apart. The request timeout bounds all attempts together.
const requestRetries = 5

// metadataAge is how old kadm's answer about a topic may be, at most: franz-go
// would keep it for 5 s, in which a topic can be deleted and made anew under
// another id. It is the least that franz-go takes. Readers keep the default,
// because for them it is also the pause between attempts.
const metadataAge = 10 * time.Millisecond

// Conn is an open connection to one cluster. It is safe for concurrent use.
type Conn struct {
	config Config
	login  *login // nil: none
	dialer *dialer
	client *kgo.Client
	admin  *kadm.Client
}

// Option changes how Open connects.
type Option func(*Conn)

// WithDial makes every TCP connection with dial: through a tunnel, or to a
// server in this process.
func WithDial(dial DialFunc) Option {
	return func(c *Conn) { c.dialer.tcp = dial }
}

// Open connects and makes sure that the cluster answers and accepts the login.
// The brokers are probed at the same time, so that one that is down costs
// nothing while another answers; when none answers, Open ends after the dial
// timeout at the latest. Fetching the login's secrets comes before that, and is
// bounded by ctx and by whoever fetches. Errors are faults: Config where the profile must be
// changed, Denied where the cluster refuses this user or certificate, else
// Unreachable.
func Open(ctx context.Context, config Config, opts ...Option) (*Conn, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := config.TLS.load(time.Now())
	if err != nil {
		return nil, err
	}
	login, err := config.SASL.login(ctx, config.TLS != nil)
	if err != nil {
		return nil, err
	}
	c := &Conn{
		config: config,
		login:  login,
		dialer: &dialer{
			tcp:     (&net.Dialer{}).DialContext,
			tls:     tlsConfig,
			timeout: config.DialTimeout,
			seeds:   config.Brokers,
		},
	}
	if config.TLS != nil {
		c.dialer.serverName = config.TLS.ServerName
	}
	for _, opt := range opts {
		opt(c)
	}
	if err := c.reach(ctx); err != nil {
		return nil, err
	}
	if c.client, err = c.NewClient(kgo.MetadataMinAge(metadataAge)); err != nil {
		return nil, err
	}
	c.admin = kadm.NewClient(c.client)
	c.admin.SetTimeoutMillis(int32(config.RequestTimeout.Milliseconds()))
	if err := c.Ping(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Client is the client for requests. It consumes nothing.
func (c *Conn) Client() *kgo.Client { return c.client }

// Admin is the admin face of Client.
func (c *Conn) Admin() *kadm.Client { return c.admin }

// RequestTimeout bounds one request with its retries.
func (c *Conn) RequestTimeout() time.Duration { return c.config.RequestTimeout }

// Close closes the connection. Readers and clients made from it have their own
// connections and are closed by whoever made them.
func (c *Conn) Close() { c.client.Close() }

// NewClient makes a further client for the same cluster, with the same login
// and limits. The caller closes it.
func (c *Conn) NewClient(extra ...kgo.Opt) (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.config.Brokers...),
		kgo.ClientID(clientID),
		kgo.Dialer(c.dialer.Dial),
		kgo.RequestTimeoutOverhead(c.config.RequestTimeout),
		kgo.RetryTimeout(c.config.RequestTimeout),
		kgo.RequestRetries(requestRetries),
		kgo.DisableClientMetrics(),
		kgo.MaxDecompressBatchBytes(maxDecompressed),
	}
	if c.login != nil {
		opts = append(opts, kgo.SASL(c.login))
	}
	client, err := kgo.NewClient(append(opts, extra...)...)
	if err != nil {
		return nil, fault.Wrap(fault.Bug, opConnect, plainCause(err), "the Kafka client refuses its settings")
	}
	return client, nil
}

// Ping makes sure that a broker answers now, login included. An error is a
// fault that says what stands in the way.
func (c *Conn) Ping(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, c.config.RequestTimeout)
	defer cancel()
	err := c.client.Ping(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return cancelled(ctx, opConnect)
	default:
		return c.diagnose(ctx, err)
	}
}

// reach probes all brokers at once and returns when one is usable. The usable
// one becomes the first of the client's brokers.
func (c *Conn) reach(ctx context.Context) error {
	findings, usable := c.probeAll(ctx, c.configuredMechanism())
	switch {
	case usable != "":
		c.config.Brokers = firstOf(usable, c.config.Brokers)
		return nil
	case ctx.Err() != nil:
		return cancelled(ctx, opConnect)
	default:
		return c.sentence(findings)
	}
}

// probeAll probes every broker within the dial timeout. It returns as soon as
// one is usable, with that broker's address.
func (c *Conn) probeAll(ctx context.Context, mechanism string) (findings []finding, usable string) {
	ctx, cancel := context.WithTimeout(ctx, c.config.DialTimeout)
	defer cancel()
	results := make(chan finding, len(c.config.Brokers))
	for _, broker := range c.config.Brokers {
		go func() { results <- c.dialer.probe(ctx, broker, mechanism) }()
	}
	for range c.config.Brokers {
		f := <-results
		if f.reason == reasonNone && usable == "" {
			usable = f.broker
			cancel() // the others end at once, and are waited for
		}
		findings = append(findings, f)
	}
	return findings, usable
}

// diagnose explains a request that failed although a broker could be reached.
// A broker that ends the connection without a word is asked again: without a
// login, whether it wanted one; with one, whether it still takes the mechanism,
// so that it was the login that it did not like.
func (c *Conn) diagnose(ctx context.Context, err error) error {
	switch r := reasonOf(err); r {
	case reasonClosed:
		mechanism, meaning := noMechanism, reasonLoginNeeded
		if c.login != nil {
			mechanism, meaning = c.login.Name(), reasonNone
		}
		findings, _ := c.probeAll(ctx, mechanism)
		for _, f := range findings {
			if f.reason != meaning {
				continue
			}
			if f.reason == reasonNone {
				f.reason, f.err = reasonLoginClosed, err
			}
			return c.sentence([]finding{f})
		}
	case reasonCredentials, reasonLoginAnswer, reasonMechanism, reasonNoLogin, reasonCertNeeded, reasonCertRefused:
		return c.sentence([]finding{{broker: c.config.Brokers[0], reason: r, err: err}})
	}
	return c.Explain(err, DescribeCluster)
}

func (c *Conn) configuredMechanism() string {
	if c.login == nil {
		return ""
	}
	return c.login.Name()
}

// firstOf is all with one moved to the front.
func firstOf(one string, all []string) []string {
	out := []string{one}
	for _, s := range all {
		if s != one {
			out = append(out, s)
		}
	}
	return out
}

// cancelled is the fault for a context that ended: Cancelled where somebody
// said stop, Unreachable where its deadline passed.
func cancelled(ctx context.Context, op string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Unreachable, op, ctx.Err(), "no answer from Kafka before the time given was over")
	}
	return fault.Wrap(fault.Cancelled, op, ctx.Err(), "stopped before Kafka answered")
}
