package s3test

import (
	"bytes"
	"crypto/md5" //nolint:gosec // an ETag
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The access key that Server.RequireKey knows.
const (
	KeyID  = "AKIDTEST"
	Secret = "s3cr3t-of-the-test"
)

// Server is an object store. It ends with its test.
type Server struct {
	URL string // its endpoint

	tb      testing.TB
	backend *s3mem.Backend
	server  *httptest.Server

	active atomic.Int64 // requests that are being answered

	mu       sync.Mutex
	faults   []Fault
	requests []Request
	tags     map[string]string // ETags of objects, by /bucket/key
	virtual  map[string]int64  // sizes of objects that are nothing but zeros, likewise
	away     chan struct{}     // closed at the end: who hangs goes on
}

// Request is one request as it was answered.
type Request struct {
	Method string
	Path   string // /bucket/key
	Query  string
	Range  string
	Status int
	Bytes  int64 // of the answer's body
}

// Start serves empty buckets over HTTP.
func Start(tb testing.TB, buckets ...string) *Server {
	tb.Helper()
	s := prepare(tb, buckets)
	s.server.Start()
	s.URL = s.server.URL
	return s
}

// StartTLS serves empty buckets over HTTPS, with a certificate of an authority
// that nobody knows; it is in the file at the path that is returned.
func StartTLS(tb testing.TB, buckets ...string) (s *Server, authority string) {
	tb.Helper()
	s = prepare(tb, buckets)
	s.server.StartTLS()
	s.URL = s.server.URL
	authority = filepath.Join(tb.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		tb.Fatal(err)
	}
	return s, authority
}

func prepare(tb testing.TB, buckets []string) *Server {
	tb.Helper()
	s := &Server{tb: tb, backend: s3mem.New(), tags: map[string]string{}, virtual: map[string]int64{}, away: make(chan struct{})}
	for _, b := range buckets {
		if err := s.backend.CreateBucket(b); err != nil {
			tb.Fatal(err)
		}
	}
	s.server = httptest.NewUnstartedServer(s.counted(s.broken(s.complete(gofakes3.New(s.backend).Server()))))
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0) // the store behind writes some headers twice
	tb.Cleanup(func() {
		close(s.away)
		s.server.Close()
	})
	return s
}

// Put writes an object.
func (s *Server) Put(bucket, key string, data []byte) {
	s.tb.Helper()
	meta := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
	if _, err := s.backend.PutObject(bucket, key, meta, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		s.tb.Fatal(err)
	}
	sum := md5.Sum(data) //nolint:gosec // an ETag
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tags["/"+bucket+"/"+key] = `"` + hex.EncodeToString(sum[:]) + `"`
}

// PutDir writes every file below a folder of this machine.
func (s *Server) PutDir(bucket, prefix, dir string) {
	s.tb.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		s.Put(bucket, strings.TrimPrefix(prefix+"/", "/")+filepath.ToSlash(name), data)
		return nil
	})
	if err != nil {
		s.tb.Fatal(err)
	}
}

// PutZeros adds an object of nothing but zeros, which takes no memory. It is
// not listed.
func (s *Server) PutZeros(bucket, key string, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.virtual["/"+bucket+"/"+key] = size
}

// Delete removes an object.
func (s *Server) Delete(bucket, key string) {
	s.tb.Helper()
	if _, err := s.backend.DeleteObject(bucket, key); err != nil {
		s.tb.Fatal(err)
	}
}

// Requests are all requests so far, in the order of their answers. It waits a
// little for answers that are under way: a client has the last byte before the
// server knows.
func (s *Server) Requests() []Request {
	for range 1000 {
		if s.active.Load() == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Sent is how many bytes of bodies were sent so far.
func (s *Server) Sent() int64 {
	sum := int64(0)
	for _, r := range s.Requests() {
		sum += r.Bytes
	}
	return sum
}

// counted keeps what was asked and answered.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &counter{ResponseWriter: w, status: http.StatusOK}
		s.active.Add(1)
		defer func() {
			defer s.active.Add(-1)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Range: r.Header.Get("Range"), Status: c.status, Bytes: c.bytes})
		}()
		next.ServeHTTP(c, r)
	})
}

type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// Unwrap lets an http.ResponseController through.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// complete adds what the store behind lacks: reading on the condition that an
// object is still the same version, and objects of zeros.
func (s *Server) complete(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amz-Request-Id", "TEST")
		s.mu.Lock()
		size, zeros := s.virtual[r.URL.Path]
		s.mu.Unlock()
		if zeros {
			w.Header().Set("ETag", `"zeros"`)
			http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(zero{}, 0, size))
			return
		}
		if want := r.Header.Get("If-Match"); want != "" {
			s.mu.Lock()
			tag := s.tags[r.URL.Path]
			s.mu.Unlock()
			if tag != "" && tag != want {
				Refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// zero reads as zeros.
type zero struct{}

func (zero) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// Refuse answers with an error in S3's form.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("X-Amz-Request-Id", "TEST")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>%s</Message><RequestId>TEST</RequestId></Error>", code, message)
	}
}
