package objstore

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recoverctl/recoverctl/internal/secret"
)

// What a value is where Config says nothing.
const (
	DefaultTimeout  = 30 * time.Second // of one request, before its body
	DefaultAttempts = 3                // at one request
	defaultRegion   = "us-east-1"      // asked first where nobody names one

	// parallel is how many requests of one client are under way at once.
	parallel = 32
)

// Config says how the objects of one store are reached. The zero Config is the
// public store, as the cloud's own tools reach it.
type Config struct {
	Endpoint  string // http or https; empty: as AWS's tools find it, else the region's own
	Region    string // empty: as AWS's tools find it, else where a bucket says that it is
	PathStyle bool   // the bucket in the path instead of the host name

	// Keys gives the access key, when it is first needed; nil: found as AWS's
	// tools find theirs. Its error is passed on.
	Keys func(context.Context) (Keys, error)

	Timeout  time.Duration // of one request; zero: DefaultTimeout
	Attempts int           // at one request; zero: DefaultAttempts

	// Observe is told of every request's end: nil where the store answered, even
	// that something is not there, else the fault. It may be nil; it must not
	// block.
	Observe func(error)
}

// Keys is an access key.
type Keys struct {
	ID      string
	Secret  secret.Value
	Session secret.Value // of a temporary key; empty: none
}

// Client reads from one store. It may be used by several goroutines.
type Client struct {
	config   Config
	requests atomic.Int64
	bytes    atomic.Int64
	slots    chan struct{} // one is held for each request
	pages    *pages

	setUp chan struct{} // held while the client is set up
	ready atomic.Pointer[ready]

	mu      sync.Mutex
	regions map[string]string // where buckets said that they are
}

// ready is a client that is set up.
type ready struct {
	api       *s3.Client
	transport *http.Transport
	endpoint  string // empty: the region's own
	region    string
}

// New makes a client. It does nothing until it is asked. Close it when it is no
// longer needed.
func New(config Config) *Client {
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Attempts <= 0 {
		config.Attempts = DefaultAttempts
	}
	if config.Observe == nil {
		config.Observe = func(error) {}
	}
	return &Client{
		config: config, slots: make(chan struct{}, parallel), setUp: make(chan struct{}, 1), pages: newPages(),
		regions: map[string]string{},
	}
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	if r := c.ready.Load(); r != nil {
		r.transport.CloseIdleConnections()
	}
}

// Usage is what was asked of a store so far.
type Usage struct {
	Requests int64 // retries too
	Bytes    int64 // of answers' bodies
}

// Usage returns what was asked so far.
func (c *Client) Usage() Usage { return Usage{Requests: c.requests.Load(), Bytes: c.bytes.Load()} }

// ask makes one request within its time and its turn, and explains what went
// wrong. size is how many bytes of body are expected.
func (c *Client) ask(ctx context.Context, about subject, size int64, request func(context.Context, *s3.Client, ...func(*s3.Options)) error) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return c.stopped(ctx, ctx, about)
	}
	err := c.inRegion(ctx, about, size, request)
	if ctx.Err() == nil {
		c.config.Observe(answered(err))
	}
	return err
}

// inRegion asks where the bucket is; where nobody named a region and the bucket
// says another one, there.
func (c *Client) inRegion(ctx context.Context, about subject, size int64, request func(context.Context, *s3.Client, ...func(*s3.Options)) error) error {
	timed, cancel := context.WithTimeout(ctx, c.config.Timeout+time.Duration(size/slowest)*time.Second)
	defer cancel()
	api, err := c.service(timed)
	if err != nil {
		return c.explain(ctx, timed, err, about)
	}
	asked := c.told(about.bucket)
	err = request(timed, api, inside(asked))
	if there := regionOf(err); there != "" && c.config.Region == "" && there != asked {
		c.learn(about.bucket, there)
		err = request(timed, api, inside(there))
	}
	if err != nil {
		return c.explain(ctx, timed, err, about)
	}
	return nil
}

// slowest is how many bytes a second a body must bring.
const slowest = 16 << 10

// inside asks in a region; empty: where everything is asked.
func inside(region string) func(*s3.Options) {
	return func(o *s3.Options) {
		if region != "" {
			o.Region = region
		}
	}
}

// told is the region that the bucket named; empty: none yet.
func (c *Client) told(bucket string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.regions[bucket]
}

// learn keeps a bucket's region.
func (c *Client) learn(bucket, region string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.regions[bucket] = region
}
