package flinkrest

import (
	"context"
	"crypto/tls"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// DefaultMaxBytes is the largest answer that is read. One stack trace can hold a
// whole record, and a history thousands of checkpoints.
const DefaultMaxBytes = 16 << 20

const op = "ask Flink"

// service is how a hint names what should have answered.
const service = "the REST port of a Flink JobManager"

// Options say how to reach a JobManager.
type Options struct {
	Address  string        // as in http://jobmanager:8081; a path before Flink's own is kept
	MaxBytes int64         // of one answer; zero: DefaultMaxBytes
	Timeout  time.Duration // of one request; zero: httpread.DefaultTimeout
	TLS      *tls.Config   // nil: the system's certificates

	Username string       // with Password: basic authentication
	Password secret.Value //
	Token    secret.Value // bearer token; goes before a user name
}

// Client asks one JobManager. It may be used by several goroutines. Its methods
// return httpread's faults.
type Client struct {
	base string
	http *httpread.Client
}

// New makes a Client and asks nothing yet. An address that can't be one is a
// fault of kind Config. Close the client when it is no longer needed.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.Address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		// The parser's message repeats the address, which may hold a password.
		return nil, fault.New(fault.Config, op, "the address of Flink's REST port is not an http:// or https:// URL").
			WithHint("write it like http://jobmanager:8081")
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	base.RawQuery, base.Fragment = "", ""
	return &Client{
		base: strings.TrimRight(base.String(), "/"),
		http: httpread.New(httpread.Options{
			Service: service, MaxBytes: o.MaxBytes, Timeout: o.Timeout, TLS: o.TLS,
			Username: o.Username, Password: o.Password, Token: o.Token,
		}),
	}, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.Close() }

// Address is where the client asks, as it may be shown: without user.
func (c *Client) Address() safetext.Text {
	u, err := url.Parse(c.base)
	if err != nil {
		return safetext.Text{}
	}
	u.User = nil
	return safetext.Of(u.String())
}

// get reads one resource. The parts of its path are escaped here.
func get[T any](ctx context.Context, c *Client, query string, parts ...string) (T, error) {
	var address strings.Builder
	address.WriteString(c.base)
	for _, part := range parts {
		address.WriteByte('/')
		address.WriteString(url.PathEscape(part))
	}
	address.WriteString(query)
	return httpread.GetJSON[T](ctx, c.http, address.String())
}

// notFlink is the fault of a server that answers, and not as Flink does.
func (c *Client) notFlink(what string) error {
	return fault.New(fault.Unsupported, op, "%s answers, but not as Flink does: %s", c.Address(), what).
		WithHint("is this %s?", service).WithRef(c.Address().String())
}

var jobID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// IsJobID reports whether s has the form of a job id: 32 lower-case hex digits.
func IsJobID(s string) bool { return jobID.MatchString(s) }

// Config asks who answers. A server that is not Flink is a fault of kind
// Unsupported.
func (c *Client) Config(ctx context.Context) (Config, error) {
	config, err := get[Config](ctx, c, "", "config")
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return Config{}, c.notFlink("it has no /config")
	case err != nil:
		return Config{}, err
	case config.Version == "":
		return Config{}, c.notFlink("its /config names no flink-version")
	}
	return config, nil
}

// Jobs lists the jobs that the JobManager knows, ended ones among them until
// Flink forgets them.
func (c *Client) Jobs(ctx context.Context) ([]JobSummary, error) {
	answer, err := get[struct {
		Jobs []JobSummary `json:"jobs"`
	}](ctx, c, "", "jobs", "overview")
	switch {
	case err != nil:
		return nil, err
	case answer.Jobs == nil:
		return nil, c.notFlink("its /jobs/overview has no list of jobs")
	}
	return answer.Jobs, nil
}

// Job reads one job.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	job, err := get[Job](ctx, c, "", "jobs", id)
	if err == nil && (job.ID != id || job.State == "") {
		return Job{}, c.notFlink("the job it answers with is not the one that was asked for")
	}
	return job, err
}

// Exceptions reads at most limit failures of a job, the newest ones.
func (c *Client) Exceptions(ctx context.Context, id string, limit int) (Exceptions, error) {
	return get[Exceptions](ctx, c, "?maxExceptions="+strconv.Itoa(limit), "jobs", id, "exceptions")
}

// Checkpoints reads a job's checkpoint history. Some versions answer 404 where
// checkpointing is off.
func (c *Client) Checkpoints(ctx context.Context, id string) (Checkpoints, error) {
	return get[Checkpoints](ctx, c, "", "jobs", id, "checkpoints")
}

// Checkpoint reads one checkpoint of the history, with its tasks. Flink forgets
// all but the latest ones (option web.checkpoints.history, ten by default).
func (c *Client) Checkpoint(ctx context.Context, id string, checkpoint int64) (CheckpointDetails, error) {
	return get[CheckpointDetails](ctx, c, "", "jobs", id, "checkpoints", "details", strconv.FormatInt(checkpoint, 10))
}

// CheckpointConfig reads how a job takes checkpoints.
func (c *Client) CheckpointConfig(ctx context.Context, id string) (CheckpointConfig, error) {
	return get[CheckpointConfig](ctx, c, "", "jobs", id, "checkpoints", "config")
}

// ExecutionConfig reads how a job runs.
func (c *Client) ExecutionConfig(ctx context.Context, id string) (ExecutionConfig, error) {
	return get[ExecutionConfig](ctx, c, "", "jobs", id, "config")
}

// ClusterOption reads one option of the JobManager's configuration, the first
// of the keys that is set. It keeps nothing of the others.
func (c *Client) ClusterOption(ctx context.Context, keys ...string) (value string, set bool, err error) {
	options, err := get[[]struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}](ctx, c, "", "jobmanager", "config")
	if err != nil {
		return "", false, err
	}
	for _, key := range keys {
		for _, o := range options {
			if o.Key == key {
				return o.Value, true, nil
			}
		}
	}
	return "", false, nil
}

// Restarts reads a job's restart counter. It is kept by the running job and
// collected from time to time (option metrics.fetcher.update-interval, ten
// seconds by default): it can be behind, and of an ended job it stays behind.
// It is not known before it was collected once.
func (c *Client) Restarts(ctx context.Context, id string) (n int64, known bool, err error) {
	metrics, err := get[[]struct {
		ID    string `json:"id"`
		Value string `json:"value"`
	}](ctx, c, "?get=numRestarts", "jobs", id, "metrics")
	if err != nil {
		return 0, false, err
	}
	for _, m := range metrics {
		if m.ID == "numRestarts" {
			if n, err := strconv.ParseInt(m.Value, 10, 64); err == nil && n >= 0 {
				return n, true, nil
			}
		}
	}
	return 0, false, nil
}

// Attempt reads the highest attempt number of a vertex' subtasks: 0 in the first
// run, one more with every restart that they took part in.
func (c *Client) Attempt(ctx context.Context, id, vertex string) (int64, error) {
	answer, err := get[struct {
		Subtasks []struct {
			Attempt int64 `json:"attempt"`
		} `json:"subtasks"`
	}](ctx, c, "", "jobs", id, "vertices", vertex)
	highest := int64(0)
	for _, s := range answer.Subtasks {
		highest = max(highest, s.Attempt)
	}
	return highest, err
}
