package flinkmeta

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// The versions of the operator state stream that are read here.
const (
	streamWithoutFlag int32 = 5 // Flink 1.7 to 1.17: no compression
	streamWithFlag    int32 = 6 // Flink 1.18 and later
)

// OperatorStream is the stream that an operator state handle points to, with
// the handle that says where its elements are.
type OperatorStream struct {
	Version    int32
	Compressed bool

	data   []byte
	start  int // of the header's part after version and flag
	handle *OperatorState
	ends   []int64 // offsets of all states of the handle, sorted
}

// OpenOperatorStream reads the start of a stream: data is the whole of what
// handle.Stream means, for a merged file the segment alone. The stream keeps
// data and handle, which must not change.
//
// The error is an *Error: fault.Unsupported (U6) for a version other than 5 and
// 6, else fault.Corrupt. Element offsets outside the stream are found here (F9),
// whatever state they belong to.
func OpenOperatorStream(data []byte, handle *OperatorState) (*OperatorStream, error) {
	r := streamReader(data)
	s := &OperatorStream{data: data, handle: handle, Version: r.I32("version")}
	if r.OK() && s.Version != streamWithoutFlag && s.Version != streamWithFlag {
		r.Fail(CheckStream, 0, "version", "operator state stream version %d is not supported (known: %d and %d)",
			s.Version, streamWithoutFlag, streamWithFlag)
		r.err.Kind = fault.Unsupported
	}
	if s.Version >= streamWithFlag {
		s.Compressed = r.Bool("compressed flag")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	s.start = r.pos
	if handle == nil {
		return s, nil
	}
	for _, state := range handle.States {
		for _, offset := range state.Offsets {
			if offset < int64(s.start) || offset >= int64(len(data)) {
				return nil, streamError(CheckOffset, offset, "element of "+quote(state.Name),
					"offset %d of state %s is outside the operator state stream: element data lies between %d and %d",
					offset, quote(state.Name), s.start, len(data))
			}
			s.ends = append(s.ends, offset)
		}
	}
	slices.Sort(s.ends)
	return s, nil
}

func streamReader(data []byte) *Reader { return NewReader("operator state stream", data, 0) }

func streamError(check string, pos int64, what, format string, args ...any) *Error {
	return &Error{
		Check: check, Kind: fault.Corrupt, Pos: pos, What: what, Subtask: NoSubtask,
		Message: fmt.Sprintf(format, args...),
	}
}

// Len is the number of elements of a state; 0 if there is no such state.
func (s *OperatorStream) Len(state string) int {
	st, _ := s.handle.State(state)
	return len(st.Offsets)
}

// Element returns the bytes of the i-th element of a state: what the state's
// serializer wrote, decompressed. Uncompressed bytes are a part of the data
// given to OpenOperatorStream.
//
// An element ends where the next one of any state of the handle begins, else
// with the stream: there is no other mark. So two elements at one offset, which
// no serializer of a recovery marker produces, cannot be told apart and are an
// error.
func (s *OperatorStream) Element(state string, i int) ([]byte, error) {
	st, ok := s.handle.State(state)
	if !ok || i < 0 || i >= len(st.Offsets) {
		return nil, fault.New(fault.Bug, "read operator state", "state %s has %d elements, element %d was asked for", quote(state), len(st.Offsets), i)
	}
	offset := st.Offsets[i]
	at, _ := slices.BinarySearch(s.ends, offset)
	end := int64(len(s.data))
	if at+1 < len(s.ends) {
		end = s.ends[at+1]
	}
	if end == offset {
		return nil, streamError(CheckOffset, offset, "element of "+quote(state),
			"two elements start at offset %d of the operator state stream, one of them of state %s", offset, quote(state))
	}
	if !s.Compressed {
		return s.data[offset:end:end], nil
	}
	return unframe(s.data[offset:end], offset)
}

// FirstOffset is where the first element of any state starts. The second result
// is false if there is no element.
func (s *OperatorStream) FirstOffset() (int64, bool) {
	if len(s.ends) == 0 {
		return 0, false
	}
	return s.ends[0], true
}

// Header walks the meta data of all states at the start of the stream. Where it
// meets a serializer snapshot of a class that is not known here it stops
// without an error: see Header.Unknown. An error means damaged bytes.
func (s *OperatorStream) Header() (Header, error) {
	r := streamReader(s.data)
	r.pos = s.start
	w := headerWalker{Reader: r}
	h := Header{List: w.states("list states")}
	h.Broadcast = w.states("broadcast states")
	h.Unknown = w.unknown
	h.Len = r.Pos()
	if r.Err() == nil && h.Unknown == "" {
		h.bytes = bytes.Clone(s.data[s.start:h.Len])
	}
	return h, r.Err()
}

// Begins says that the stream begins with the very bytes of a header that was
// walked to its end in another one, at the same place, as the streams of one
// operator's subtasks do: Header would return an equal one.
func (s *OperatorStream) Begins(h Header) bool {
	return h.bytes != nil && int64(s.start+len(h.bytes)) == h.Len && bytes.HasPrefix(s.data[s.start:], h.bytes)
}

// CheckHeader compares the end of a header with the place of the first element.
// It can say something only if the header was walked to its end and there is an
// element: checked is false otherwise. The error is an *Error (U7).
func (s *OperatorStream) CheckHeader(h Header) (checked bool, err error) {
	first, ok := s.FirstOffset()
	if h.Unknown != "" || !ok {
		return false, nil
	}
	want := h.Len
	if s.Compressed {
		want += int64(len(streamIdentifier))
	}
	if first != want {
		return true, streamError(CheckHeader, h.Len, "header",
			"element data starts at %d, header ends at %d", first, want)
	}
	return true, nil
}
