package arkflow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recoverctl/recoverctl/internal/arrowsafe"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// Payload is an entry's payload: one batch as an input has read it. The format is
// that of wal/store.rs of ArkFlow: the length of the input's name (4 bytes, the
// highest first), the name, and an Arrow stream with one record batch.
type Payload struct {
	Input string // as the stream's configuration names it; empty: it has no name
	arrow []byte
}

// ParsePayload takes a payload apart. What it returns refers to the bytes.
func ParsePayload(b []byte) (Payload, error) {
	const lengthSize = 4
	if len(b) < lengthSize {
		return Payload{}, fmt.Errorf("the payload has %d bytes, and an input's name takes at least %d", len(b), lengthSize)
	}
	n := binary.BigEndian.Uint32(b)
	if int64(n) > int64(len(b)-lengthSize) {
		return Payload{}, fmt.Errorf("the payload says that its input's name has %s bytes, and %d follow", figures.Group(int64(n)), len(b)-lengthSize)
	}
	name := b[lengthSize : lengthSize+n]
	if !utf8.Valid(name) {
		return Payload{}, errors.New("the name of the payload's input is no UTF-8")
	}
	return Payload{Input: string(name), arrow: b[lengthSize+n:]}, nil
}

// maxPayloadMemory bounds what one payload may grow to when it is unpacked.
const maxPayloadMemory = 256 << 20

// Sizes of an encapsulated message of Arrow.
const (
	continuation = 0xffffffff
	messageHead  = 8
)

// messages hands the Arrow library one message of a stream after another. Lengths
// are compared with the bytes that are there before anything is made of them.
type messages struct {
	rest []byte
	read int // messages so far
}

// Message implements ipc.MessageReader.
func (m *messages) Message() (*ipc.Message, error) {
	if len(m.rest) == 0 && m.read > 0 {
		return nil, io.EOF // a stream may also just end
	}
	if len(m.rest) < messageHead {
		return nil, fmt.Errorf("its Arrow stream ends inside a message's head, after %d messages", m.read)
	}
	if binary.LittleEndian.Uint32(m.rest) != continuation {
		return nil, fmt.Errorf("it does not go on as an Arrow stream does, after %d messages", m.read)
	}
	size := int64(int32(binary.LittleEndian.Uint32(m.rest[4:])))
	if size == 0 {
		return nil, io.EOF
	}
	m.rest = m.rest[messageHead:]
	if size < 4 || size > int64(len(m.rest)) {
		return nil, fmt.Errorf("an Arrow message says that its metadata has %d bytes, and %d are there", size, len(m.rest))
	}
	meta := m.rest[:size]
	body, err := arrowsafe.CheckMetadata(meta)
	if err != nil {
		return nil, err
	}
	m.rest = m.rest[size:]
	if body > int64(len(m.rest)) {
		return nil, fmt.Errorf("an Arrow message says that its body has %d bytes, and %d are there", body, len(m.rest))
	}
	message := ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(m.rest[:body]))
	m.rest = m.rest[body:]
	m.read++
	return message, nil
}

// guarded is Message where nobody else recovers: the library looks into metadata
// without asking whether it ends.
func (m *messages) guarded() (message *ipc.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			message, err = nil, fmt.Errorf("an Arrow message's metadata is damaged: %v", r)
		}
	}()
	return m.Message()
}

// Release implements ipc.MessageReader.
func (m *messages) Release() {}

// Retain implements ipc.MessageReader.
func (m *messages) Retain() {}

// batch reads the one record batch of a payload, and lets use look at it. The
// library trusts what a message says of itself and panics where that leads out
// of it; that is damage, like any other.
func (p Payload) batch(use func(arrow.RecordBatch) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the payload's Arrow stream is damaged: %v", r)
		}
	}()
	reader, err := ipc.NewReaderFromMessageReader(&messages{rest: p.arrow}, ipc.WithAllocator(arrowsafe.New(maxPayloadMemory)))
	if err != nil {
		return fmt.Errorf("the payload holds no Arrow stream: %w", err)
	}
	defer reader.Release()
	if !reader.Next() {
		if err := reader.Err(); err != nil {
			return fmt.Errorf("the payload's Arrow stream can't be read: %w", err)
		}
		return errors.New("the payload's Arrow stream has no record batch")
	}
	b := reader.RecordBatch()
	if b.NumRows() < 0 {
		return fmt.Errorf("the payload's batch says that it has %d rows", b.NumRows())
	}
	return use(b)
}
