package zkread

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// MaxFrame is the largest frame that is read, in bytes. ZooKeeper's own limit of a
// request and of a node is 1 MB; a list of children may be longer.
const MaxFrame = 16 << 20

// MaxPath is the longest path that is asked for, in bytes.
const MaxPath = 4096

// op is what a request asks for. There are no others here, so that nothing can be
// written.
type op int32

const (
	opExists      op = 3
	opGetData     op = 4
	opGetChildren op = 8
	opClose       op = -11
)

func (o op) String() string {
	switch o {
	case opExists:
		return "exists"
	case opGetData:
		return "getData"
	case opGetChildren:
		return "getChildren"
	case opClose:
		return "close"
	default:
		return "connect"
	}
}

// passwordSize is how long a session's password is. Zeros ask for a new session.
const passwordSize = 16

// connectFrame is the first frame of a connection: it asks for a new session, and
// takes a server that has lost its ensemble as well, which then says so.
func connectFrame(session time.Duration) []byte {
	b := make([]byte, 4, 64)
	b = binary.BigEndian.AppendUint32(b, 0) // version of the protocol
	b = binary.BigEndian.AppendUint64(b, 0) // last transaction that was seen
	b = binary.BigEndian.AppendUint32(b, uint32(session.Milliseconds()))
	b = binary.BigEndian.AppendUint64(b, 0) // id of the session: a new one
	b = binary.BigEndian.AppendUint32(b, passwordSize)
	b = append(b, make([]byte, passwordSize)...)
	b = append(b, 1) // a server that can only be read from is fine
	return framed(b)
}

// requestFrame asks for a path, without a watch; closing has no path.
func requestFrame(xid int32, o op, path string) []byte {
	b := make([]byte, 4, 4+8+4+len(path)+1)
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint32(b, uint32(o))
	if o != opClose {
		b = binary.BigEndian.AppendUint32(b, uint32(len(path)))
		b = append(b, path...)
		b = append(b, 0) // no watch
	}
	return framed(b)
}

// framed fills in the length that stands before a frame.
func framed(b []byte) []byte {
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// NotZooKeeperError is what is said of bytes that are no answer of a ZooKeeper
// server.
type NotZooKeeperError struct {
	Begins []byte
}

func (e *NotZooKeeperError) Error() string {
	return fmt.Sprintf("the answer begins with %s and not as an answer of ZooKeeper", safetext.Bytes(e.Begins))
}

// tls reports whether the bytes are TLS's word that it does not understand.
func (e *NotZooKeeperError) tls() bool {
	const alert, version = 0x15, 0x03
	return len(e.Begins) > 1 && e.Begins[0] == alert && e.Begins[1] == version
}

// ReadFrame reads one frame without its length. What can't be one, because another
// kind of server answers, is a *NotZooKeeperError.
func ReadFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > MaxFrame {
		return nil, &NotZooKeeperError{Begins: bytes.Clone(head[:])}
	}
	// A length is a promise: the buffer grows with what has come.
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, int64(size)); errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// errShort is of an answer that ends before what it should hold.
var errShort = errors.New("the answer is too short")

// reader takes an answer apart. After the first error everything is zero.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err == nil && n > len(r.rest) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// buffer is bytes with their length before them; a length of -1 means none.
func (r *reader) buffer() []byte {
	switch size := r.int32(); {
	case size == -1:
		return nil
	case size < 0 && r.err == nil:
		r.err = fmt.Errorf("a length is %d", size)
		return nil
	default:
		return r.take(int(size))
	}
}

// whole is what is wrong with an answer whose parts were all read.
func (r *reader) whole() error {
	if r.err == nil && len(r.rest) > 0 {
		return fmt.Errorf("%d bytes follow the answer", len(r.rest))
	}
	return r.err
}

// session is what a server grants.
type session struct {
	id       int64
	timeout  time.Duration
	readOnly bool // the server has lost its ensemble, and what it says may be old
}

// parseConnect reads the answer to a connect. Releases before 3.4 leave out
// whether the server can only be read from.
func parseConnect(frame []byte) (session, error) {
	r := reader{rest: frame}
	version := r.int32()
	s := session{timeout: time.Duration(r.int32()) * time.Millisecond, id: r.int64()}
	r.buffer()
	if r.err == nil && len(r.rest) > 0 {
		s.readOnly = r.take(1)[0] != 0
	}
	if r.err == nil && version != 0 {
		return s, fmt.Errorf("the protocol's version is %d and not 0", version)
	}
	return s, r.whole()
}

// reply is one answer, not yet decoded.
type reply struct {
	xid  int32
	code Code
	body []byte
}

func parseReply(frame []byte) (reply, error) {
	r := reader{rest: frame}
	out := reply{xid: r.int32()}
	r.int64() // the transaction that the server has seen last
	out.code = Code(r.int32())
	out.body = r.rest
	return out, r.err
}

// Stat is what ZooKeeper keeps of a node beside its data.
type Stat struct {
	Created   time.Time
	Modified  time.Time
	Version   int32 // how often the data was changed
	Ephemeral int64 // id of the session that the node ends with; 0: it stays
	Children  int32
}

func (r *reader) stat() Stat {
	r.int64() // transaction that made it
	r.int64() // and that changed it last
	s := Stat{Created: time.UnixMilli(r.int64()).UTC(), Modified: time.UnixMilli(r.int64()).UTC(), Version: r.int32()}
	r.int32() // version of the children
	r.int32() // and of the ACL
	s.Ephemeral = r.int64()
	r.int32() // length of the data
	s.Children = r.int32()
	r.int64() // transaction that changed the children last
	return s
}

// parseExists reads the answer to exists.
func parseExists(body []byte) (Stat, error) {
	r := reader{rest: body}
	s := r.stat()
	return s, r.whole()
}

// parseData reads the answer to getData. The bytes are those of body.
func parseData(body []byte) ([]byte, Stat, error) {
	r := reader{rest: body}
	data := r.buffer()
	s := r.stat()
	return data, s, r.whole()
}

// parseChildren reads the answer to getChildren. A name that could lead elsewhere
// is refused.
func parseChildren(body []byte) ([]string, error) {
	r := reader{rest: body}
	count := r.int32()
	// Each name has at least its length before it.
	if r.err == nil && (count < -1 || int64(count)*4 > int64(len(r.rest))) {
		return nil, fmt.Errorf("%d children are promised in %d bytes", count, len(r.rest))
	}
	out := make([]string, 0, max(count, 0))
	for range count {
		name := string(r.buffer())
		if r.err != nil {
			break
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	if err := r.whole(); err != nil {
		return nil, err
	}
	return out, nil
}

// checkName asks whether a child's name can be one.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > MaxPath || strings.ContainsAny(name, "/\x00") || !utf8.ValidString(name) {
		return fmt.Errorf("%s is no name of a child", safetext.Of(name))
	}
	return nil
}

// checkPath asks whether a path can be one.
func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || len(path) > MaxPath {
		return fmt.Errorf("%s is no path", safetext.Of(path))
	}
	if path == "/" {
		return nil
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if err := checkName(name); err != nil {
			return fmt.Errorf("%s is no path", safetext.Of(path))
		}
	}
	return nil
}
