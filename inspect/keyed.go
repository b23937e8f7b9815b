package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
)

// KeyedBackend is in which form an operator's keyed state lies in a recovery
// point.
type KeyedBackend string

// The forms. Contents of state files and of changelogs are not decoded here.
const (
	BackendCanonical KeyedBackend = "canonical" // a canonical savepoint, of any backend
	BackendHeap      KeyedBackend = "heap"      // the HashMap backend
	BackendFiles     KeyedBackend = "files"     // files of RocksDB or ForSt
	BackendChangelog KeyedBackend = "changelog" // a changelog over one of the others
)

// KeyedDecoded is how much of keyed state was read.
type KeyedDecoded string

// The extents. Why of a KeyedState says what kept the rest from being read.
const (
	DecodedAll    KeyedDecoded = "all"
	DecodedPart   KeyedDecoded = "part"
	DecodedHeader KeyedDecoded = "header" // names and types of states alone
	DecodedNone   KeyedDecoded = "none"
)

// MaxListedKeys is how many keys of one operator are listed at most.
const MaxListedKeys = 1000

// KeyedState is what an operator keeps per key. Numbers are nil where they are
// not known: 0 never means that.
type KeyedState struct {
	Backend  KeyedBackend `json:"backend"`
	Subtasks int          `json:"subtasks"` // with keyed state
	Bytes    int64        `json:"bytes"`    // as the metadata states them
	KeyType  string       `json:"keyType"`  // string, long or int, else the class of the serializer's snapshot; empty: not known
	Decoded  KeyedDecoded `json:"decoded"`
	Why      string       `json:"why"` // empty where all of it was decoded

	Keys   *int64            `json:"keys"`
	Open   *int64            `json:"open"` // agents: keys with a sequence that was started and is not completed; nil also where no completed ones are kept
	States []KeyedStateEntry `json:"states"`

	// Sequences are keys of an agent with their sequence numbers: those with an
	// open sequence first. It may have fewer than there are.
	Sequences []KeySequence `json:"sequences"`
}

// CompletedState is the keyed state in which Flink Agents keeps what was
// completed, from 0.3 on and with an action state store.
const CompletedState = "lastCompletedSequenceNumber"

// KeepsCompleted reports whether the operator keeps which sequences were
// completed. Where it does not, no sequence number says what is open.
func (k *KeyedState) KeepsCompleted() bool {
	return slices.ContainsFunc(k.States, func(s KeyedStateEntry) bool { return s.Name == CompletedState })
}

// KeyedStateEntry is one named keyed state over all subtasks.
type KeyedStateEntry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`    // VALUE, LIST, MAP, REDUCING, AGGREGATING, or TIMERS
	Entries *int64 `json:"entries"` // keys, of a map in a canonical savepoint its entries
	Bytes   *int64 `json:"bytes"`   // of keys and values, not compressed
}

// KeySequence is what an agent operator keeps for one key.
type KeySequence struct {
	Key      CallKey `json:"key"`
	Type     string  `json:"type"` // as KeyType of KeyedState
	KeyGroup int32   `json:"keyGroup"`
	Subtask  int     `json:"subtask"`

	MessageSequenceNumber       *int64 `json:"messageSequenceNumber"`       // of the latest input that was started
	LastCompletedSequenceNumber *int64 `json:"lastCompletedSequenceNumber"` // nil: none, or not kept (KeepsCompleted)

	ActionTasks        *KeyedList `json:"actionTasks"`        // nil: none are known
	PendingInputEvents *KeyedList `json:"pendingInputEvents"` // nil: none are known
}

// KeyedList is a list that an operator keeps for one key.
type KeyedList struct {
	Elements *int64 `json:"elements"`
	Bytes    *int64 `json:"bytes"`
}

// IsOpen reports whether an input of the key was started and not completed, as
// far as the numbers say.
func (k KeySequence) IsOpen() bool {
	m, c := k.MessageSequenceNumber, k.LastCompletedSequenceNumber
	return m != nil && (c == nil || *c < *m)
}

// ProcessingKey is a key with an unfinished run when the snapshot was taken.
type ProcessingKey struct {
	Subtask int     `json:"subtask"`
	Type    string  `json:"type"` // string, long or int, else the Java class; empty: not known
	Text    *string `json:"text"` // nil: it is of another type
}

// UnreferencedFile is a file beside the metadata that nothing refers to.
type UnreferencedFile struct {
	URI   string `json:"uri"`
	Bytes int64  `json:"bytes"`
}

// Unreferenced sums up the files beside the metadata that nothing refers to.
type Unreferenced struct {
	Files int64              `json:"files"`
	Bytes int64              `json:"bytes"`
	More  bool               `json:"more"` // the folder has more entries than were looked at
	List  []UnreferencedFile `json:"list"` // the first of them
}

// PointQuestion is what a reading of one recovery point is to find out beyond
// what is always read.
type PointQuestion struct {
	// Keys asks for all keyed state, however large it is. Else what is small is
	// read, and of the rest the names and types of states.
	Keys bool
	// Index is filled with the keys of agent operators that are read; nil: none.
	Index *KeyIndex
}

// PointProgress is how far a reading has come.
type PointProgress struct {
	Files, FilesTotal int64 // files that were looked at
	Bytes, BytesTotal int64 // of keyed state
}

// PointReader is a PointStore that can read more of a recovery point, and tells
// how far it is.
type PointReader interface {
	// ReadPoint is Point with a question. watch may be nil; it is called at most
	// ten times a second, by several goroutines in turn.
	ReadPoint(ctx context.Context, uri string, q PointQuestion, watch func(PointProgress)) (RecoveryPoint, error)
}

// Limits of a KeyIndex.
const (
	maxIndexKeys = 1 << 19
	maxIndexText = 32 << 20 // bytes
)

// KeyIndex is what the keyed state of recovery points tells about keys: their
// texts by digest. It is in memory only, up to a limit, and may be used by several
// goroutines.
type KeyIndex struct {
	mu     sync.RWMutex
	byHash map[[sha256.Size]byte]indexed
	bytes  int
	full   bool
}

type indexed struct {
	text  string
	known bool // text is the key's
}

var _ KeyDictionary = (*KeyIndex)(nil)

// NewKeyIndex makes an empty index.
func NewKeyIndex() *KeyIndex { return &KeyIndex{byHash: map[[sha256.Size]byte]indexed{}} }

// Add adds a key of an agent operator. Where the index is full it is left out.
func (x *KeyIndex) Add(k KeySequence) {
	hash, ok := digestBytes(k.Key.Digest)
	if !ok {
		return
	}
	e := indexed{known: k.Key.Text != nil}
	if e.known {
		e.text = *k.Key.Text
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch _, seen := x.byHash[hash]; {
	case seen:
		return // a digest is of one key
	case len(x.byHash) >= maxIndexKeys || x.bytes+len(e.text) > maxIndexText:
		x.full = true
		return
	}
	x.bytes += len(e.text)
	x.byHash[hash] = e
}

func digestBytes(digest string) (hash [sha256.Size]byte, ok bool) {
	raw, err := base64.StdEncoding.Strict().DecodeString(digest)
	if err != nil || len(raw) != len(hash) {
		return hash, false
	}
	return [sha256.Size]byte(raw), true
}

// Len is how many keys are in the index.
func (x *KeyIndex) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.byHash)
}

// Full reports whether keys were left out because the index has no more room.
func (x *KeyIndex) Full() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.full
}

// KeyText implements KeyDictionary.
func (x *KeyIndex) KeyText(digest string) (text string, known bool) {
	hash, ok := digestBytes(digest)
	if !ok {
		return "", false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	e, ok := x.byHash[hash]
	return e.text, ok && e.known
}
