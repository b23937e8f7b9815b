package objstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// Whatever a store answers, the fault says what it is and what to do, and an
// object is never called missing because of it.
func TestFaultsSayWhatIsWrong(t *testing.T) {
	const bucket = "flink-state"
	tests := map[string]struct {
		faults func(s *s3test.Server) []s3test.Fault
		config func(*objstore.Config)
		kind   fault.Kind
		says   string // in the fault of every operation
		hint   string
	}{
		"403": {faults: one(s3test.Status(403, "AccessDenied", "Access Denied")), kind: fault.Denied, says: "is missing, or a policy denies it", hint: "needs s3:"},
		"a key's use": {faults: one(s3test.Status(403, "AccessDenied", "User x is not authorized to perform: kms:Decrypt on resource y")),
			kind: fault.Denied, says: "may not be", hint: "kms:Decrypt"},
		"an unknown key": {faults: one(s3test.RequireKey), config: func(c *objstore.Config) {
			c.Keys = func(context.Context) (objstore.Keys, error) { return objstore.Keys{ID: "OTHER"}, nil }
		}, kind: fault.Denied, says: "does not know the access key", hint: "access-key"},
		"a wrong secret":  {faults: one(s3test.Status(403, "SignatureDoesNotMatch", "no match")), kind: fault.Denied, says: "signature", hint: "secret-key"},
		"an expired key":  {faults: one(s3test.Status(400, "ExpiredToken", "The provided token has expired.")), kind: fault.Denied, says: "no longer valid", hint: "log in again"},
		"a wrong clock":   {faults: one(s3test.Status(403, "RequestTimeTooSkewed", "The difference is too large.")), kind: fault.Denied, says: "clock of this machine is wrong", hint: "set the clock"},
		"no bucket":       {faults: one(s3test.Status(404, "NoSuchBucket", "The specified bucket does not exist")), kind: fault.NotFound, says: `no bucket "flink-state"`, hint: "endpoint"},
		"another region":  {faults: one(s3test.Elsewhere("ap-south-1")), kind: fault.Config, says: "is in region ap-south-1, and was asked for in eu-west-1", hint: "region: ap-south-1"},
		"a region's sign": {faults: one(s3test.Malformed("ap-south-1")), kind: fault.Config, says: "is in region ap-south-1", hint: "region: ap-south-1"},
		"503":             {faults: one(s3test.Status(503, "SlowDown", "Please reduce your request rate.")), kind: fault.Unreachable, says: "asks to slow down", hint: "try again later"},
		"500":             {faults: one(s3test.Status(500, "InternalError", "We encountered an internal error.")), kind: fault.Unreachable, says: "answered 500", hint: "log"},
		"a busy proxy":    {faults: one(s3test.Page(503)), kind: fault.Unreachable, says: "503"},
		"a web page":      {faults: one(s3test.Page(200)), kind: fault.Unsupported, says: "does not speak S3: it answers with a web page", hint: "endpoint"},
		"a page for 404":  {faults: one(s3test.Page(404)), kind: fault.Unsupported, says: "a web page"},
		"a login":         {faults: one(s3test.Page(302)), kind: fault.Unsupported, says: "a web page"},
		"silence":         {faults: func(s *s3test.Server) []s3test.Fault { return []s3test.Fault{s.Hang()} }, config: func(c *objstore.Config) { c.Timeout = 200 * time.Millisecond }, kind: fault.Unreachable, says: "did not answer", hint: "--timeout"},
		"a closed port":   {config: func(c *objstore.Config) { c.Endpoint = "http://127.0.0.1:1" }, kind: fault.Unreachable, says: "http://127.0.0.1:1 can't be reached", hint: "endpoint"},
		"no TLS":          {config: func(c *objstore.Config) { c.Endpoint = strings.Replace(c.Endpoint, "http:", "https:", 1) }, kind: fault.Unreachable, says: "can't be reached", hint: "http://"},
		"no such host":    {config: func(c *objstore.Config) { c.Endpoint, c.PathStyle = "http://store.invalid", false }, kind: fault.Unreachable, says: "flink-state.store.invalid", hint: "path-style: true"},
		"no key":          {config: func(c *objstore.Config) { c.Keys = nil }, kind: fault.Config, says: "no access key: neither the environment nor ~/.aws gives one, and the role of this machine is not asked for (AWS_EC2_METADATA_DISABLED)", hint: "AWS_ACCESS_KEY_ID"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s3test.Start(t, bucket)
			s.Put(bucket, "chk-1/_metadata", []byte("x"))
			if tt.faults != nil {
				s.Break(tt.faults(s)...)
			}
			c := open(t, s, tt.config)
			_, headErr := c.Head(t.Context(), bucket, "chk-1/_metadata")
			_, listErr := c.List(t.Context(), bucket, "chk-1/", 10)
			_, readErr := c.Read(t.Context(), objstore.Object{Bucket: bucket, Key: "chk-1/_metadata", Size: 1}, 0, 1)
			for op, err := range map[string]error{"head": headErr, "list": listErr, "read": readErr} {
				f := fault.Of(err)
				switch {
				case op == "head" && name == "no bucket" && errors.Is(err, fs.ErrNotExist):
					// an answer to HEAD has no words: who asks must list, too
				case f == nil:
					t.Errorf("%s: no error", op)
				case errors.Is(err, fs.ErrNotExist):
					t.Errorf("%s: called absent: %v", op, err)
				case f.Kind != tt.kind, !strings.Contains(f.Error(), tt.says), !strings.Contains(f.Hint, tt.hint):
					t.Errorf("%s: %s: %s (%s)", op, f.Kind, f.Error(), f.Hint)
				case strings.Contains(f.Error()+f.Hint, s3test.Secret):
					t.Errorf("%s: shows what it may not: %q", op, f.Error())
				}
			}
		})
	}
}

func one(f s3test.Fault) func(*s3test.Server) []s3test.Fault {
	return func(*s3test.Server) []s3test.Fault { return []s3test.Fault{f} }
}

// Each refusal names the right that it is about.
func TestTheMissingRightIsNamed(t *testing.T) {
	s := s3test.Start(t, "b")
	s.Break(s3test.Status(403, "AccessDenied", "Access Denied"))
	c := open(t, s, nil)
	_, err := c.Head(t.Context(), "b", "k")
	if f := fault.Of(err); !strings.Contains(f.Message, "s3:GetObject is missing") || !strings.Contains(f.Hint, "without s3:ListBucket") {
		t.Errorf("%s (%s)", f.Message, f.Hint)
	}
	_, err = c.List(t.Context(), "b", "p/", 1)
	if f := fault.Of(err); !strings.Contains(f.Message, "s3://b/p/ may not be listed: s3:ListBucket is missing") {
		t.Errorf("%s (%s)", f.Message, f.Hint)
	}
}

// Where nobody named a region the bucket's own word is followed, once.
func TestABucketSaysWhereItIs(t *testing.T) {
	for name, f := range map[string]s3test.Fault{"by redirect": s3test.Elsewhere("ap-south-1"), "by signature": s3test.Malformed("ap-south-1")} {
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, "b")
			s.Put("b", "k", []byte("x"))
			s.Break(f)
			c := open(t, s, func(c *objstore.Config) { c.Region = "" })
			if _, err := c.Head(t.Context(), "b", "k"); err != nil {
				t.Fatal(err)
			}
			before := c.Usage().Requests
			if _, err := c.List(t.Context(), "b", "", 10); err != nil || c.Usage().Requests != before+1 {
				t.Errorf("%v, %d requests", err, c.Usage().Requests-before)
			}
		})
	}
}

// Requests that are under way when the bucket says where it is are all sent there.
func TestABucketSaysWhereItIsToSeveral(t *testing.T) {
	const several = 4
	s := s3test.Start(t, "b")
	elsewhere := s3test.Elsewhere("ap-south-1")
	var came sync.WaitGroup
	came.Add(several)
	s.Break(func(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
		if !strings.Contains(r.Header.Get("Authorization"), "/ap-south-1/") {
			came.Done()
			came.Wait() // none is answered before all have asked
		}
		return elsewhere(w, r, store)
	})
	c := open(t, s, func(c *objstore.Config) { c.Region = "" })
	var asking sync.WaitGroup
	for range several {
		asking.Go(func() {
			if _, err := c.List(t.Context(), "b", "", 10); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
}

// A listing of an endpoint that is no store is no empty folder.
func TestOnlyAListingIsAListing(t *testing.T) {
	tests := map[string]s3test.Fault{
		"nothing":             s3test.Text(200, "application/xml", ""),
		"JSON":                s3test.Text(200, "application/json", `{"ok":true}`),
		"a page as XML":       s3test.Text(200, "application/xml", `<html><body>hello</body></html>`),
		"text":                s3test.Text(200, "text/plain", "ok"),
		"half a listing":      s3test.Text(200, "application/xml", `<ListBucketResult><Name>b</Name><IsTruncated>fal`),
		"another bucket":      s3test.Text(200, "application/xml", `<ListBucketResult><Name>other</Name><IsTruncated>false</IsTruncated></ListBucketResult>`),
		"keys of other place": s3test.Text(200, "application/xml", `<ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated><Contents><Key>q/x</Key></Contents></ListBucketResult>`),
		"wrong encoding":      s3test.Text(200, "application/xml", `<ListBucketResult><Name>b</Name><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Contents><Key>p/%zz</Key></Contents></ListBucketResult>`),
	}
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, "b")
			s.Break(f)
			l, err := open(t, s, nil).List(t.Context(), "b", "p/", 10)
			switch kind := fault.KindOf(err); {
			case err == nil:
				t.Errorf("%+v", l)
			case kind != fault.Unsupported && kind != fault.Unreachable && kind != fault.Config:
				t.Errorf("%s: %v", kind, err)
			}
		})
	}
}

// A listing that never ends does, and one with ever new names ends at the limit.
func TestAnEndlessListingEnds(t *testing.T) {
	name := func(n int64) []string { return []string{fmt.Sprintf("f%d", n)} }
	tests := map[string]struct {
		next func(int64) ([]string, string)
		says string
	}{
		"a circle":  {func(n int64) ([]string, string) { return name(n % 3), fmt.Sprint(n % 3) }, "circle"},
		"nothing":   {func(n int64) ([]string, string) { return nil, fmt.Sprint(n) }, "without bringing anything"},
		"the same":  {func(n int64) ([]string, string) { return name(1), fmt.Sprint(n) }, "without bringing anything"},
		"no way on": {func(n int64) ([]string, string) { return name(n), "" }, "not where"},
		"ever new":  {func(n int64) ([]string, string) { return name(n), fmt.Sprint(n) }, ""},
		"hostile name": {func(n int64) ([]string, string) {
			return []string{strings.Repeat("x", 1000) + fmt.Sprint(n)}, fmt.Sprint(n)
		}, ""},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			s := s3test.Start(t, "b")
			s.Break(s3test.Endless(tt.next))
			l, err := open(t, s, nil).List(t.Context(), "b", "p/", 50)
			switch {
			case tt.says == "" && (err != nil || len(l.Objects) != 50 || !l.More):
				t.Errorf("%d objects, more %v, %v", len(l.Objects), l.More, err)
			case tt.says != "" && (fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("%v", err)
			}
			if n := len(s.Requests()); n > 60 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A body that breaks off is asked for from where it did, and a store that always
// does is no endless loop.
func TestABodyThatBreaksOffIsResumed(t *testing.T) {
	data := noise(300_000)
	s := s3test.Start(t, "b")
	s.Put("b", "k", data)
	c := open(t, s, nil)
	o, err := c.Head(t.Context(), "b", "k")
	if err != nil {
		t.Fatal(err)
	}
	s.Break(s3test.Body(s3test.First(1, s3test.Cut(100_000))))
	got, err := c.Read(t.Context(), o, 0, o.Size)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	last := s.Requests()[len(s.Requests())-1]
	if last.Range == "bytes=0-299999" || !strings.HasSuffix(last.Range, "-299999") {
		t.Errorf("asked again for %s", last.Range)
	}
	s.Break(s3test.Body(s3test.Cut(1000)))
	if _, err = c.Read(t.Context(), o, 0, o.Size); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "breaks off") {
		t.Errorf("%v", err)
	}
}

// Answers that are busy are asked again, within the attempts.
func TestABusyStoreIsAskedAgain(t *testing.T) {
	s := s3test.Start(t, "b")
	s.Put("b", "k", []byte("x"))
	s.Break(s3test.First(1, s3test.Status(503, "SlowDown", "Please reduce your request rate.")))
	c := open(t, s, nil)
	if _, err := c.Head(t.Context(), "b", "k"); err != nil || c.Usage().Requests != 2 {
		t.Errorf("%v after %d requests", err, c.Usage().Requests)
	}
}

// Sizes and ranges that contradict each other are no data.
func TestAStoreThatLiesAboutSizes(t *testing.T) {
	data := noise(100_000)
	tests := map[string]struct {
		faults []s3test.Fault
		offset int64
		size   int64 // of the read; 0: all that was said
		says   string
		kind   fault.Kind
	}{
		"longer than said":     {[]s3test.Fault{s3test.Sizes(-10)}, 0, 0, "contradicts itself", fault.Unreachable},
		"shorter than said":    {[]s3test.Fault{s3test.Sizes(10)}, 0, 0, "contradicts itself", fault.Unreachable},
		"nothing so far out":   {[]s3test.Fault{s3test.Sizes(90_000)}, 150_000, 10, "shorter while it was read", fault.Unreachable},
		"another range":        {[]s3test.Fault{s3test.Body(s3test.Ranges("bytes 1-100000/100000"))}, 0, 0, "contradicts itself", fault.Unreachable},
		"no range at all":      {[]s3test.Fault{s3test.Body(s3test.Ranges("apples"))}, 0, 0, "can't be read", fault.Unreachable},
		"whole, from the end":  {[]s3test.Fault{s3test.Body(s3test.Whole)}, 50_000, 50_000, "whole objects only", fault.Unsupported},
		"whole, and a liar":    {[]s3test.Fault{s3test.Sizes(10), s3test.Body(s3test.Whole)}, 0, 0, "contradicts itself", fault.Unreachable},
		"whole, the beginning": {[]s3test.Fault{s3test.Body(s3test.Whole)}, 0, 60_000, "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, "b")
			s.Put("b", "k", data)
			s.Break(tt.faults...)
			c := open(t, s, nil)
			o, err := c.Head(t.Context(), "b", "k")
			if err != nil {
				t.Fatal(err)
			}
			if tt.size == 0 {
				tt.size = o.Size
			}
			got, err := c.Read(t.Context(), o, tt.offset, tt.size)
			switch {
			case tt.says == "" && (err != nil || !bytes.Equal(got, data[tt.offset:tt.offset+tt.size])):
				t.Errorf("%d bytes, %v", len(got), err)
			case tt.says != "" && (fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("%v", err)
			}
		})
	}
}

// The observer hears of every request: an absent object is an answer.
func TestAnObserverHearsHowTheStoreIs(t *testing.T) {
	s := s3test.Start(t, "b")
	var heard []error
	c := open(t, s, func(c *objstore.Config) { c.Observe = func(err error) { heard = append(heard, err) } })
	_, _ = c.Head(t.Context(), "b", "none")
	s.Break(s3test.Status(http.StatusForbidden, "AccessDenied", "Access Denied"))
	_, _ = c.List(t.Context(), "b", "", 1)
	if len(heard) != 2 || heard[0] != nil || fault.KindOf(heard[1]) != fault.Denied {
		t.Errorf("%v", heard)
	}
}

// A probe tries listing and reading, and each failure names its right.
func TestAProbeTriesBothRights(t *testing.T) {
	s := s3test.Start(t, "b")
	c := open(t, s, nil)
	if p, err := c.Probe(t.Context(), "b", "cp/"); err != nil || p.Key != "" {
		t.Errorf("an empty store: %+v, %v", p, err)
	}
	s.Put("b", "cp/", nil)
	s.Put("b", "cp/job/chk-1/_metadata", []byte("x"))
	if p, err := c.Probe(t.Context(), "b", "cp/"); err != nil || p.Key != "cp/job/chk-1/_metadata" {
		t.Errorf("%+v, %v", p, err)
	}
	refusal := s3test.Status(403, "AccessDenied", "Access Denied")
	s.Break(s3test.Body(refusal))
	if _, err := c.Probe(t.Context(), "b", "cp/"); !strings.Contains(fmt.Sprint(err), "s3:GetObject is missing") {
		t.Errorf("%v", err)
	}
	s.Break(s3test.On(s3test.Listing, refusal))
	if _, err := c.Probe(t.Context(), "b", "cp/"); !strings.Contains(fmt.Sprint(err), "s3:ListBucket is missing") {
		t.Errorf("%v", err)
	}
}
