package arkhubtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Fault answers a request in place of the hub, with the hub behind it, and
// reports whether it did.
type Fault func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool

// Break puts faults in front of the hub; the first that answers does. Without any
// the hub is whole again.
func (h *Hub) Break(faults ...Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = faults
}

// On limits a fault to the requests of a method whose path ends so; an empty one
// is any.
func On(method, end string, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		return (method == "" || r.Method == method) && strings.HasSuffix(r.URL.Path, end) && f(w, r, hub)
	}
}

// Times limits a fault to the first requests that it would answer.
func Times(n int32, f Fault) Fault {
	var used atomic.Int32
	return func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		return used.Add(1) <= n && f(w, r, hub)
	}
}

// LoseAnswer lets the hub do what was asked, and loses what it says.
func LoseAnswer(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
	hub.ServeHTTP(discard{http.Header{}}, r)
	return LoseRequest(w, r, hub)
}

// LoseRequest cuts the connection before the hub has seen anything.
func LoseRequest(_ http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
	panic(http.ErrAbortHandler) // the server closes the connection, and says nothing of it
}

// Late cuts the connection at once, and lets the hub do what was asked when a time
// has passed by its clock: a request that was given up, and arrives all the same.
func (h *Hub) Late(by time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = nil // the client may have left: what came is what the hub gets
		}
		again := r.Clone(context.WithoutCancel(r.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		h.mu.Lock()
		h.after(by, func() { h.route(discard{http.Header{}}, again) })
		h.mu.Unlock()
		return LoseRequest(w, r, hub)
	}
}

// Hold lets the hub do what was asked at once, and keeps what it says back for a
// time, or until the client has left.
func Hold(by time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		whole := &kept{discard: discard{http.Header{}}}
		hub.ServeHTTP(whole, r)
		timer := time.NewTimer(by)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
		case <-timer.C:
			w.WriteHeader(whole.status)
			_, _ = w.Write(whole.body) // the client may have left
		}
		return true
	}
}

// FailAfter lets the hub do what was asked, and answers in its place as a proxy
// does that waited too long.
func FailAfter(status int) Fault {
	return func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		hub.ServeHTTP(discard{http.Header{}}, r)
		return Say(status, "text/html", "<html>")(w, r, hub)
	}
}

// Refuse answers with an error as hubs do.
func Refuse(status int, code, message string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		write(w, status, map[string]any{"code": code, "message": message, "correlation_id": w.Header().Get("X-Correlation-ID")})
		return true
	}
}

// Standby answers as a hub that does not lead; an empty leader is not named.
func Standby(leader string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		body := map[string]any{"code": "hub_standby", "message": "This hub is a standby"}
		if leader != "" {
			body["details"] = map[string]any{"leader_url": leader}
		}
		write(w, http.StatusServiceUnavailable, body)
		return true
	}
}

// Say answers with any bytes.
func Say(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client may have left
		return true
	}
}

// Cut sends no more than a number of bytes of what the hub says.
func Cut(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		whole := &kept{discard: discard{http.Header{}}}
		hub.ServeHTTP(whole, r)
		for k, v := range whole.header {
			w.Header()[k] = v
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(whole.body)))
		w.WriteHeader(whole.status)
		_, _ = w.Write(whole.body[:min(n, len(whole.body))]) // the client may have left
		return true
	}
}

// discard is a writer whose answer nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

type kept struct {
	discard
	status int
	body   []byte
}

func (k *kept) Write(b []byte) (int, error) { k.body = append(k.body, b...); return len(b), nil }
func (k *kept) WriteHeader(status int)      { k.status = status }
