package zkread_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/zktest"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func started(t *testing.T) *zktest.Server {
	t.Helper()
	s, err := zktest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, servers ...string) *zkread.Client {
	t.Helper()
	c, err := zkread.NewClient(zkread.Config{Servers: servers, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestNodesAreRead(t *testing.T) {
	s := started(t)
	s.Set("/fluss/producers/job-1", `{"version":1}`)
	s.SetEphemeral("/fluss/tabletservers/ids/0", "x")
	s.Set("/fluss/empty", "")
	s.Set("/fluss/empty", "")
	c := client(t, s.Address())
	ctx := t.Context()
	data, stat, err := c.Get(ctx, "/fluss/producers/job-1")
	if err != nil || string(data) != `{"version":1}` || stat.Ephemeral != 0 || time.Since(stat.Created) > time.Minute {
		t.Errorf("%q, %+v, %v", data, stat, err)
	}
	if _, stat, err := c.Get(ctx, "/fluss/tabletservers/ids/0"); err != nil || stat.Ephemeral == 0 {
		t.Errorf("%+v, %v", stat, err)
	}
	names, err := c.Children(ctx, "/fluss")
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"empty", "producers", "tabletservers"}) {
		t.Error(names, err)
	}
	if names, err := c.Children(ctx, "/fluss/empty"); err != nil || len(names) != 0 {
		t.Error(names, err)
	}
	if stat, found, err := c.Exists(ctx, "/fluss/empty"); err != nil || !found || stat.Version != 1 {
		t.Errorf("%+v, %t, %v", stat, found, err)
	}
	if stat, found, err := c.Exists(ctx, "/fluss"); err != nil || !found || stat.Children != 3 {
		t.Errorf("%+v, %t, %v", stat, found, err)
	}
	if _, found, err := c.Exists(ctx, "/fluss/gone"); err != nil || found {
		t.Error(found, err)
	}
	if _, _, err := c.Get(ctx, "/fluss/gone"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := c.Children(ctx, "/fluss/gone"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if s.Sessions() != 1 {
		t.Errorf("%d sessions", s.Sessions())
	}
}

// Whatever is asked, a server gets no other requests than these, and no watch.
func TestNothingButReadingIsAskedFor(t *testing.T) {
	s := started(t)
	s.Set("/a/b", "1")
	c := client(t, s.Address())
	if _, _, err := c.Get(t.Context(), "/a/b"); err != nil {
		t.Error(err)
	}
	if _, err := c.Children(t.Context(), "/"); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Exists(t.Context(), "/a"); err != nil {
		t.Error(err)
	}
	c.Close()
	want := []zktest.Request{{Op: zktest.GetData, Path: "/a/b"}, {Op: zktest.GetChildren, Path: "/"}, {Op: zktest.Exists, Path: "/a"}, {Op: zktest.Close}}
	if got := s.Requests(); !slices.Equal(got, want) || len(s.Strange()) > 0 {
		t.Errorf("%+v, %v", got, s.Strange())
	}
	for until := time.Now().Add(time.Minute); s.Sessions() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the session stays")
		}
	}
}

func TestPathsThatAreNone(t *testing.T) {
	s := started(t)
	c := client(t, s.Address())
	for _, path := range []string{"", "fluss", "/fluss/", "//", "/a//b", "/a/../b", "/./a", "/a\x00b", "/\xff", "/" + strings.Repeat("a", zkread.MaxPath)} {
		if _, _, err := c.Get(t.Context(), path); fault.KindOf(err) != fault.Usage {
			t.Errorf("%.20q: %v", path, err)
		}
	}
	if got := s.Requests(); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// What an ensemble refuses, and what the operator is told of it.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*zktest.Server)
		kind    fault.Kind
		says    string
		hint    string
	}{
		"an ACL that lets only others read": {func(s *zktest.Server) { s.Deny("/fluss/a") }, fault.Denied, "NoAuth", "the node's ACL"},
		"an ensemble that wants SASL":       {(*zktest.Server).RequireSASL, fault.Denied, "SessionClosedRequireSaslAuth", "SASL login, which is not spoken here"},
		"a server that says nothing":        {(*zktest.Server).Silence, fault.Unreachable, "did not answer", "Look at its log"},
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t)
			s.Set("/fluss/a", "1")
			c.happens(s)
			limit := time.Minute
			if c.kind == fault.Unreachable { // it is waited for
				limit = 200 * time.Millisecond
			}
			cl, err := zkread.NewClient(zkread.Config{Servers: []string{s.Address()}, Timeout: limit})
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			_, _, err = cl.Get(t.Context(), "/fluss/a")
			if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) || !strings.Contains(fault.Of(err).Hint, c.hint) {
				t.Errorf("%v (%v): %s", err, fault.KindOf(err), fault.Of(err).Hint)
			}
		})
	}
}

func TestAServerThatLostItsEnsembleIsTheLastResort(t *testing.T) {
	alone, whole := started(t), started(t)
	alone.LoseQuorum()
	for _, s := range []*zktest.Server{alone, whole} {
		s.Set("/a", s.Address())
	}
	c := client(t, alone.Address(), whole.Address())
	if data, _, err := c.Get(t.Context(), "/a"); err != nil || string(data) != whole.Address() || c.WithoutQuorum() {
		t.Errorf("%q, %v", data, err)
	}
	c = client(t, alone.Address())
	if data, _, err := c.Get(t.Context(), "/a"); err != nil || string(data) != alone.Address() || !c.WithoutQuorum() {
		t.Errorf("%q, %v", data, err)
	}
}

func TestASessionThatEndedIsOpenedAgain(t *testing.T) {
	s := started(t)
	s.Set("/a", "1")
	c := client(t, s.Address())
	for range 5 {
		if _, _, err := c.Get(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		s.EndSessions()
	}
	s.Close()
	if _, _, err := c.Get(t.Context(), "/a"); fault.KindOf(err) != fault.Unreachable {
		t.Error(err)
	}
	c.Close()
	if _, _, err := c.Get(t.Context(), "/a"); fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
}

func TestManyAskAtOnce(t *testing.T) {
	s := started(t)
	for n := range 100 {
		s.Set(fmt.Sprintf("/n/%d", n), fmt.Sprint(n))
	}
	c := client(t, s.Address())
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			if data, _, err := c.Get(t.Context(), fmt.Sprintf("/n/%d", n)); err != nil || string(data) != fmt.Sprint(n) {
				t.Errorf("%d: %q, %v", n, data, err)
			}
		})
	}
	wg.Wait()
	if s.Sessions() != 1 {
		t.Errorf("%d sessions", s.Sessions())
	}
}

// A session is shared: that one call has no time left is no reason for it to end.
func TestACallWithoutTime(t *testing.T) {
	s := started(t)
	s.Set("/a", "1")
	conn, err := zkread.Dial(t.Context(), s.Address(), zkread.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, _, err := conn.Get(ctx, "/a"); fault.KindOf(err) != fault.Unreachable {
		t.Error(err)
	}
	if data, _, err := conn.Get(t.Context(), "/a"); err != nil || string(data) != "1" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestWhoWaitsCanBeStopped(t *testing.T) {
	s := started(t)
	s.Silence()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := client(t, s.Address()).Children(ctx, "/"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// scripted is a server that says what a test wants it to, whatever it is asked, and
// then closes the connection; wait keeps it open.
func scripted(t *testing.T, wait bool, says ...[]byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				buffer := make([]byte, 4096)
				for _, frame := range says {
					if _, err := c.Read(buffer); err != nil {
						return
					}
					if _, err := c.Write(frame); err != nil {
						return
					}
				}
				if wait {
					_, _ = io.Copy(io.Discard, c) // until the client goes
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

func frame(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		if text, ok := p.(string); ok {
			p = []byte(text)
		}
		if err := binary.Write(&b, binary.BigEndian, p); err != nil {
			panic(err)
		}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(b.Len())), b.Bytes()...)
}

func TestAnswersThatAreNone(t *testing.T) {
	granted := frame(int32(0), int32(30000), int64(7), int32(16), make([]byte, 16), false)
	reply := func(parts ...any) []byte { return frame(append([]any{int32(1), int64(9), int32(0)}, parts...)...) }
	for name, c := range map[string]struct {
		says [][]byte
		wait bool
		kind fault.Kind
		text string
	}{
		"a web server":                      {[][]byte{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n")}, false, fault.Unsupported, "no ZooKeeper server"},
		"a TLS port":                        {[][]byte{{0x15, 3, 3, 0, 2, 2, 70}}, false, fault.Unsupported, "no ZooKeeper server"},
		"nothing and closes":                {nil, false, fault.Unreachable, "closed the connection without a word"},
		"another protocol's version":        {[][]byte{frame(int32(1), int32(1), int64(1), int32(0))}, true, fault.Corrupt, "version is 1"},
		"a grant that is cut":               {[][]byte{frame(int32(0), int32(1))}, true, fault.Corrupt, "too short"},
		"a grant with more behind it":       {[][]byte{frame(int32(0), int32(1), int64(1), int32(0), "\x00more")}, true, fault.Corrupt, "follow the answer"},
		"no session":                        {[][]byte{frame(int32(0), int32(0), int64(0), int32(16), make([]byte, 16), false)}, true, fault.Unreachable, "grants no session"},
		"a frame that is cut":               {[][]byte{granted, reply(int32(1), int32(1), "a")[:9]}, false, fault.Unreachable, "ended"},
		"a frame without a header":          {[][]byte{granted, frame(int32(1))}, true, fault.Corrupt, "form that is not known"},
		"an answer that nobody asked for":   {[][]byte{granted, frame(int32(77), int64(9), int32(0))}, true, fault.Corrupt, "request 77"},
		"a frame of two gigabytes":          {[][]byte{granted, {0x7f, 0xff, 0xff, 0xff}}, true, fault.Unsupported, "begins with"},
		"no list":                           {[][]byte{granted, reply()}, true, fault.Corrupt, "too short"},
		"a list of more than there is":      {[][]byte{granted, reply(int32(1<<30), int32(1), "a")}, true, fault.Corrupt, "children are promised"},
		"a list of fewer than none":         {[][]byte{granted, reply(int32(-2))}, true, fault.Corrupt, "children are promised"},
		"a name of more than there is":      {[][]byte{granted, reply(int32(1), int32(1<<20), "a")}, true, fault.Corrupt, "too short"},
		"a name of a negative length":       {[][]byte{granted, reply(int32(1), int32(-7))}, true, fault.Corrupt, "a length is -7"},
		"a name that leads elsewhere":       {[][]byte{granted, reply(int32(1), int32(4), "../x")}, true, fault.Corrupt, "no name of a child"},
		"a name with nothing in it":         {[][]byte{granted, reply(int32(1), int32(0))}, true, fault.Corrupt, "no name of a child"},
		"a name that moves the cursor back": {[][]byte{granted, reply(int32(1), int32(3), "a/\x1b")}, true, fault.Corrupt, "no name of a child"},
		"a list with more behind it":        {[][]byte{granted, reply(int32(1), int32(1), "a", int32(0))}, true, fault.Corrupt, "follow the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			address := scripted(t, c.wait, c.says...)
			_, err := client(t, address).Children(t.Context(), "/a")
			if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) || strings.Contains(fmt.Sprint(err), "\x1b") {
				t.Errorf("%v (%v)", err, fault.KindOf(err))
			}
		})
	}
}

func TestNoServerAtAll(t *testing.T) {
	if _, err := zkread.NewClient(zkread.Config{}); fault.KindOf(err) != fault.Config {
		t.Error(err)
	}
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	var asked []string
	c, err := zkread.NewClient(zkread.Config{Servers: []string{"zk1", "zk2:99"}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		asked = append(asked, address)
		return dial(ctx, network, address)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 { // the second time it is known
		if _, err := c.Children(t.Context(), "/"); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "zk1:2181") {
			t.Error(err)
		}
	}
	if !slices.Equal(asked, []string{"zk1:2181", "zk2:99"}) {
		t.Error(asked)
	}
}

// Requests that are out when an answer ends the session are told why, and not that
// the connection ended; so are those that come later.
func TestAnAnswerThatEndsTheSessionIsToldToAll(t *testing.T) {
	s := started(t)
	s.RequireSASL()
	c, err := zkread.Dial(t.Context(), s.Address(), zkread.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, _, err := c.Get(t.Context(), "/fluss"); fault.KindOf(err) != fault.Denied || !strings.Contains(fault.Of(err).Hint, "SASL") {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	if _, err := c.Children(t.Context(), "/fluss"); fault.KindOf(err) != fault.Denied || !c.Broken() {
		t.Errorf("afterwards: %v, broken %v", err, c.Broken())
	}
}
