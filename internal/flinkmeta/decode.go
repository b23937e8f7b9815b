package flinkmeta

import (
	"encoding/hex"
	"io"

	"github.com/recoverctl/recoverctl/internal/fault"
)

const (
	magic            = 0x4960672D
	masterStateMagic = -0x3694E96A // 0xC96B1696 as a Java int
)

const (
	// maxDepth bounds handles within handles. Flink nests three deep.
	maxDepth = 16
	// maxSubtasks bounds the subtasks of a whole file. A finished subtask takes
	// four bytes in the file and much more in memory.
	maxSubtasks = 1 << 22
	// firstAlloc is how many entries of a list are allocated on the word of its
	// count alone. Beyond that a list grows with what is really there.
	firstAlloc = 256
)

// Decode parses a whole _metadata file (Flink's metadata format, versions 2 to
// 6). Inline data in the result is a part of data.
//
// The error is an *Error: fault.Corrupt for what is not such a file, is
// truncated or is damaged, and fault.Unsupported for a version that is not
// known. A file that parses is complete: nothing follows its end.
func Decode(data []byte) (*Metadata, error) {
	return decode(NewReader(metadataSubject, data, 0))
}

// InlineKept is how many bytes of inline data DecodeFrom keeps.
const InlineKept = 256

// DecodeFrom parses a _metadata file of size bytes as Decode does, and keeps no
// more of it in memory than what the result says. Inline data of more than
// InlineKept bytes stays in the file: Data is nil, and DataPos and Size say where
// it is. An error of src is returned as it is, and io.ErrUnexpectedEOF where the
// file is shorter than size.
func DecodeFrom(src io.ReaderAt, size int64) (*Metadata, error) {
	return decode(newWindow(metadataSubject, src, size))
}

const metadataSubject = "metadata"

func decode(r *Reader) (*Metadata, error) {
	d := decoder{Reader: r, names: map[string]string{}}
	m := d.metadata()
	if err := d.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// decoder is a Reader that knows the metadata version and where it is.
type decoder struct {
	*Reader
	version  int32
	subtasks int
	names    map[string]string // one copy of names that every subtask repeats
	empty    *Stream           // the one empty segment: it takes one byte in the file
}

func (d *decoder) metadata() *Metadata {
	if !d.header() {
		return nil
	}
	m := &Metadata{Version: d.version}
	pos := d.Pos()
	m.CheckpointID = d.I64("checkpoint id")
	if m.CheckpointID < 0 {
		d.Fail(CheckID, pos, "checkpoint id", "invalid checkpoint id %d at byte %d", m.CheckpointID, pos)
	}
	m.MasterStates = list(d, 18, "number of master states", (*decoder).masterState)
	m.Operators = list(d, 28, "number of operators", (*decoder).operatorState)
	if d.version >= 4 {
		m.Properties = d.properties()
	}
	if d.OK() && d.Len() > 0 {
		d.Fail(CheckTail, d.Pos(), "end of file", "%d unexpected bytes after the last operator, from byte %d", d.Len(), d.Pos())
	}
	return m
}

// header reads magic and version.
func (d *decoder) header() bool {
	size := d.Len()
	start := d.peek(min(size, 8))
	if !d.OK() {
		return false
	}
	switch {
	case size == 0:
		d.Fail(CheckMagic, 0, "magic", "the file is empty: not a Flink metadata file")
		d.err.Hint = "a writer that stopped before it wrote anything leaves an empty file; this snapshot was never completed"
		return false
	case size < 8:
		d.Fail(CheckMagic, 0, "magic", "not a Flink metadata file: it has only %d bytes (%s), at least 8 are needed",
			size, hex.EncodeToString(start))
		return false
	}
	if got := d.I32("magic"); got != magic {
		d.Fail(CheckMagic, 0, "magic", "not a Flink metadata file (starts with %s, expected 4960672d)", hex.EncodeToString(start[:4]))
		return false
	}
	d.version = d.I32("version")
	if d.version >= MinVersion && d.version <= MaxVersion {
		return true
	}
	d.Fail(CheckVersion, 4, "version", "metadata version %d is not supported (known: %d to %d)", d.version, MinVersion, MaxVersion)
	d.err.Kind = fault.Unsupported
	switch {
	case d.version > MaxVersion:
		d.err.Hint = "version 7 and later come from a Flink newer than this tool: nothing is known about this snapshot"
	case d.version == 1:
		d.err.Hint = "version 1 was written by Flink 1.1 and 1.2: no current Flink reads it either"
	default:
		d.err.Hint = "no Flink writes this version: the file may be damaged"
	}
	return false
}

func (d *decoder) masterState() MasterState {
	pos := d.Pos()
	if d.I32("magic of a master state") != masterStateMagic {
		d.corrupt(pos, "a master state", "its magic number is wrong")
	}
	length := d.Count(1, "length of a master state")
	end := d.Pos() + int64(length)
	s := MasterState{
		Version: d.I32("version of a master state"),
		Name:    d.UTF("name of a master state"),
		Payload: d.keep(d.Bytes32("payload of a master state")),
	}
	if d.OK() && d.Pos() != end {
		d.corrupt(pos, "a master state", "its length does not fit its content")
	}
	return s
}

func (d *decoder) operatorState() Operator {
	var o Operator
	if d.version >= 5 {
		o.Name = d.UTF("operator name")
		o.UID = d.UTF("operator uid")
	}
	copy(o.ID[:], d.Take(len(o.ID), "operator id"))
	d.operator = o.Label()
	o.Parallelism = d.I32("parallelism")
	o.MaxParallelism = d.I32("max parallelism")
	if d.version == 2 {
		o.ChainLength = d.I32("chain length")
	} else {
		o.Coordinator = d.coordinator()
	}
	d.operatorSubtasks(&o)
	d.operator = ""
	return o
}

func (d *decoder) coordinator() *Stream {
	d.of = "coordinator state"
	defer func() { d.of = "" }()
	pos := d.Pos()
	s := d.stream(0)
	if s != nil && s.Kind != InlineStream {
		d.corrupt(pos, "coordinator state", "the handle's kind is "+s.Kind.String()+", only inline bytes are possible")
	}
	return s
}

func (d *decoder) operatorSubtasks(o *Operator) {
	pos := d.Pos()
	n := d.I32("number of subtasks")
	if n < 0 {
		o.FullyFinished = true
		return
	}
	d.subtasks += int(n)
	if int64(n)*4 > int64(d.Len()) || n > MaxParallelism || d.subtasks > maxSubtasks {
		d.impossible(pos, "number of subtasks", int64(n))
		return
	}
	o.Subtasks = make([]Subtask, 0, min(int(n), firstAlloc))
	for range n {
		o.Subtasks = append(o.Subtasks, d.subtaskState())
		d.subtask, d.of = NoSubtask, ""
		if !d.OK() {
			return
		}
	}
}

func (d *decoder) subtaskState() Subtask {
	s := Subtask{Index: d.I32("subtask index")}
	if s.Index < 0 && d.version >= 3 {
		s.Index, s.Finished = -s.Index-1, true
		return s
	}
	d.subtask = s.Index
	if d.version == 2 {
		s.Duration = d.I64("duration")
		pos := d.Pos()
		if n := d.I32("number of legacy states"); n > 0 {
			d.Fail(CheckParse, pos, "number of legacy states",
				"the file holds %d legacy states of Flink 1.1 or older at byte %d, which no current Flink reads", n, pos)
		}
	}
	if d.I32("has managed operator state") != 0 {
		d.of = "managed operator state"
		s.ManagedOperator = d.operatorHandle()
	}
	if d.I32("has raw operator state") != 0 {
		d.of = "raw operator state"
		s.RawOperator = d.operatorHandle()
	}
	d.of = "managed keyed state"
	s.ManagedKeyed = d.keyed(0)
	d.of = "raw keyed state"
	s.RawKeyed = d.keyed(0)
	if d.version >= 3 {
		d.of = "input channels"
		s.InputChannels = list(d, 17, "number of states", (*decoder).inputChannel)
		d.of = "result subpartitions"
		s.ResultSubpartitions = list(d, 17, "number of states", (*decoder).resultSubpartition)
	}
	return s
}

// list reads a count and that many entries of at least minSize bytes. It
// returns nil for an empty list, and stops at the first error.
func list[T any](d *decoder, minSize int, what string, read func(*decoder) T) []T {
	n := d.Count(minSize, what)
	if n == 0 {
		return nil
	}
	out := make([]T, 0, min(n, firstAlloc))
	for i := 0; i < n && d.OK(); i++ {
		out = append(out, read(d))
	}
	return out
}

// name reads a string of which one copy is enough.
func (d *decoder) name(what string) string {
	b := d.utf(what)
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	s := string(b)
	d.names[s] = s
	return s
}

func (d *decoder) unknownTag(pos int64, kind string, tag uint8) {
	d.Fail(CheckTag, pos, kind+" tag", "unknown %s tag %d at byte %d: corrupt file or a newer Flink", kind, tag, pos)
}

// tooDeep fails where handles are nested as no Flink nests them.
func (d *decoder) tooDeep(depth int) bool {
	if depth < maxDepth {
		return false
	}
	d.corrupt(d.Pos(), "handle", "handles are nested too deep")
	return true
}
