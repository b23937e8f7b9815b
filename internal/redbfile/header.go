package redbfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// magic begins every redb file.
var magic = []byte("redb\x1a\x0a\xa9\x0d\x0a")

// Sizes of the super-header.
const (
	headerSize = 320 // of which the slots are the last 256 bytes
	slotSize   = 128
	slotsAt    = 64
	pageSize   = 4096 // redb opens no file with another one
	maxOrder   = 20
	maxRegions = 1 << 20
)

// Bits of the god byte.
const (
	primaryBit  = 1 // the primary slot is slot 1
	recoveryBit = 2 // a writer opened the file and has not closed it cleanly
	twoPhaseBit = 4
	unflushed   = 8 // the primary slot is not flushed; 4.5 and later
	godBits     = primaryBit | recoveryBit | twoPhaseBit | unflushed
)

// Header is the first page of a file.
type Header struct {
	Primary  int  // index of the primary slot
	Recovery bool // a writer has the file open, or did not close it
	TwoPhase bool // the last commit was made in two phases
	// Unflushed marks a primary slot that its writer had not flushed yet.
	Unflushed bool
	Slots     [2]Slot

	// RegionHeaderPages are those at the begin of each region: none in files that redb
	// 4 has made.
	RegionHeaderPages uint32

	regionPages   uint32 // data pages of a full region
	fullRegions   uint32
	trailingPages uint32

	raw [headerSize]byte
}

// Slot is one of the two commits that a file knows.
type Slot struct {
	Version     int // of the file format
	Transaction uint64
	Valid       bool // its checksum is right

	user, system, freed *root
}

// root is where a tree begins.
type root struct {
	page     uint64
	checksum checksum
	length   uint64
}

// checksum is XXH3 with 128 bits, as it stands in the file.
type checksum [16]byte

func checksumOf(data []byte) checksum {
	var c checksum
	h := xxh3.Hash128(data)
	binary.LittleEndian.PutUint64(c[:8], h.Lo)
	binary.LittleEndian.PutUint64(c[8:], h.Hi)
	return c
}

// Code says in a word what is wrong with a file.
type Code string

// The codes.
const (
	NotInitialised Code = "not-initialised" // its writer was ended while it made the file
	NoDatabase     Code = "not-a-redb-file"
	BadHeader      Code = "header-invalid"
	OldVersion     Code = "format-version-1"
	UnknownVersion Code = "format-version-unknown"
	NoSlot         Code = "commit-slots-corrupt"
	NoTree         Code = "trees-corrupt"
	Unreadable     Code = "unreadable"
)

// Error says why nothing can be read of a file.
type Error struct {
	Code    Code
	Message string
	Err     error // of the reader; nil where the bytes themselves are wrong
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

func failure(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// readHeader reads and checks the super-header of a file of size bytes.
func readHeader(r io.ReaderAt, size int64) (Header, error) {
	var h Header
	if size < headerSize {
		return h, failure(NotInitialised, "the file has %d bytes, and a database at least %d: its writer was ended while it made the file, or it was cut", size, headerSize)
	}
	if _, err := r.ReadAt(h.raw[:], 0); err != nil {
		return h, &Error{Code: Unreadable, Message: "the header can't be read", Err: err}
	}
	b := h.raw[:]
	switch {
	case bytes.Equal(b[:len(magic)], make([]byte, len(magic))):
		return h, failure(NotInitialised, "the file begins with zeros: its writer was ended while it made the file")
	case !bytes.Equal(b[:len(magic)], magic):
		return h, failure(NoDatabase, "the file begins with %x and not as a redb database does", b[:len(magic)])
	}
	god := b[9]
	if god&^godBits != 0 {
		return h, failure(BadHeader, "the god byte is %#02x, with bits that no known version writes", god)
	}
	h.Primary = int(god & primaryBit)
	h.Recovery, h.TwoPhase, h.Unflushed = god&recoveryBit != 0, god&twoPhaseBit != 0, god&unflushed != 0
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	if p := u32(12); p != pageSize {
		return h, failure(BadHeader, "the page size is %d, and redb writes %d", p, pageSize)
	}
	h.RegionHeaderPages, h.regionPages, h.fullRegions, h.trailingPages = u32(16), u32(20), u32(24), u32(28)
	if h.regionPages == 0 || h.regionPages > 1<<maxOrder || h.RegionHeaderPages > 1<<maxOrder || h.fullRegions > maxRegions || h.trailingPages > h.regionPages {
		return h, failure(BadHeader, "its regions have %d header pages and %d data pages, %d of them full and %d pages in the last: no file has that", h.RegionHeaderPages, h.regionPages, h.fullRegions, h.trailingPages)
	}
	for i := range h.Slots {
		h.Slots[i] = readSlot(b[slotsAt+i*slotSize:][:slotSize])
	}
	// A version that redb does not know in either slot makes it refuse the file.
	for i, s := range h.Slots {
		switch s.Version {
		case 2, 3:
		case 1:
			return h, failure(OldVersion, "commit slot %d has the file format version 1, too old for any engine with this log", i)
		default:
			return h, failure(UnknownVersion, "commit slot %d has the file format version %d; versions 2 and 3 are known", i, s.Version)
		}
	}
	return h, nil
}

func readSlot(b []byte) Slot {
	readRoot := func(present byte, at int) *root {
		if present == 0 {
			return nil
		}
		out := &root{page: binary.LittleEndian.Uint64(b[at:]), length: binary.LittleEndian.Uint64(b[at+24:])}
		copy(out.checksum[:], b[at+8:])
		return out
	}
	s := Slot{Version: int(b[0]), Transaction: binary.LittleEndian.Uint64(b[104:])}
	s.user, s.system = readRoot(b[1], 8), readRoot(b[2], 40)
	if s.Version == 2 {
		s.freed = readRoot(b[3], 72)
	}
	s.Valid = checksumOf(b[:112]) == checksum(b[112:128])
	return s
}

// length is how long the file must be by its header.
func (h Header) length() int64 {
	pages := int64(h.fullRegions) * (int64(h.RegionHeaderPages) + int64(h.regionPages))
	if h.trailingPages > 0 {
		pages += int64(h.RegionHeaderPages) + int64(h.trailingPages)
	}
	return (pages + 1) * pageSize
}

// Page numbers.

func pageOrder(page uint64) uint   { return uint(page >> 59) }
func pageRegion(page uint64) int64 { return int64(page >> 20 & (maxRegions - 1)) }

// pageIndex is the page's place in its region, in pages of its own order.
func pageIndex(page uint64) int64 {
	return int64(page & (1<<(maxOrder-pageOrder(page)) - 1))
}

// place is where a page lies; false where no such page fits into the file.
func (h Header) place(page uint64, size int64) (at, length int64, ok bool) {
	order := pageOrder(page)
	if order > maxOrder {
		return 0, 0, false
	}
	length = pageSize << order
	regionSize := (int64(h.RegionHeaderPages) + int64(h.regionPages)) * pageSize
	region, index := pageRegion(page), pageIndex(page)
	at = pageSize + region*regionSize + int64(h.RegionHeaderPages)*pageSize + index*length
	return at, length, at+length <= size
}
