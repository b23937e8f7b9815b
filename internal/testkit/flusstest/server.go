package flusstest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

// server is one server of the cluster.
type server struct {
	cluster *Cluster
	kind    flussrpc.ServerKind
	id      int32

	mu      sync.Mutex
	port    string     // of its last start
	held    *port.Held // while it is stopped; nil otherwise
	l       net.Listener
	conns   map[net.Conn]bool
	running sync.WaitGroup
}

func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.l != nil {
		return nil
	}
	at := s.port
	if at == "" {
		at = "127.0.0.1:0"
	}
	s.release()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", at)
	if err != nil {
		return err
	}
	s.l, s.port, s.conns = l, l.Addr().String(), map[net.Conn]bool{}
	s.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			if s.l != l {
				s.mu.Unlock()
				_ = conn.Close() // it came too late
				return
			}
			s.conns[conn] = true
			s.mu.Unlock()
			s.running.Go(func() {
				s.serve(conn)
				_ = conn.Close()
			})
		}
	})
	return nil
}

// stop ends it. It keeps its port, so that it is refused there and not answered by
// another, and may come back.
func (s *server) stop() {
	s.mu.Lock()
	if s.l != nil {
		_ = s.l.Close()
		s.l = nil
		s.held, _ = port.Hold(s.port) // where another was quicker, start says so
	}
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// end stops it for good.
func (s *server) end() {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

// release lets a held port go.
func (s *server) release() {
	if s.held != nil {
		_ = s.held.Close() // nothing was written to it
		s.held = nil
	}
}

func (s *server) up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.l != nil
}

func (s *server) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// Of a frame.
const (
	lengthSize    = 4
	requestHeader = 8
	maxRequest    = 100 << 20
)

// The kinds of answers.
const (
	success = 0
	refused = 1
	failure = 2
)

func frame(kind byte, id int32, message proto.Message) []byte {
	out := []byte{0, 0, 0, 0, kind}
	if kind != failure {
		out = binary.BigEndian.AppendUint32(out, uint32(id))
	}
	out, err := proto.MarshalOptions{}.MarshalAppend(out, message)
	if err != nil {
		panic("flusstest: " + err.Error())
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)-lengthSize))
	return out
}

func errorFrame(kind byte, id int32, e *flussrpc.Error) []byte {
	return frame(kind, id, &flusspb.ErrorResponse{ErrorCode: proto.Int32(int32(e.Code)), ErrorMessage: proto.String(e.Message)})
}

// serve answers the requests of one connection until it ends.
func (s *server) serve(conn net.Conn) {
	session := session{server: s, authenticated: len(s.cluster.options.Users) == 0}
	for {
		var head [lengthSize]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(head[:])
		if size < requestHeader || size > maxRequest {
			return
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		call := Call{API: flussrpc.API(binary.BigEndian.Uint16(body)), Server: s.kind, ID: s.id, Body: body[requestHeader:]}
		id := int32(binary.BigEndian.Uint32(body[4:]))
		answer, ok := session.answer(call, id)
		if !ok {
			return
		}
		if len(answer) > 0 {
			if _, err := conn.Write(answer); err != nil {
				return
			}
			if answer[lengthSize] == failure {
				return
			}
		}
	}
}

// session is what a server knows of a connection.
type session struct {
	server        *server
	authenticated bool
}

// answer is the frame that answers a request; none where the server is silent.
// It is false where the connection ends.
func (s *session) answer(call Call, id int32) ([]byte, bool) {
	r := s.server.cluster.react(call)
	if r.After && s.authenticated {
		_, _ = s.reply(call)
	}
	switch {
	case r.Silent:
		return nil, true
	case r.HangUp:
		return nil, false
	case r.Refuse != nil:
		return errorFrame(refused, id, r.Refuse), true
	case r.Failure != nil:
		return errorFrame(failure, 0, r.Failure), true
	case r.Raw != nil:
		return r.Raw, true
	}
	if !s.authenticated && call.API != flussrpc.APIVersions && call.API != flussrpc.APIAuthenticate {
		return errorFrame(refused, id, &flussrpc.Error{
			Code:    flussrpc.Authenticate,
			Message: "The connection has not completed authentication yet. This may be caused by a missing or incorrect configuration of 'client.security.protocol' on the client side.",
		}), true
	}
	message, e := s.reply(call)
	switch {
	case e != nil:
		return errorFrame(refused, id, e), true
	case message == nil:
		return nil, true
	default:
		return frame(success, id, message), true
	}
}

// served are the calls of each kind of server.
func served(kind flussrpc.ServerKind) []flussrpc.API {
	both := []flussrpc.API{
		flussrpc.APIVersions, flussrpc.APIListDatabases, flussrpc.APIGetTableInfo, flussrpc.APIListTables, flussrpc.APIListPartitionInfos,
		flussrpc.APIGetTableSchema, flussrpc.APIGetMetadata, flussrpc.APIAuthenticate, flussrpc.APIDescribeConfigs, flussrpc.APIGetLatestSnapshots,
		flussrpc.APIGetLakeSnapshot,
	}
	if kind == flussrpc.Coordinator {
		return append(both, flussrpc.APIRegisterProducer, flussrpc.APIGetProducerOffsets, flussrpc.APIDeleteProducer)
	}
	return append(both, flussrpc.APIFetchLog, flussrpc.APIListOffsets)
}

// into decodes a request; one that does not parse is never answered.
func into[M proto.Message](body []byte, request M) (M, bool) {
	return request, proto.Unmarshal(body, request) == nil
}

// reply is the answer to a request: a message, a refusal, or neither.
func (s *session) reply(call Call) (proto.Message, *flussrpc.Error) {
	if !slices.Contains(served(s.server.kind), call.API) {
		return nil, nil
	}
	c := s.server.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	switch call.API {
	case flussrpc.APIVersions:
		if _, ok := into(call.Body, &flusspb.ApiVersionsRequest{}); ok {
			out := &flusspb.ApiVersionsResponse{ServerType: proto.Int32(int32(s.server.kind))}
			for _, api := range served(s.server.kind) {
				out.ApiVersions = append(out.ApiVersions, &flusspb.ApiVersion{ApiKey: proto.Int32(int32(api)), MinVersion: proto.Int32(0), MaxVersion: proto.Int32(0)})
			}
			return out, nil
		}
	case flussrpc.APIAuthenticate:
		if r, ok := into(call.Body, &flusspb.AuthenticateRequest{}); ok {
			return s.logIn(r)
		}
	case flussrpc.APIGetMetadata:
		if r, ok := into(call.Body, &flusspb.GetMetadataRequest{}); ok {
			return c.metadata(r)
		}
	case flussrpc.APIListDatabases:
		if _, ok := into(call.Body, &flusspb.ListDatabasesRequest{}); ok {
			return c.listDatabases(), nil
		}
	case flussrpc.APIListTables:
		if r, ok := into(call.Body, &flusspb.ListTablesRequest{}); ok {
			return c.listTables(r)
		}
	case flussrpc.APIGetTableInfo:
		if r, ok := into(call.Body, &flusspb.GetTableInfoRequest{}); ok {
			return c.tableInfo(r)
		}
	case flussrpc.APIGetTableSchema:
		if r, ok := into(call.Body, &flusspb.GetTableSchemaRequest{}); ok {
			return c.tableSchema(r)
		}
	case flussrpc.APIListPartitionInfos:
		if r, ok := into(call.Body, &flusspb.ListPartitionInfosRequest{}); ok {
			return c.listPartitions(r)
		}
	case flussrpc.APIGetLatestSnapshots:
		if r, ok := into(call.Body, &flusspb.GetLatestKvSnapshotsRequest{}); ok {
			return nil, &flussrpc.Error{Code: flussrpc.NonPrimaryKeyTable, Message: "Table '" + pathOf(r.GetTablePath()).String() + "' is not a primary key table, so it doesn't have any kv snapshots."}
		}
	case flussrpc.APIGetLakeSnapshot:
		if r, ok := into(call.Body, &flusspb.GetLakeSnapshotRequest{}); ok {
			return c.lakeSnapshot(r)
		}
	case flussrpc.APIDescribeConfigs:
		return c.describeConfigs(), nil
	case flussrpc.APIListOffsets:
		if r, ok := into(call.Body, &flusspb.ListOffsetsRequest{}); ok {
			return c.listOffsets(s.server.id, r), nil
		}
	case flussrpc.APIFetchLog:
		if r, ok := into(call.Body, &flusspb.FetchLogRequest{}); ok {
			return c.fetchLog(s.server.id, r), nil
		}
	case flussrpc.APIRegisterProducer:
		if r, ok := into(call.Body, &flusspb.RegisterProducerOffsetsRequest{}); ok {
			return c.register(r)
		}
	case flussrpc.APIGetProducerOffsets:
		if r, ok := into(call.Body, &flusspb.GetProducerOffsetsRequest{}); ok {
			return c.getProducer(r)
		}
	case flussrpc.APIDeleteProducer:
		if r, ok := into(call.Body, &flusspb.DeleteProducerOffsetsRequest{}); ok {
			return c.deleteProducer(r)
		}
	}
	return nil, nil
}

func (s *session) logIn(r *flusspb.AuthenticateRequest) (proto.Message, *flussrpc.Error) {
	users := s.server.cluster.options.Users
	if len(users) == 0 {
		return nil, &flussrpc.Error{Code: flussrpc.Authenticate, Message: "Authenticate protocol not match: protocol of server is 'PLAINTEXT' while protocol of client is '" + r.GetProtocol() + "'"}
	}
	if !strings.EqualFold(r.GetProtocol(), "PLAIN") {
		return nil, &flussrpc.Error{Code: flussrpc.Authenticate, Message: "SASL server enables [PLAIN] while protocol of client is '" + r.GetProtocol() + "'"}
	}
	parts := strings.Split(string(r.GetToken()), "\x00")
	const fields = 3 // whom to act for, user, password
	if len(parts) == fields {
		if password, ok := users[parts[1]]; ok && password == parts[2] && (parts[0] == "" || parts[0] == parts[1]) {
			s.authenticated = true
			return &flusspb.AuthenticateResponse{Challenge: []byte{}}, nil
		}
	}
	return nil, &flussrpc.Error{Code: flussrpc.Authenticate, Message: "Authentication failed: Invalid username or password"}
}
