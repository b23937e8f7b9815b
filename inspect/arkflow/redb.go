package arkflow

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/recoverctl/recoverctl/internal/redbfile"
)

// Tables of a local log.
const (
	tableEntries = "entries" // sequence → payload
	tableMeta    = "meta"    // "cursor" → sequence
	keyCursor    = "cursor"
)

// wholeFile is up to which size a file is read whole where nobody says how much
// is to be read.
const wholeFile = 256 << 20

// fileReading is what one pass over a redb file has found.
type fileReading struct {
	header redbfile.Header
	view   redbfile.View
	extent Extent
	// loose: pages were read without a look at their checksums, so that a writer must
	// not have been at work.
	loose bool

	cursor     uint64
	cursorRead bool // it stands in the file
	hasTables  bool // of a log
	runs       runs
	payloads   *int64
	window     windowReading
	entries    []Entry
}

// known is the cursor; nil where a damaged page may hide it.
func (r *fileReading) known() *uint64 {
	if r.cursorRead || r.view.RolledBack {
		return &r.cursor
	}
	for _, d := range r.view.Damage {
		if d.Table == tableMeta || d.Table == redbfile.ListOfTables {
			return nil
		}
	}
	return &r.cursor // there is none before the first acknowledgement
}

// errNoLog is a redb file that is no write-ahead log.
var errNoLog = errors.New("it is no write-ahead log")

// readFile reads a redb file once, where it has any bytes.
func readFile(ctx context.Context, s *source, q Question) (fileReading, error) {
	f, err := redbfile.Open(s, s.size)
	if err != nil {
		return fileReading{}, err
	}
	extent := q.Extent
	switch {
	case q.Entries:
		extent = ReadAll
	case extent == ReadAsNeeded && s.size <= wholeFile:
		extent = ReadAll
	case extent == ReadAsNeeded:
		extent = ReadWindow
	}
	if extent == ReadWindow {
		r, err := readIndex(ctx, f)
		if !errors.As(err, new(*redbfile.Error)) {
			return r, err
		}
		// Something is damaged: what a start makes of that takes a look at everything.
	}
	return readWhole(ctx, f, q)
}

// readWhole reads every page of a file.
func readWhole(ctx context.Context, f *redbfile.File, q Question) (fileReading, error) {
	r := fileReading{header: f.Header, extent: ReadAll}
	var guess uint64 // the cursor, which comes after the entries
	if c, err := f.Latest(ctx); err == nil {
		guess, _ = cursorOf(ctx, c)
	}
	var payloads int64
	begin := func() {
		r.cursor, r.cursorRead, r.runs, r.entries, payloads = 0, false, runs{}, nil, 0
		r.window = windowReading{after: guess}
	}
	visit := func(t *redbfile.Table, key, value []byte) error {
		switch t.Name {
		case tableMeta:
			if string(key) == keyCursor && len(value) == 8 {
				r.cursor, r.cursorRead = binary.LittleEndian.Uint64(value), true
			}
		case tableEntries:
			if len(key) != 8 {
				return errNoLog
			}
			n := binary.LittleEndian.Uint64(key)
			r.runs.add(n)
			payloads += int64(len(value))
			r.window.add(n, value)
			if q.Entries {
				r.entries = append(r.entries, EntryOf(n, value))
			}
		}
		return nil
	}
	var err error
	if q.salvage {
		begin()
		r.view, err = f.Salvage(ctx, visit)
	} else {
		r.view, err = f.Read(ctx, begin, visit)
	}
	if err != nil {
		return r, err
	}
	r.payloads = &payloads
	if err := r.checkTables(); err != nil {
		return r, err
	}
	if r.cursor == guess {
		return r, nil
	}
	// Another commit than the newest: its window is another one.
	r.window = windowReading{after: r.cursor}
	c, err := f.At(ctx, r.view.Slot)
	if err == nil {
		if t, ok := c.Table(tableEntries); ok {
			err = r.window.read(ctx, c, t)
		}
	}
	if errors.As(err, new(*redbfile.Error)) {
		r.window.cut, err = true, nil
	}
	return r, err
}

// checkTables asks whether the tables are those of a log. One without any entry
// or acknowledgement has none.
func (r *fileReading) checkTables() error {
	for _, t := range r.view.Tables {
		switch {
		case t.Name == tableEntries && t.KeyType == "u64" && !t.Multimap, t.Name == tableMeta && t.KeyType == "&str" && !t.Multimap:
			r.hasTables = true
		case t.Name == tableEntries, t.Name == tableMeta:
			return fmt.Errorf("%w: its table %s has keys of type %s", errNoLog, t.Name, t.KeyType)
		}
	}
	if !r.hasTables && len(r.view.Tables) > 0 {
		return fmt.Errorf("%w: it has the table %s and none of a log's", errNoLog, r.view.Tables[0].Name)
	}
	return nil
}

// readIndex reads the branches of a file, its outermost leaves and the window.
func readIndex(ctx context.Context, f *redbfile.File) (fileReading, error) {
	r := fileReading{header: f.Header, extent: ReadWindow}
	c, err := f.Latest(ctx)
	if err != nil {
		return r, err
	}
	r.view = c.View
	if err := r.checkTables(); err != nil {
		return r, err
	}
	if r.cursor, err = cursorOf(ctx, c); err != nil {
		return r, err
	}
	r.window.after = r.cursor
	t, ok := c.Table(tableEntries)
	if !ok || t.Entries == 0 {
		return r, nil
	}
	if _, err := c.Branches(ctx, t); err != nil {
		return r, err
	}
	var first uint64
	if err := c.Ascend(ctx, t, 0, func(n uint64, _ []byte) bool {
		first = n
		return false
	}); err != nil {
		return r, err
	}
	last, _, err := c.Last(ctx, t)
	if err != nil {
		return r, err
	}
	if last >= first && last-first+1 == t.Entries {
		r.runs.addSpan(Span{first, last}) // as many as there is room for: none is missing
	} else {
		r.loose = true
		if err := c.Heads(ctx, t, func(h redbfile.Head) error {
			if from, to := h.Key(0), h.Key(h.Len()-1); to >= from && to-from+1 == uint64(h.Len()) {
				r.runs.addSpan(Span{from, to})
				return nil
			}
			for i := range h.Len() {
				r.runs.add(h.Key(i))
			}
			return nil
		}); err != nil {
			return r, err
		}
	}
	return r, r.window.read(ctx, c, t)
}

func cursorOf(ctx context.Context, c *redbfile.Commit) (cursor uint64, err error) {
	t, ok := c.Table(tableMeta)
	if !ok {
		return 0, nil
	}
	return cursor, c.Pairs(ctx, t, func(key, value []byte) error {
		if string(key) == keyCursor && len(value) == 8 {
			cursor = binary.LittleEndian.Uint64(value)
		}
		return nil
	})
}

// EntryOf describes an entry by its payload. Whether it was acknowledged, and
// whether it lies in a damaged page, is for the log to say.
func EntryOf(n uint64, payload []byte) Entry {
	sum := sha256.Sum256(payload)
	return Entry{Sequence: n, PayloadBytes: int64(len(payload)), PayloadSHA256: hex.EncodeToString(sum[:])}
}

// Bounds of what is looked at of a replay window where not everything is read.
const (
	windowBytes   = 64 << 20
	windowDecoded = 2000 // entries that are decoded
	windowNamed   = 20   // entries that can't be, which are named
)

// windowReading is what was read of a replay window.
type windowReading struct {
	after uint64 // the cursor

	bytes   int64
	first   uint64 // the oldest entry; 0: none
	payload []byte // of the oldest entry
	// cut: there is more of the window than was read.
	cut bool

	decoded int
	broken  []brokenPayload
}

// brokenPayload is an entry that an engine can't decode.
type brokenPayload struct {
	sequence uint64
	why      string
}

// add takes an entry in, in the order of their sequences or not.
func (w *windowReading) add(n uint64, payload []byte) {
	if n <= w.after {
		return
	}
	w.bytes += int64(len(payload))
	if w.first == 0 || n < w.first {
		w.first, w.payload = n, append(w.payload[:0], payload...)
	}
	if w.decoded++; w.decoded > windowDecoded {
		return
	}
	if err := checkPayload(payload); err != nil && len(w.broken) < windowNamed {
		w.broken = append(w.broken, brokenPayload{n, err.Error()})
	}
}

// read takes in the window of a commit, as far as it is read.
func (w *windowReading) read(ctx context.Context, c *redbfile.Commit, t redbfile.Table) error {
	if w.after+1 == 0 {
		return nil
	}
	return c.Ascend(ctx, t, w.after+1, func(n uint64, payload []byte) bool {
		w.add(n, payload)
		w.cut = w.bytes > windowBytes
		return !w.cut
	})
}

// checkPayload asks whether a payload is one that the engine can begin to decode.
// What the Arrow library here does not know is no defect.
func checkPayload(b []byte) error {
	p, err := ParsePayload(b)
	if err != nil {
		return err
	}
	m := messages{rest: p.arrow}
	for {
		_, err := m.guarded()
		switch {
		case errors.Is(err, io.EOF) && m.read < 2:
			return fmt.Errorf("the payload's Arrow stream ends after %d messages: a schema and a batch are needed", m.read)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
