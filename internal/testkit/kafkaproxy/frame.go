package kafkaproxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxFrame is the longest request that a broker takes by default,
// socket.request.max.bytes. No answer with default settings is longer.
const maxFrame = 100 << 20

// errFrame marks bytes that are not Kafka's protocol, as against a connection
// that ended.
var errFrame = errors.New("not a Kafka frame")

// readFrame reads one request or answer without its length. Memory is taken
// as the bytes arrive, not as the length promises.
func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	size := int32(binary.BigEndian.Uint32(length[:]))
	if size < 4 || size > maxFrame {
		return nil, fmt.Errorf("%w: a length of %d", errFrame, size)
	}
	var buf bytes.Buffer
	if _, err := io.CopyN(&buf, r, int64(size)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return buf.Bytes(), nil
}

// writeFrame writes a frame with its length before it.
func writeFrame(w io.Writer, frame []byte) error {
	length := binary.BigEndian.AppendUint32(nil, uint32(len(frame)))
	buffers := net.Buffers{length, frame}
	_, err := buffers.WriteTo(w)
	return err
}

// header is the head of a request.
type header struct {
	key         kmsg.Key
	version     int16
	correlation int32
	clientID    string
}

// parseRequest reads a request. The second value is nil for a kind of request
// that is not known here, and for a newer ApiVersions, with which a client
// asks what there is: their head is read all the same. A newer version of
// another request is an error, as no client sends one after it was told what
// the proxy knows.
func parseRequest(frame []byte) (header, kmsg.Request, error) {
	r := kbin.Reader{Src: frame}
	h := header{key: kmsg.Key(r.Int16()), version: r.Int16(), correlation: r.Int32()}
	// The oldest request of all names no client.
	if h.key != kmsg.ControlledShutdown || h.version > 0 {
		h.clientID = deref(r.NullableString())
	}
	if !r.Ok() || h.version < 0 {
		return header{}, nil, fmt.Errorf("%w: a request head of %d bytes", errFrame, len(frame))
	}
	req := kmsg.RequestForKey(int16(h.key))
	if req == nil || (h.key == kmsg.ApiVersions && h.version > req.MaxVersion()) {
		return h, nil, nil
	}
	if h.version > req.MaxVersion() {
		return header{}, nil, fmt.Errorf("%w that is known here: %s, and v%d is the newest", errFrame, h.name(), req.MaxVersion())
	}
	req.SetVersion(h.version)
	if req.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if !r.Ok() {
		return header{}, nil, fmt.Errorf("%w: the head of %s", errFrame, h.name())
	}
	if err := req.ReadFrom(r.Src); err != nil {
		return header{}, nil, fmt.Errorf("%w: the body of %s: %w", errFrame, h.name(), err)
	}
	return h, req, nil
}

// name is as in "Produce v13, correlation 4".
func (h header) name() string {
	return fmt.Sprintf("%s v%d, correlation %d", kmsg.NameForKey(int16(h.key)), h.version, h.correlation)
}

// correlationOf is the correlation id that an answer carries. A frame has at
// least four bytes.
func correlationOf(answer []byte) int32 { return int32(binary.BigEndian.Uint32(answer)) }

// parseAnswer reads the answer to a request that is known here, and returns
// its head's bytes too.
func parseAnswer(req kmsg.Request, frame []byte) (kmsg.Response, []byte, error) {
	resp := req.ResponseKind()
	r := kbin.Reader{Src: frame[4:]}
	if tagged(resp) {
		kmsg.SkipTags(&r)
	}
	if !r.Ok() {
		return nil, nil, fmt.Errorf("%w: the head of an answer to %s", errFrame, kmsg.NameForKey(req.Key()))
	}
	if err := resp.ReadFrom(r.Src); err != nil {
		return nil, nil, fmt.Errorf("%w: an answer to %s v%d: %w", errFrame, kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return resp, frame[:len(frame)-len(r.Src)], nil
}

// appendAnswer makes the frame of an answer.
func appendAnswer(correlation int32, resp kmsg.Response) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(correlation))
	if tagged(resp) {
		frame = append(frame, 0)
	}
	return resp.AppendTo(frame)
}

// tagged reports whether the answer's head has tags. That of ApiVersions never
// has: its client does not know yet what the broker speaks.
func tagged(resp kmsg.Response) bool {
	return resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions)
}
