package s3test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Fault answers a request in place of the store, with the store behind it, and
// reports whether it did.
type Fault func(w http.ResponseWriter, r *http.Request, store http.Handler) bool

// Break puts faults in front of the store; the first that answers does. Without
// any the store is whole again.
func (s *Server) Break(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

func (s *Server) broken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		faults := s.faults
		s.mu.Unlock()
		for _, f := range faults {
			if f(w, r, next) {
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Listing reports whether a request lists.
func Listing(r *http.Request) bool { return r.URL.Query().Has("list-type") }

// On limits a fault to the requests of a kind.
func On(which func(*http.Request) bool, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
		return which(r) && f(w, r, store)
	}
}

// Key limits a fault to the requests about an object whose key ends so.
func Key(end string, f Fault) Fault {
	return On(func(r *http.Request) bool { return !Listing(r) && strings.HasSuffix(r.URL.Path, end) }, f)
}

// Body limits a fault to the reading of objects.
func Body(f Fault) Fault {
	return On(func(r *http.Request) bool { return r.Method == http.MethodGet && !Listing(r) }, f)
}

// First limits a fault to the first n requests that reach it.
func First(n int64, f Fault) Fault {
	var seen atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
		return seen.Add(1) <= n && f(w, r, store)
	}
}

// Status answers with an error of the store.
func Status(status int, code, message string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		Refuse(w, r, status, code, message)
		return true
	}
}

// Elsewhere answers as a bucket of another region does.
func Elsewhere(region string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if strings.Contains(r.Header.Get("Authorization"), "/"+region+"/") {
			return false
		}
		w.Header().Set("X-Amz-Bucket-Region", region)
		Refuse(w, r, http.StatusMovedPermanently, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint.")
		return true
	}
}

// Malformed answers as a store does that expects signatures of its own region,
// and says so only in its message.
func Malformed(region string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if strings.Contains(r.Header.Get("Authorization"), "/"+region+"/") {
			return false
		}
		Refuse(w, r, http.StatusBadRequest, "AuthorizationHeaderMalformed",
			"The authorization header is malformed; the region 'x' is wrong; expecting '"+region+"'")
		return true
	}
}

// Page answers with a page for people.
func Page(status int) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, "<!DOCTYPE html><html><head><title>Console</title></head><body>Log in</body></html>")
		}
		return true
	}
}

// Text answers with anything.
func Text(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, body)
		}
		return true
	}
}

// Hang says nothing until the client leaves or the test ends.
func (s *Server) Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		select {
		case <-r.Context().Done():
		case <-s.away:
		}
		return true
	}
}

// Slow waits before the store answers.
func Slow(by time.Duration) Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		select {
		case <-r.Context().Done():
		case <-time.After(by):
		}
		return false
	}
}

// Cut sends only the first n bytes of what the store would, and ends the
// connection.
func Cut(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
		answer := record(r, store)
		copyHeader(w, answer)
		w.WriteHeader(answer.Code)
		body := answer.Body.Bytes()
		_, _ = w.Write(body[:min(n, len(body))]) // the client may have left
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Sizes lets the store say another size of objects than they have, in its
// answers to HEAD.
func Sizes(by int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
		if r.Method != http.MethodHead {
			return false
		}
		answer := record(r, store)
		copyHeader(w, answer)
		if size, err := strconv.ParseInt(answer.Header().Get("Content-Length"), 10, 64); err == nil {
			w.Header().Set("Content-Length", strconv.FormatInt(size+by, 10))
		}
		w.WriteHeader(answer.Code)
		return true
	}
}

// Ranges rewrites what the store says which bytes it sends.
func Ranges(contentRange string) Fault {
	return func(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
		answer := record(r, store)
		copyHeader(w, answer)
		w.Header().Set("Content-Range", contentRange)
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client may have left
		return true
	}
}

// Whole is a store that knows no ranges.
func Whole(w http.ResponseWriter, r *http.Request, store http.Handler) bool {
	r.Header.Del("Range")
	store.ServeHTTP(w, r)
	return true
}

// NoConditions is a store that knows no If-Match.
func NoConditions(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
	r.Header.Del("If-Match")
	return false
}

// RequireKey is a store that knows one access key.
func RequireKey(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
	if strings.Contains(r.Header.Get("Authorization"), "Credential="+KeyID+"/") {
		return false
	}
	Refuse(w, r, http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
	return true
}

// Endless is a listing whose pages each lead to a next one: the way says how.
func Endless(next func(page int64) (names []string, token string)) Fault {
	var pages atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if !Listing(r) {
			return false
		}
		names, token := next(pages.Add(1))
		bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("X-Amz-Request-Id", "TEST")
		prefix := r.URL.Query().Get("prefix")
		fmt.Fprintf(w, "<ListBucketResult><Name>%s</Name><Prefix>%s</Prefix><IsTruncated>true</IsTruncated>", bucket, prefix)
		if token != "" {
			fmt.Fprintf(w, "<NextContinuationToken>%s</NextContinuationToken>", token)
		}
		for _, name := range names {
			fmt.Fprintf(w, "<Contents><Key>%s%s</Key><Size>1</Size><LastModified>2026-01-02T03:04:05Z</LastModified></Contents>", prefix, name)
		}
		fmt.Fprint(w, "</ListBucketResult>")
		return true
	}
}

// record is the store's answer, not yet sent.
func record(r *http.Request, store http.Handler) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	store.ServeHTTP(answer, r)
	return answer
}

func copyHeader(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
}

// Bucket tells the requests about a bucket.
func Bucket(name string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		return bucket == name
	}
}
