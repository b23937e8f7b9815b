package arkflow

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// Backend is where a write-ahead log lies.
type Backend string

// The backends.
const (
	LocalFile   Backend = "local"        // one redb file
	ObjectStore Backend = "object-store" // a manifest and segments
)

// Extent is how much of a log is read.
type Extent string

// The extents. Of a log that was not read whole, damage outside the replay
// window is not known.
const (
	// ReadAsNeeded is ReadAll for a log that is small, else ReadWindow.
	ReadAsNeeded Extent = "auto"
	// ReadWindow is what cursor, tail, gaps and the replay window need.
	ReadWindow Extent = "window"
	// ReadAll is every page and every segment.
	ReadAll Extent = "all"
)

// WriteAheadLog is what is known of the write-ahead log of one stream, and what
// is wrong with it.
//
// Sequences count from 1; a cursor of 0 says that nothing was acknowledged. What
// could not be read is nil.
type WriteAheadLog struct {
	Place   string  `json:"place"`
	Backend Backend `json:"backend"`
	Node    string  `json:"node"`   // from an object store's keys; empty for a file
	Stream  string  `json:"stream"` // the same

	Cursor *uint64 `json:"cursor"`
	Tail   *uint64 `json:"tail"`  // the highest sequence that can be read; 0: there is none
	Count  *uint64 `json:"count"` // of entries; nil where not all segments were read
	First  *uint64 `json:"first"` // the lowest sequence; nil: there is none

	Window *Window `json:"window"` // nil: there is nothing to replay, or nothing is known
	Gaps   []Span  `json:"gaps"`   // sequences in (cursor, tail] that are not there
	// MoreGaps: there are gaps that are not listed.
	MoreGaps bool `json:"moreGaps"`
	// Partial: entries behind the cursor may lie in what could not be read, so that
	// tail and window are at least what is said.
	Partial bool      `json:"partial"`
	Corrupt []Corrupt `json:"corrupt"`
	Bytes   Sizes     `json:"bytes"`
	Oldest  *Oldest   `json:"oldest"` // of the window; nil: there is none, or no time is known

	CursorRule CursorRule `json:"cursorRule"`
	// Stable: what is said is of one moment. Where a writer changed the log under
	// every try, it is false, and nothing else is said.
	Stable bool   `json:"stable"`
	Read   Extent `json:"read"`
	// Unchecked says in sentences what was not looked at.
	Unchecked []string `json:"unchecked"`

	File     *FileFacts     `json:"file"`     // nil for an object store
	Manifest *ManifestFacts `json:"manifest"` // nil for a file, and where it is missing
	Segments []Segment      `json:"segments"`

	Problems []Problem `json:"problems"` // the worst first

	// Runs are the sequences that are there, in order, for those who show them.
	Runs []Span `json:"-"`
	// Listed are the entries, where they were asked for.
	Listed []Entry `json:"-"`
}

// Span is a run of sequences, both ends included.
type Span struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Len is how many sequences it has.
func (s Span) Len() uint64 { return s.To - s.From + 1 }

// Window is the replay window: what a start of the stream sends again.
type Window struct {
	From    uint64 `json:"from"` // the sequence after the cursor
	To      uint64 `json:"to"`   // the tail
	Entries uint64 `json:"entries"`
	Bytes   *int64 `json:"bytes"` // of their payloads; nil: not added up
}

// Sizes are numbers of bytes.
type Sizes struct {
	Stored   int64  `json:"stored"`   // the file, or all segments
	Payloads *int64 `json:"payloads"` // of the entries that were read; nil: not all were
}

// Corrupt is a place that can't be relied on.
type Corrupt struct {
	From    *uint64 `json:"from"` // the sequences that lie there; nil: not known
	To      *uint64 `json:"to"`
	Source  string  `json:"source"` // a segment's name; empty: the file
	Offset  int64   `json:"offset"` // of the first byte
	Message string  `json:"message"`
}

// Oldest is the oldest entry of the replay window, with the best that is known of
// its time.
type Oldest struct {
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	AgeMs    int64     `json:"ageMs"`
	// Source is the column of the entry that says so, or "object": the entry's
	// segment was stored then, and the entry is older.
	Source string `json:"source"`
}

// Rule is what a cursor means.
type Rule string

// The rules.
const (
	// HighWater: the highest sequence that was acknowledged. One below it may have
	// failed, and is never sent again.
	HighWater Rule = "high-water"
	// Contiguous: all sequences up to it were acknowledged.
	Contiguous Rule = "contiguous"
	// RuleUnknown is to be taken for HighWater.
	RuleUnknown Rule = "unknown"
)

// CursorRule is what the engine that wrote a log means by its cursor, with what
// shows it.
type CursorRule struct {
	Rule Rule   `json:"rule"`
	Why  string `json:"why"`
}

// Problem is something that an operator should know before a start. Codes are
// stable.
type Problem struct {
	Code     string           `json:"code"`
	Severity inspect.Severity `json:"severity"`
	Sequence *uint64          `json:"sequence"` // that it is about, or the first of them
	Message  string           `json:"message"`
	Next     string           `json:"next"` // what to do about it
}

// FileFacts are what a redb file's header says.
type FileFacts struct {
	Format      int        `json:"format"` // version of the file format
	Transaction uint64     `json:"transaction"`
	CleanClose  bool       `json:"cleanClose"` // false: a writer has it open, or was killed
	Trusted     bool       `json:"trusted"`    // an engine opens it without a look at the pages' checksums
	Modified    *time.Time `json:"modified"`   // nil: of a compressed copy
	Compressed  bool       `json:"compressed"`
}

// ManifestFacts are what an object store's manifest says.
type ManifestFacts struct {
	Version   uint64    `json:"version"`
	MaxSealed uint64    `json:"maxSealed"` // the highest sequence in a segment that it knows
	Active    string    `json:"active"`    // the newest segment that it knows
	Sealed    int       `json:"sealed"`    // how many others it knows
	Modified  time.Time `json:"modified"`
}

// Segment is one object of a log.
type Segment struct {
	Name       string       `json:"name"`
	Index      uint64       `json:"index"`
	Bytes      int64        `json:"bytes"`
	Modified   time.Time    `json:"modified"`
	InManifest bool         `json:"inManifest"`
	State      SegmentState `json:"state"`
	First      *uint64      `json:"first"` // nil where it was not read, or holds nothing that can be
	Last       *uint64      `json:"last"`
	Entries    *uint64      `json:"entries"`
}

// SegmentState is how a segment was found.
type SegmentState string

// The states.
const (
	SegmentWhole   SegmentState = "whole"
	SegmentTorn    SegmentState = "torn"    // its last record is cut off
	SegmentCorrupt SegmentState = "corrupt" // a record before its end is damaged
	SegmentMissing SegmentState = "missing" // the manifest knows it, and it is not there
	SegmentUnread  SegmentState = "not-read"
)

// Entry is one entry of a log.
type Entry struct {
	Sequence      uint64 `json:"sequence"`
	Acked         bool   `json:"acked"`
	PayloadBytes  int64  `json:"payloadBytes"`
	PayloadSHA256 string `json:"payloadSha256"`
	// Suspect: it lies in a page whose checksum is wrong, or was found again behind
	// a damaged record.
	Suspect bool `json:"suspect"`
}
