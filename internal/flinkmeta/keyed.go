package flinkmeta

import "fmt"

// KeyedKind is the tag of a keyed state handle.
type KeyedKind uint8

// The kinds of keyed state handles. No state (tag 0) is a nil *KeyedState.
const (
	KeyGroupsV1        KeyedKind = 3  // until Flink 1.14
	IncrementalV1      KeyedKind = 5  // until Flink 1.14
	KeyGroupsSavepoint KeyedKind = 7  // canonical savepoint
	ChangelogV1        KeyedKind = 8  // Flink 1.14 and 1.15
	InMemoryChanges    KeyedKind = 9  // part of a changelog
	FileChangesV1      KeyedKind = 10 // part of a changelog, Flink 1.14 and 1.15
	IncrementalV2      KeyedKind = 11 // RocksDB or ForSt files
	KeyGroupsV2        KeyedKind = 12 // heap backend
	FileChangesV2      KeyedKind = 13 // part of a changelog
	ChangelogV2        KeyedKind = 14
)

// String is a word for the kind.
func (k KeyedKind) String() string {
	switch k {
	case KeyGroupsV1, KeyGroupsV2:
		return "key groups"
	case KeyGroupsSavepoint:
		return "canonical savepoint"
	case IncrementalV1, IncrementalV2:
		return "incremental files"
	case ChangelogV1, ChangelogV2:
		return "changelog"
	case InMemoryChanges:
		return "changes in memory"
	case FileChangesV1, FileChangesV2:
		return "changes in files"
	default:
		return fmt.Sprintf("keyed state tag %d", uint8(k))
	}
}

// KeyGroupRange is the key groups that a handle holds.
type KeyGroupRange struct {
	Start int32
	Count int32
}

// End is the last key group of the range. For an empty range it is Start − 1.
func (r KeyGroupRange) End() int32 { return r.Start + r.Count - 1 }

// KeyedState is a keyed state handle. Exactly one of the pointers is set: the
// one that fits Kind.
type KeyedState struct {
	Kind     KeyedKind
	Pos      int64 // of the handle's tag in _metadata
	Range    KeyGroupRange
	HandleID string // a UUID; empty for kinds that have none

	KeyGroups   *KeyGroups       // KeyGroupsV1, KeyGroupsV2, KeyGroupsSavepoint
	Incremental *IncrementalKeys // IncrementalV1, IncrementalV2
	Changelog   *Changelog       // ChangelogV1, ChangelogV2
	InMemory    *MemoryChanges   // InMemoryChanges
	File        *FileChanges     // FileChangesV1, FileChangesV2
}

// KeyGroups is one stream with the place of each key group in it.
type KeyGroups struct {
	Offsets []int64 // one for each key group of the range
	Stream  *Stream
}

// IncrementalKeys is the set of files of an incremental checkpoint.
type IncrementalKeys struct {
	CheckpointID     int64
	BackendID        string // a UUID
	CheckpointedSize int64  // bytes written for this checkpoint alone; UnknownSize is legal. Not in IncrementalV1
	Meta             *Stream
	Shared           []NamedStream // other checkpoints may use them too
	Private          []NamedStream
}

// NamedStream is a file of the state backend.
type NamedStream struct {
	Name   string // local file name, as in "000012.sst"
	Stream *Stream
}

// Changelog is state that is partly in materialized handles and partly in
// changes since then.
type Changelog struct {
	CheckpointedSize  int64
	Materialized      []*KeyedState // entries may be nil
	Changes           []*KeyedState // entries may be nil
	MaterializationID int64
	CheckpointID      int64 // not in ChangelogV1
}

// MemoryChanges are changes that are stored in _metadata.
type MemoryChanges struct {
	From, To int64 // sequence numbers
	Changes  []Change
}

// Change is one change of a key group. KeyGroup −1 is a change of state
// metadata.
type Change struct {
	KeyGroup int32
	Data     []byte
}

// FileChanges are changes that are stored in files.
type FileChanges struct {
	Parts            []ChangesPart
	Size             int64
	CheckpointedSize int64
	StorageID        string // not in FileChangesV1, where it is "filesystem"
}

// ChangesPart is one stream of changes and where to start in it.
type ChangesPart struct {
	Offset int64
	Stream *Stream
}
