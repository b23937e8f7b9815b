package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/tui"
)

// objectStores are a profile's object stores, and one for the places that none
// of them matches. Nothing is connected to before a place is read.
type objectStores struct {
	configured []*objectStore
	others     *objectStore
}

// objectStore is one of them, with how it was when it was asked last.
type objectStore struct {
	config.ObjectStore
	client *objstore.Client
	link   link
}

func newObjectStores(p config.Profile, prompt secret.Prompter, timeout time.Duration, c clock.Clock) *objectStores {
	all := &objectStores{others: newObjectStore(config.ObjectStore{}, prompt, timeout, c)}
	for _, o := range p.ObjectStores {
		all.configured = append(all.configured, newObjectStore(o, prompt, timeout, c))
	}
	return all
}

func newObjectStore(o config.ObjectStore, prompt secret.Prompter, timeout time.Duration, c clock.Clock) *objectStore {
	s := &objectStore{ObjectStore: o, link: link{clock: c}}
	s.client = objstore.New(objstore.Config{
		Endpoint: o.Endpoint, Region: o.Region, PathStyle: o.PathStyle, Timeout: timeout, Keys: keysOf(o.Credentials, prompt),
		Observe: func(err error) {
			if err != nil {
				s.link.failed(err)
				return
			}
			s.link.up()
		},
	})
	return s
}

// keysOf fetches the access key where the profile says that it is; nil where it
// says nothing.
func keysOf(c config.Credentials, prompt secret.Prompter) func(context.Context) (objstore.Keys, error) {
	if c.AccessKey.IsZero() {
		return nil
	}
	return func(ctx context.Context) (keys objstore.Keys, err error) {
		id, err := c.AccessKey.Resolve(ctx, prompt)
		if err != nil {
			return objstore.Keys{}, err
		}
		keys.ID = id.Reveal()
		if keys.Secret, err = c.SecretKey.Resolve(ctx, prompt); err != nil || c.SessionToken.IsZero() {
			return keys, err
		}
		keys.Session, err = c.SessionToken.Resolve(ctx, prompt)
		return keys, err
	}
}

func (all *objectStores) each() []*objectStore {
	return append(all.configured[:len(all.configured):len(all.configured)], all.others)
}

// system is the file system of all of them.
func (all *objectStores) system() flink.FileSystem {
	var stores []flink.ObjectStore
	for _, s := range all.each() {
		stores = append(stores, flink.ObjectStore{Match: s.Match, Client: s.client})
	}
	return flink.NewObjects(stores...)
}

func (all *objectStores) close() {
	for _, s := range all.each() {
		s.client.Close()
	}
}

// used are the stores that are configured, and the other one where something
// was read from it.
func (all *objectStores) used() []*objectStore {
	if all.others.client.Usage().Requests == 0 && all.others.link.now().asked.IsZero() {
		return all.configured
	}
	return all.each()
}

// connection is the state of the stores as the console's header shows it: that
// of the one that is worst.
func (all *objectStores) connection() tui.Connection {
	worst := connIdle
	for _, s := range all.configured {
		worst = max(worst, s.link.now().state)
	}
	return worst.header("s3")
}

// address says what a store reads, and where it is.
func (s *objectStore) address() string {
	match := s.Match
	if match == "" {
		match = "s3://"
	}
	where := []string{match}
	if s.Endpoint != "" {
		where = append(where, "at "+s.Endpoint)
	}
	if s.Region != "" {
		where = append(where, "in "+s.Region)
	}
	return strings.Join(where, " ")
}

// usage says what was read so far; empty: nothing was asked.
func (s *objectStore) usage() string {
	u := s.client.Usage()
	switch u.Requests {
	case 0:
		return ""
	case 1:
		return "1 request, " + figures.Bytes(u.Bytes) + " read"
	}
	return figures.Group(u.Requests) + " requests, " + figures.Bytes(u.Bytes) + " read"
}

// check tries the rights that reading takes, where the store's match says a
// bucket.
func (s *objectStore) check(ctx context.Context) probe {
	p := probe{What: "object store " + safe(s.address()), Result: probeOK}
	_, rest, _ := strings.Cut(s.Match, "://")
	bucket, prefix, whole := strings.Cut(rest, "/")
	if bucket == "" || !whole {
		return probe{What: p.What, Result: probeNone, Detail: "its match is no whole bucket: the places in it are tried instead"}
	}
	tried, err := s.client.Probe(ctx, bucket, prefix)
	switch {
	case err != nil:
		p.Result, p.Detail, p.Hint = probeFailed, safe(err.Error()), fault.Of(err).Hint
	case tried.Key == "":
		p.Detail = "may be listed; nothing is there yet, so that reading was not tried"
	default:
		p.Detail = fmt.Sprintf("may be listed and read (a byte of %s)", safe(tried.Key))
	}
	return p
}

// bucket finds the store of a URI, and what in it the URI names.
func (all *objectStores) bucket(uri string) (client *objstore.Client, bucket, key string, err error) {
	uri = flink.SameScheme(uri)
	rest, ok := strings.CutPrefix(uri, flink.SchemeS3+"://")
	bucket, key, _ = strings.Cut(rest, "/")
	switch {
	case !ok || bucket == "":
		return nil, "", "", fault.New(fault.Usage, "read object store", "%s names no bucket", safe(uri)).WithHint("write s3://BUCKET/PATH")
	case strings.Contains(bucket, "@"):
		return nil, "", "", fault.New(fault.Usage, "read object store", "a URI of an object store may not hold a user or password").
			WithHint("write s3://BUCKET/PATH, and the access key into credentials of the object store")
	}
	best := all.others
	for _, s := range all.configured {
		match := flink.SameScheme(s.Match)
		if (strings.HasPrefix(uri, match) || strings.HasPrefix(uri+"/", match)) && len(match) > len(best.Match) {
			best = s
		}
	}
	return best.client, bucket, key, nil
}
