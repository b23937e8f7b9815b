package flussrpc

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server for one connection: it answers each request as reply says;
// nil is silence, and an error ends the connection.
func serve(t *testing.T, reply func(api API, id int32, body []byte) ([]byte, error)) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for {
			var head [12]byte
			if _, err := io.ReadFull(c, head[:]); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(head[:])-requestHeaderSize)
			if _, err := io.ReadFull(c, body); err != nil {
				return
			}
			answer, err := reply(API(binary.BigEndian.Uint16(head[4:])), int32(binary.BigEndian.Uint32(head[8:])), body)
			if err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

// framed is an answer as it goes over the wire.
func framed(kind byte, id int32, m proto.Message) []byte {
	body, _ := proto.Marshal(m) // of what can't fail
	out := []byte{0, 0, 0, 0, kind}
	if kind != answerFailure {
		out = binary.BigEndian.AppendUint32(out, uint32(id))
	}
	out = append(out, body...)
	binary.BigEndian.PutUint32(out, uint32(len(out)-lengthSize))
	return out
}

// recordedServer answers as the recorded tablet server greets, and the rest as
// then says.
func recordedServer(t *testing.T, then func(api API, id int32, body []byte) ([]byte, error)) string {
	hello := frameOf(t, "api-versions-tablet.resp.bin")
	return serve(t, func(api API, id int32, body []byte) ([]byte, error) {
		if api == APIVersions {
			answer := append([]byte(nil), hello...)
			binary.BigEndian.PutUint32(answer[5:], uint32(id))
			return answer, nil
		}
		return then(api, id, body)
	})
}

var errEnd = errors.New("the server ends the connection")

func silent(API, int32, []byte) ([]byte, error) { return nil, nil }

func dial(t *testing.T, address string, o Options) (*Conn, error) {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	c, err := Dial(t.Context(), address, o)
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

func TestAServerSaysWhatItServes(t *testing.T) {
	c, err := dial(t, recordedServer(t, silent), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Kind() != TabletServer || !c.Serves(APIFetchLog) || c.Serves(APIGetProducerOffsets) {
		t.Errorf("%s, %v", c.Kind(), c.serves)
	}
	// A call that it does not serve is never sent: the server would be silent.
	err = c.Call(t.Context(), APIGetProducerOffsets, &flusspb.GetProducerOffsetsRequest{ProducerId: proto.String("a")}, &flusspb.GetProducerOffsetsResponse{})
	if fault.KindOf(err) != fault.Unsupported || c.Broken() {
		t.Error(err)
	}
}

// A server that says what it is and goes at once is named by the goroutine that
// reads, while the one that dials notes the name.
func TestAServerThatGoesAfterItsGreeting(t *testing.T) {
	hello := frameOf(t, "api-versions-tablet.resp.bin")
	for range 200 {
		near, far := net.Pipe()
		var server sync.WaitGroup
		server.Go(func() {
			defer far.Close()
			var head [requestHeaderSize + lengthSize]byte
			if _, err := io.ReadFull(far, head[:]); err != nil {
				t.Error(err)
				return
			}
			rest := int64(binary.BigEndian.Uint32(head[:])) - requestHeaderSize
			if _, err := io.CopyN(io.Discard, far, rest); err != nil {
				t.Error(err)
				return
			}
			if _, err := far.Write(hello); err != nil {
				t.Error(err)
			}
		})
		c, err := Dial(t.Context(), "fluss:9123", Options{Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil }})
		server.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind() != TabletServer {
			t.Errorf("it is %s", c.Kind())
		}
		if _, err := listDatabases(t.Context(), c); fault.KindOf(err) != fault.Unreachable {
			t.Error(err)
		}
		c.Close()
	}
}

func listDatabases(ctx context.Context, c *Conn) ([]string, error) {
	var answer flusspb.ListDatabasesResponse
	err := c.Call(ctx, APIListDatabases, &flusspb.ListDatabasesRequest{}, &answer)
	return answer.GetDatabaseName(), err
}

// Two requests are on their way at once, and the second is answered first.
func TestAnswersComeInAnyOrder(t *testing.T) {
	var mu sync.Mutex
	var held []byte
	c, err := dial(t, recordedServer(t, func(api API, id int32, _ []byte) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if api == APIListDatabases {
			held = framed(answerSuccess, id, &flusspb.ListDatabasesResponse{DatabaseName: []string{"late"}})
			return nil, nil
		}
		return append(framed(answerSuccess, id, &flusspb.ListTablesResponse{TableName: []string{"early"}}), held...), nil
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if got, err := listDatabases(t.Context(), c); err != nil || len(got) != 1 || got[0] != "late" {
			t.Error(got, err)
		}
	})
	for {
		mu.Lock()
		sent := held != nil
		mu.Unlock()
		if sent {
			break
		}
		time.Sleep(time.Millisecond)
	}
	var answer flusspb.ListTablesResponse
	if err := c.Call(t.Context(), APIListTables, &flusspb.ListTablesRequest{DatabaseName: proto.String("d")}, &answer); err != nil || answer.GetTableName()[0] != "early" {
		t.Error(&answer, err)
	}
	wg.Wait()
}

func TestWhatAServerMayDoInstead(t *testing.T) {
	for name, c := range map[string]struct {
		reply  func(api API, id int32, body []byte) ([]byte, error)
		kind   fault.Kind
		says   string
		broken bool
	}{
		"it is silent": {silent, fault.Unreachable, "did not answer ListDatabases in 50ms", false},
		"it refuses": {func(_ API, id int32, _ []byte) ([]byte, error) {
			return framed(answerError, id, &flusspb.ErrorResponse{ErrorCode: proto.Int32(int32(Authorization)), ErrorMessage: proto.String("User a has no DESCRIBE\x1b[2J")}), nil
		}, fault.Denied, `AUTHORIZATION: User a has no DESCRIBE\x1b[2J`, false},
		"it gives up": {func(API, int32, []byte) ([]byte, error) {
			return framed(answerFailure, 0, &flusspb.ErrorResponse{ErrorCode: proto.Int32(int32(Network)), ErrorMessage: proto.String("shutting down")}), nil
		}, fault.Unreachable, "gave the connection up", true},
		"it hangs up": {func(API, int32, []byte) ([]byte, error) { return nil, errEnd }, fault.Unreachable, "the connection to tablet server", true},
		"it answers somebody else, then hangs up": {func(_ API, id int32, _ []byte) ([]byte, error) {
			return framed(answerSuccess, id+100, &flusspb.ListDatabasesResponse{}), nil
		}, fault.Unreachable, "did not answer", false},
		"it answers something else": {func(_ API, id int32, _ []byte) ([]byte, error) {
			return []byte{0, 0, 0, 6, 0, 0, 0, 0, byte(id), 0xff}, nil
		}, fault.Corrupt, "can't be decoded", false},
		"it speaks HTTP": {func(API, int32, []byte) ([]byte, error) { return []byte("HTTP/1.1 200 OK\r\n\r\n"), nil }, fault.Unsupported, "is no Fluss server", true},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := dial(t, recordedServer(t, c.reply), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(c.says, "did not answer") {
				conn.timeout = 50 * time.Millisecond
			}
			_, err = listDatabases(t.Context(), conn)
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || conn.Broken() != c.broken {
				t.Errorf("%v (%v), broken %v", err, fault.KindOf(err), conn.Broken())
			}
			if c.broken {
				if _, again := listDatabases(t.Context(), conn); again == nil || again.Error() != err.Error() && !strings.Contains(again.Error(), c.says) {
					t.Errorf("again: %v", again)
				}
			}
		})
	}
}

func TestACallCanBeGivenUp(t *testing.T) {
	c, err := dial(t, recordedServer(t, silent), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := listDatabases(ctx, c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if c.Broken() {
		t.Error("the connection is of no use any more")
	}
}

// A connection is shared: that one call has no time left is no reason for it to end.
func TestACallWithoutTime(t *testing.T) {
	c, err := dial(t, recordedServer(t, silent), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := listDatabases(ctx, c); fault.KindOf(err) != fault.Unreachable {
		t.Error(err)
	}
	if c.Broken() {
		t.Error("the connection is of no use any more")
	}
}

func TestLoggingIn(t *testing.T) {
	for name, c := range map[string]struct {
		recording string
		kind      fault.Kind // of the refusal
		refused   bool
	}{
		"accepted":         {"sasl-authenticate-ok", 0, false},
		"a wrong password": {"sasl-error-wrong-password", fault.Denied, true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := exchanges(t)[c.recording]; !ok {
				t.Fatalf("there is no recording %s", c.recording)
			}
			frame := frameOf(t, c.recording+".resp.bin")
			var token []byte
			address := recordedServer(t, func(api API, id int32, body []byte) ([]byte, error) {
				var request flusspb.AuthenticateRequest
				if api != APIAuthenticate || proto.Unmarshal(body, &request) != nil {
					return nil, errEnd
				}
				token = request.GetToken()
				answer := append([]byte(nil), frame...)
				binary.BigEndian.PutUint32(answer[5:], uint32(id))
				return answer, nil
			})
			_, err := dial(t, address, Options{Login: &Login{Username: "ops", Password: secret.New("hunter2")}})
			if (err != nil) != c.refused || c.refused && fault.KindOf(err) != c.kind {
				t.Fatal(err)
			}
			if string(token) != "\x00ops\x00hunter2" {
				t.Errorf("token %q", token)
			}
			if err != nil && strings.Contains(err.Error()+fault.Of(err).Hint, "hunter2") {
				t.Errorf("the password stands in %v", err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	address := port.Closed(t)
	if _, err := dial(t, address, Options{}); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), address) {
		t.Error(err)
	}
}
