// Package zktest is a small Apache ZooKeeper server inside the process, of which
// nodes can be read by the client protocol: sessions, exists, getData, getChildren
// and close. Tests make it fail: nodes that may not be read, an ensemble that wants
// SASL, a server without its quorum, one that says nothing, sessions that end.
//
// It differs from a real one in that nothing can be written through it but by the
// test itself, that no watch is ever called, that sessions do not end by
// themselves, and that any other request ends the connection and is remembered.
package zktest

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// The codes of requests.
const (
	Exists      = 3
	GetData     = 4
	GetChildren = 8
	Close       = -11
)

// The codes of answers.
const (
	noNode      = -101
	noAuth      = -102
	requireSASL = -124
)

// Request is one that was made.
type Request struct {
	Op    int32
	Path  string
	Watch bool
}

type node struct {
	data      []byte
	made      time.Time
	changed   time.Time
	version   int32
	ephemeral int64
	denied    bool
}

// Server is one server.
type Server struct {
	listener net.Listener
	done     sync.WaitGroup

	mu       sync.Mutex
	nodes    map[string]*node
	open     map[net.Conn]bool
	closed   bool // no connection is taken any more
	sessions int64
	requests []Request
	strange  []int32 // requests that a reader never makes

	sasl, alone, silent bool
}

// Start starts a server on a port of this machine, with a root and nothing below.
func Start() (*Server, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, nodes: map[string]*node{"/": {}}, open: map[net.Conn]bool{}}
	s.done.Go(s.accept)
	return s, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close ends it.
func (s *Server) Close() {
	_ = s.listener.Close() // a test that is over
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.EndSessions()
	s.done.Wait()
}

// EndSessions cuts every connection, as a server does whose sessions have expired.
func (s *Server) EndSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Close() // which is what is wanted
	}
}

// Set makes a node or changes it; its parents are made without data.
func (s *Server) Set(path, data string) { s.set(path, data, 0) }

// SetEphemeral makes a node of a session.
func (s *Server) SetEphemeral(path, data string) { s.set(path, data, 0x100) }

func (s *Server) set(path, data string, session int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i, r := range path {
		if r == '/' && i > 0 && s.nodes[path[:i]] == nil {
			s.nodes[path[:i]] = &node{made: now, changed: now}
		}
	}
	n := s.nodes[path]
	if n == nil {
		n = &node{made: now, ephemeral: session}
		s.nodes[path] = n
	} else {
		n.version++
	}
	n.data, n.changed = []byte(data), now
}

// MadeAt says when a node was made, in place of when the test made it.
func (s *Server) MadeAt(path string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[path].made = at
}

// Delete removes a node and what is below it.
func (s *Server) Delete(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.nodes, func(p string, _ *node) bool { return p == path || strings.HasPrefix(p, path+"/") })
}

// Deny lets nobody read a node.
func (s *Server) Deny(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[path].denied = true
}

// RequireSASL answers every request by saying that a login is needed, and ends the
// session.
func (s *Server) RequireSASL() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sasl = true
}

// LoseQuorum makes new sessions such as may only read.
func (s *Server) LoseQuorum() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alone = true
}

// Silence takes requests and never answers.
func (s *Server) Silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
}

// Requests are those that were made, in their order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Strange are the codes of requests that were none of a reader's.
func (s *Server) Strange() []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strange)
}

// Sessions is how many connections are open.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		closed := s.closed
		if !closed {
			s.open[c] = true
		}
		s.mu.Unlock()
		if closed {
			_ = c.Close() // it came too late
			return
		}
		s.done.Go(func() {
			s.serve(c)
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.open, c)
			_ = c.Close() // the session is over
		})
	}
}

func read(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	const most = 1 << 20
	size := binary.BigEndian.Uint32(head[:])
	if size > most {
		return nil, errors.New("a request is larger than ZooKeeper takes")
	}
	frame := make([]byte, size)
	_, err := io.ReadFull(r, frame)
	return frame, err
}

func (s *Server) serve(c net.Conn) {
	if _, err := read(c); err != nil {
		return
	}
	if !s.send(c, s.granted()) {
		return
	}
	for {
		frame, err := read(c)
		if err != nil || len(frame) < 8 {
			return
		}
		xid, op := int32(binary.BigEndian.Uint32(frame)), int32(binary.BigEndian.Uint32(frame[4:]))
		answer, ends := s.answer(xid, op, frame[8:])
		if answer != nil && !s.send(c, answer) {
			return
		}
		if ends {
			finish(c)
			return
		}
	}
}

// finish says no more, and reads on until the client has gone: a connection that is
// closed with requests unread may take the last answer with it.
func finish(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, c) // what comes is of no interest
	}
}

// send writes a frame, unless the server says nothing now.
func (s *Server) send(c net.Conn, frame []byte) bool {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent {
		return true
	}
	_, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err == nil
}

func (s *Server) granted() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	const timeout, password = 30_000, 16
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint32(b, timeout)
	b = binary.BigEndian.AppendUint64(b, uint64(s.sessions))
	b = append(binary.BigEndian.AppendUint32(b, password), make([]byte, password)...)
	if s.alone {
		return append(b, 1)
	}
	return append(b, 0)
}

func (s *Server) answer(xid, op int32, body []byte) (frame []byte, ends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	header := func(code int32) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(xid))
		b = binary.BigEndian.AppendUint64(b, 1)
		return binary.BigEndian.AppendUint32(b, uint32(code))
	}
	if op == Close {
		s.requests = append(s.requests, Request{Op: op})
		return header(0), true
	}
	if op != Exists && op != GetData && op != GetChildren || len(body) < 5 || int(binary.BigEndian.Uint32(body)) != len(body)-5 {
		s.strange = append(s.strange, op)
		return nil, true
	}
	path := string(body[4 : len(body)-1])
	s.requests = append(s.requests, Request{op, path, body[len(body)-1] != 0})
	n := s.nodes[path]
	switch {
	case s.sasl:
		return header(requireSASL), true
	case n == nil:
		return header(noNode), false
	case n.denied && op != Exists:
		return header(noAuth), false
	}
	b := header(0)
	switch op {
	case GetData:
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(n.data))), n.data...)
	case GetChildren:
		names := s.children(path)
		b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
		for _, name := range names {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(name))), name...)
		}
		return b, false
	}
	return s.stat(b, path, n), false
}

func (s *Server) children(path string) (names []string) {
	below := strings.TrimSuffix(path, "/") + "/"
	for p := range s.nodes {
		if name, ok := strings.CutPrefix(p, below); ok && name != "" && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

func (s *Server) stat(b []byte, path string, n *node) []byte {
	b = binary.BigEndian.AppendUint64(b, 1)
	b = binary.BigEndian.AppendUint64(b, 1)
	b = binary.BigEndian.AppendUint64(b, uint64(n.made.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, uint64(n.changed.UnixMilli()))
	b = binary.BigEndian.AppendUint32(b, uint32(n.version))
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(n.ephemeral))
	b = binary.BigEndian.AppendUint32(b, uint32(len(n.data)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.children(path))))
	return binary.BigEndian.AppendUint64(b, 1)
}
