package flinkmeta

import "fmt"

// UnknownSize is the size of a file handle that does not say it.
const UnknownSize int64 = -1

// StreamKind is the tag of a stream handle.
type StreamKind uint8

// The kinds of stream handles. A null handle (tag 0) is a nil *Stream.
const (
	InlineStream       StreamKind = 1  // the bytes are in _metadata
	FileStream         StreamKind = 2  // a whole file, by absolute path
	KeyGroupsStream    StreamKind = 3  // key group offsets around another handle
	RelativeStream     StreamKind = 6  // a whole file beside _metadata
	SegmentStream      StreamKind = 15 // a part of a merged file
	EmptySegmentStream StreamKind = 16 // nothing to read
)

// String is a word for the kind.
func (k StreamKind) String() string {
	switch k {
	case InlineStream:
		return "inline"
	case FileStream:
		return "file"
	case KeyGroupsStream:
		return "key groups"
	case RelativeStream:
		return "relative file"
	case SegmentStream:
		return "file segment"
	case EmptySegmentStream:
		return "empty segment"
	default:
		return fmt.Sprintf("stream tag %d", uint8(k))
	}
}

// Stream says where the bytes of one piece of state are.
type Stream struct {
	Kind StreamKind
	Pos  int64 // of the handle's tag in _metadata; 0 for an empty segment

	// Path is the file: absolute for FileStream and SegmentStream, a bare name
	// for RelativeStream. For InlineStream it is the name that the data would
	// have had as a file: no such file exists.
	Path string

	Data    []byte // InlineStream: the bytes; nil where DecodeFrom left them in the file
	DataPos int64  // InlineStream: position of the bytes in _metadata

	// Size in bytes: of the file (FileStream, RelativeStream; UnknownSize is
	// legal), of the segment, or of inline bytes that were read. For other kinds
	// ask StateSize.
	Size int64

	Segment   *Segment        // SegmentStream only
	KeyGroups *KeyGroupStream // KeyGroupsStream only
}

// Segment is the part of a merged file that a SegmentStream means: the bytes
// from Start to Start + Size.
type Segment struct {
	Start         int64
	Scope         int32 // 0 exclusive, 1 shared
	LogicalFileID string
}

// KeyGroupStream is a stream handle that carries key group offsets.
type KeyGroupStream struct {
	Range   KeyGroupRange
	Offsets []int64 // one for each key group, in Inner
	Inner   *Stream
}

// Left says that the bytes of an inline handle are not in memory, but in the
// file from DataPos on.
func (s *Stream) Left() bool { return s.Kind == InlineStream && s.Data == nil && s.Size > 0 }

// Leaf is the handle that says where the bytes are: the innermost one. It is
// nil for a null handle.
func (s *Stream) Leaf() *Stream {
	for s != nil && s.Kind == KeyGroupsStream && s.KeyGroups != nil {
		s = s.KeyGroups.Inner
	}
	return s
}

// Mode is how the elements of an operator state are spread over subtasks when a
// job restores.
type Mode uint8

// The distribution modes.
const (
	SplitDistribute Mode = 0 // each element goes to one subtask
	Union           Mode = 1 // each subtask gets every element
	Broadcast       Mode = 2 // each subtask has the same map
)

// String is Flink's name of the mode.
func (m Mode) String() string {
	switch m {
	case SplitDistribute:
		return "SPLIT_DISTRIBUTE"
	case Union:
		return "UNION"
	case Broadcast:
		return "BROADCAST"
	default:
		return fmt.Sprintf("mode %d", uint8(m))
	}
}

// StateOffsets says where the elements of one operator state are.
type StateOffsets struct {
	Name    string
	Mode    Mode
	Offsets []int64 // one for each list element, in stored bytes of the handle's own stream
}

// OperatorState is an operator state handle.
type OperatorState struct {
	Pos    int64          // of the handle's tag in _metadata
	States []StateOffsets // in the file's order, which means nothing
	Merged *MergedFiles   // file merging was on (tag 17); else nil
	Stream *Stream        // where the elements are; nil if there are none
}

// MergedFiles is what a handle says about file merging.
type MergedFiles struct {
	TaskOwnedDir string
	SharedDir    string
	Empty        bool // a placeholder: no states, nothing to read
}

// State finds a state by name. Should a damaged file name it twice, the last
// one counts, as in Flink.
func (o *OperatorState) State(name string) (StateOffsets, bool) {
	if o == nil {
		return StateOffsets{}, false
	}
	for i := len(o.States) - 1; i >= 0; i-- {
		if o.States[i].Name == name {
			return o.States[i], true
		}
	}
	return StateOffsets{}, false
}

// ChannelKind is the tag of a channel state handle.
type ChannelKind uint8

// The kinds of channel state. Before version 6 there is no tag, and a handle
// is an InputChannel or a ResultSubpartition by the list that holds it.
const (
	InputChannel              ChannelKind = 1
	ResultSubpartition        ChannelKind = 2
	MergedInputChannels       ChannelKind = 3
	MergedResultSubpartitions ChannelKind = 4
)

// ChannelState is in-flight data of one channel, or of several merged ones.
type ChannelState struct {
	Kind         ChannelKind
	Pos          int64 // of the handle's first byte in _metadata
	SubtaskIndex int32
	First        int32   // gate or partition index; not for merged handles
	Second       int32   // channel or subpartition index; not for merged handles
	Offsets      []int64 // not for merged handles
	Size         int64   // this handle's share of the stream, in bytes
	Stream       *Stream // many handles may name the same file
	MergedInfo   []byte  // merged handles only: their channels, not decoded
}

func (c *ChannelState) merged() bool {
	return c.Kind == MergedInputChannels || c.Kind == MergedResultSubpartitions
}
