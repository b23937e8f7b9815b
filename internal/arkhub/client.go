package arkhub

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

const op = "ask the ArkFlow hub"

// service is how a hint names what should have answered.
const service = "the API of an ArkFlow hub"

// Prefix is where the API is below a hub's address, the hub's fixed default.
const Prefix = "/api/v1"

// DefaultTimeout is of one request: hubs answer from memory or a local database.
const DefaultTimeout = 10 * time.Second

// DefaultMaxBytes is the largest answer that is read: a job's detail holds the
// operations of its lifetime, up to 1024.
const DefaultMaxBytes = 16 << 20

// Options say how to reach a hub.
type Options struct {
	Address  string        // as in http://hub:8080; with or without Prefix
	Token    secret.Value  // bearer token; empty: none
	MaxBytes int64         // of one answer; zero: DefaultMaxBytes
	Timeout  time.Duration // of one request; zero: DefaultTimeout
	TLS      *tls.Config   // nil: the system's certificates
	Pause    time.Duration // before the second try; zero: a quarter of a second
}

// Client asks one hub, and the leader that it names. It may be used by several
// goroutines. Every error is a fault; where the hub itself refused, a [Refusal]
// is its cause.
type Client struct {
	http  *httpread.Client
	pause time.Duration
	home  string // the address given

	mu         sync.Mutex
	base       string // of what is asked now: the address given, or the leader's
	leader     bool   // base is a leader's that the hub named
	generation Generation
}

// New makes a Client and asks nothing yet. An address that can't be one is a
// fault of kind Config. Close the client when it is no longer needed.
func New(o Options) (*Client, error) {
	base, ok := baseOf(o.Address)
	if !ok {
		// The parser's message repeats the address, which may hold a password.
		return nil, fault.New(fault.Config, op, "the address of the hub is not an http:// or https:// URL").
			WithHint("write it like http://hub:8080")
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Pause <= 0 {
		o.Pause = time.Second / 4
	}
	return &Client{
		home: base, base: base, pause: o.Pause,
		http: httpread.New(httpread.Options{Service: service, MaxBytes: o.MaxBytes, Timeout: o.Timeout, TLS: o.TLS, Token: o.Token}),
	}, nil
}

// baseOf is an address without the API's prefix, its user and its query.
func baseOf(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", false
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), Prefix), true
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.Close() }

// Address is what is asked, as it may be shown; leader says that it is the one
// that a standby named.
func (c *Client) Address() (address safetext.Text, leader bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return safetext.Of(c.base), c.leader
}

// request is one resource of the API.
type request struct {
	parts []string
	query url.Values
	probe bool // one that is not below Prefix
}

func at(parts ...string) request { return request{parts: parts} }

func (r request) with(key, value string) request {
	if value == "" {
		return r
	}
	query := url.Values{}
	for k, v := range r.query {
		query[k] = v
	}
	query.Set(key, value)
	r.query = query
	return r
}

// path is what stands behind the address. The parts are escaped here.
func (r request) path() string {
	var b strings.Builder
	if !r.probe {
		b.WriteString(Prefix)
	}
	for _, part := range r.parts {
		b.WriteByte('/')
		b.WriteString(escape(part))
	}
	return b.String()
}

// escape is a part of a path that stays one part: "." and ".." would be taken
// for steps.
func escape(part string) string {
	if part == "." || part == ".." {
		return strings.ReplaceAll(part, ".", "%2E")
	}
	return url.PathEscape(part)
}

// what names a request in a message.
func (r request) what() string { return "GET " + safetext.Of(r.path()).Truncate(200).String() }

// ask reads one resource: an answer of any status that is no error of the way.
func (c *Client) ask(ctx context.Context, r request) (httpread.Answer, error) {
	c.mu.Lock()
	base, led := c.base, c.leader
	c.mu.Unlock()
	answer, err := c.twice(ctx, base, r)
	if led && (fault.KindOf(err) == fault.Unreachable && err != nil || err == nil && answer.Status == 503) && ctx.Err() == nil {
		// The leader has gone or leads no more: the hub that was given knows the next.
		c.lead(c.home, false)
		base, led = c.home, false
		answer, err = c.twice(ctx, base, r)
	}
	if err != nil {
		return answer, err
	}
	leader, ok := c.leaderOf(base, answer)
	if !ok || led {
		return answer, nil
	}
	followed, err := c.twice(ctx, leader, r)
	if err != nil {
		return answer, fault.Wrap(fault.KindOf(err), op, err, "%s is a standby and names %s as its leader", safetext.Of(base), shownURL(leader)).
			WithHint("give the leader's own address as --hub").WithRef(shownURL(leader))
	}
	c.lead(leader, true)
	return followed, nil
}

// lead makes an address the one that is asked from now on.
func (c *Client) lead(base string, leader bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.leader = base, leader
}

// leaderOf is the leader that a standby names. A way from https to http is not
// gone: the token would go over it in the clear.
func (c *Client) leaderOf(base string, a httpread.Answer) (string, bool) {
	if a.Status != 503 {
		return "", false
	}
	refusal := ReadRefusal(a, c.http.Conceal)
	leader, ok := baseOf(refusal.Leader)
	if refusal.Code != "hub_standby" || !ok || leader == base {
		return "", false
	}
	if strings.HasPrefix(base, "https:") && !strings.HasPrefix(leader, "https:") {
		return "", false
	}
	return leader, true
}

// twice tries a second time where the first shows that the way was cut, or that
// the hub is busy for a moment. Reading twice changes nothing.
func (c *Client) twice(ctx context.Context, base string, r request) (httpread.Answer, error) {
	address := base + r.path()
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	answer, err := c.http.Ask(ctx, address)
	again := err != nil && fault.KindOf(err) == fault.Unreachable && !errors.Is(err, context.DeadlineExceeded)
	if err == nil && !r.probe { // a probe's 503 is its answer
		switch answer.Status {
		case 429, 502, 504:
			again = true
		case 503:
			again = ReadRefusal(answer, c.http.Conceal).Code != "hub_standby"
		}
	}
	if !again {
		return answer, err
	}
	timer := time.NewTimer(c.pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return answer, err
	case <-timer.C:
	}
	return c.http.Ask(ctx, address)
}

// refused is the fault of an answer that is no success.
func (c *Client) refused(r request, a httpread.Answer) error {
	address, _ := c.Address()
	return ReadRefusal(a, c.http.Conceal).Fault(r.what(), address)
}

// get reads one value.
func get[T any](ctx context.Context, c *Client, r request) (T, error) {
	answer, err := c.ask(ctx, r)
	if err == nil && !answer.Success() {
		err = c.refused(r, answer)
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return httpread.Decode[T](c.http, answer)
}

// The sizes of pages. A hub of the first generation loses the body of an answer
// above 1 MiB and then says 200 with nothing: the list is read again in small
// pages.
const (
	pageSize      = 100
	smallPageSize = 5
)

// list reads a whole list, page by page. Pages that shift while they are read,
// as in a list with the newest first, repeat rows: each row is kept once.
func list[T row](ctx context.Context, c *Client, r request) (List[T], error) {
	l, err := pages[T](ctx, c, r, pageSize)
	if errors.Is(err, errEmpty) {
		l, err = pages[T](ctx, c, r, smallPageSize)
	}
	if errors.Is(err, errEmpty) {
		address, _ := c.Address()
		err = fault.New(fault.Unsupported, op, "%s answers %s with nothing where a list was expected", address, r.what()).
			WithHint("older hubs lose the body of an answer above 1 MiB; a proxy may do the same").WithRef(address.String())
	}
	return l, err
}

var errEmpty = errors.New("an empty body")

func pages[T row](ctx context.Context, c *Client, r request, size int) (List[T], error) {
	var l List[T]
	seen := map[string]bool{}
	for n := 1; ; n++ {
		one := r.with("page", strconv.Itoa(n)).with("page_size", strconv.Itoa(size))
		answer, err := c.ask(ctx, one)
		switch {
		case err != nil:
			return l, err
		case !answer.Success():
			return l, c.refused(r, answer)
		case len(answer.Body) == 0:
			return List[T]{}, errEmpty
		}
		p, err := c.readPage(answer)
		if err != nil {
			return l, err
		}
		take(&l, seen, p.rows)
		l.Total = max(p.total.Or(0), uint64(len(l.Items)))
		switch {
		case len(l.Items) >= MaxItems && (p.paged && l.Total > uint64(len(l.Items)) || len(l.Items) > MaxItems):
			l.Items, l.Cut = l.Items[:MaxItems], true
			return l, nil
		case !p.paged, len(p.rows) < size:
			return l, nil
		case p.total.IsKnown() && uint64(n)*uint64(size) >= p.total.Or(0):
			return l, nil
		}
	}
}
