package flussrpc

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// MaxFrame is the largest frame that is read or sent, in bytes: the servers' own
// default limit of a request is 100 MB.
const MaxFrame = 128 << 20

// Sizes of what stands before a message.
const (
	lengthSize        = 4
	requestHeaderSize = 8 // api key, version, request id
)

// The kinds of answers.
const (
	answerSuccess = 0
	answerError   = 1
	answerFailure = 2 // of the server; it has no request id, and the connection ends
)

// AppendRequest appends a whole request frame: its length, the call, its version,
// the request's id and the message.
func AppendRequest(b []byte, api API, version int16, id int32, message proto.Message) ([]byte, error) {
	start := len(b)
	b = append(b, make([]byte, lengthSize+requestHeaderSize)...)
	b, err := proto.MarshalOptions{}.MarshalAppend(b, message)
	if err != nil {
		return nil, fmt.Errorf("encode a %s request: %w", api, err)
	}
	size := len(b) - start - lengthSize
	if size > MaxFrame {
		return nil, fmt.Errorf("a %s request of %d bytes is larger than a frame may be", api, size)
	}
	head := b[start:]
	binary.BigEndian.PutUint32(head, uint32(size))
	binary.BigEndian.PutUint16(head[4:], uint16(api))
	binary.BigEndian.PutUint16(head[6:], uint16(version))
	binary.BigEndian.PutUint32(head[8:], uint32(id))
	return b, nil
}

// ReadFrame reads one frame without its length. What can't be one, because
// another kind of server answers, is a *NotFlussError.
func ReadFrame(r io.Reader) ([]byte, error) {
	frame, _, err := readFrame(r, nil)
	return frame, err
}

// readFrame is ReadFrame for frames of which the large ones lie in buffers, of
// which the caller holds the one that is returned. Without a place where they are
// kept, and of a small frame, it is nil.
func readFrame(r io.Reader, home *sync.Pool) ([]byte, *buffer, error) {
	var head [lengthSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size < 1 || size > MaxFrame {
		return nil, nil, &NotFlussError{Begins: append([]byte(nil), head[:]...)}
	}
	if home == nil || size <= smallFrame {
		frame, err := readRest(r, head, nil, size)
		return frame, nil, err
	}
	b := newBuffer(home)
	frame, err := readRest(r, head, b.bytes[:0], size)
	if err != nil {
		return nil, nil, err
	}
	b.bytes = frame
	return frame, b, nil
}

// readRest reads what follows the length, into a frame as large as that has room.
func readRest(r io.Reader, head [lengthSize]byte, frame []byte, size int64) ([]byte, error) {
	// A length is a promise: no more is allocated than twice what has come.
	const first = 1 << 20
	for int64(len(frame)) < size {
		have := len(frame)
		frame = slices.Grow(frame, min(max(first, have), int(size)-have))
		frame = frame[:min(cap(frame), int(size))]
		if _, err := io.ReadFull(r, frame[have:]); err != nil {
			if err == io.EOF { //nolint:errorlint // ReadFull returns it bare
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if have == 0 && frame[0] > answerFailure {
			return nil, &NotFlussError{Begins: append(head[:], frame[:min(len(frame), 16)]...)}
		}
	}
	return frame, nil
}

// NotFlussError is what is said of bytes that are no answer of a Fluss server.
type NotFlussError struct {
	Begins []byte
}

func (e *NotFlussError) Error() string {
	return fmt.Sprintf("the answer begins with %s and not as an answer of a Fluss server", safetext.Bytes(e.Begins))
}

// Answer is one response, not yet decoded. ID is -1 where the server failed as a
// whole.
type Answer struct {
	ID   int32
	Err  *Error // nil: Body holds the message
	Body []byte

	buffer *buffer // that Body lies in; nil: it is Body's own
}

// ParseAnswer takes a frame apart. The body shares its bytes.
func ParseAnswer(frame []byte) (Answer, error) {
	const idSize = 4
	if len(frame) == 0 {
		return Answer{}, fmt.Errorf("an answer is empty")
	}
	kind, rest := frame[0], frame[1:]
	a := Answer{ID: -1}
	switch kind {
	case answerSuccess, answerError:
		if len(rest) < idSize {
			return a, fmt.Errorf("an answer of %d bytes has no request id", len(frame))
		}
		a.ID, rest = int32(binary.BigEndian.Uint32(rest)), rest[idSize:]
	case answerFailure:
	default:
		return a, fmt.Errorf("an answer is of kind %d, which is not known", kind)
	}
	if kind == answerSuccess {
		a.Body = rest
		return a, nil
	}
	var e flusspb.ErrorResponse
	if err := proto.Unmarshal(rest, &e); err != nil {
		return a, fmt.Errorf("an error answer can't be decoded: %w", err)
	}
	a.Err = &Error{Code: Code(e.GetErrorCode()), Message: e.GetErrorMessage()}
	return a, nil
}
