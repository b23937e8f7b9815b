// Package redbtest writes redb files of any size for tests and benchmarks: one
// commit of a write-ahead log, of the format version 3 as redb 4 lays it out, with
// the checksum of every page.
//
// It is no database: a file is written once, from start to end. What redb itself
// writes is in the fixtures; those decide what is right.
package redbtest

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"
)

// Log is what a file holds.
type Log struct {
	Entries uint64
	// Sequence is that of an entry, from 0; they must rise. Nil: they begin at 1.
	Sequence func(i uint64) uint64
	Payload  func(sequence uint64) []byte // valid until the next call
	Cursor   uint64
	Clean    bool // the file was closed
}

const (
	pageSize    = 4096
	keySize     = 8
	regionPages = 1 << 20
)

// node is a page with the last key in it, or below it.
type node struct {
	page uint64
	sum  [16]byte
	last uint64
}

// writer puts pages one behind another.
type writer struct {
	to   io.WriterAt
	next uint64 // page, of the smallest size
	err  error
}

// Write writes a file of less than 4 GiB and returns its size.
func Write(to io.WriterAt, l Log) (int64, error) {
	w := &writer{to: to}
	entries := w.tree(w.leaves(l))
	meta := w.put(cursorLeaf(l.Cursor))
	tables := w.put(tablesLeaf(entries, l.Entries, meta))
	var system *node
	if l.Clean {
		allocator := w.put(allocatorLeaf())
		n := w.put(systemLeaf(allocator))
		system = &n
	}
	header := w.header(tables, system)
	w.write(header, 0)
	return int64(w.next+1) * pageSize, w.err
}

func (w *writer) write(b []byte, at int64) {
	if w.err == nil {
		_, w.err = w.to.WriteAt(b, at)
	}
}

// put writes a page whose checksum covers all of the bytes, as large as it needs
// to be.
func (w *writer) put(b []byte) node {
	order := uint64(0)
	for pageSize<<order < len(b) {
		order++
	}
	size := uint64(1) << order // in the smallest pages
	w.next = (w.next + size - 1) / size * size
	n := node{page: order<<59 | w.next/size, sum: checksum(b)}
	page := make([]byte, pageSize<<order)
	copy(page, b)
	w.write(page, pageSize+int64(w.next)*pageSize)
	w.next += size
	return n
}

func checksum(b []byte) (out [16]byte) {
	h := xxh3.Hash128(b)
	binary.LittleEndian.PutUint64(out[:8], h.Lo)
	binary.LittleEndian.PutUint64(out[8:], h.Hi)
	return out
}

// leaves writes the entries, as many in a leaf as fit into a page.
func (w *writer) leaves(l Log) []node {
	var (
		out    []node
		keys   []uint64
		ends   []int
		values []byte
	)
	flush := func() {
		if len(keys) == 0 {
			return
		}
		b := binary.LittleEndian.AppendUint16([]byte{1, 0xff}, uint16(len(keys)))
		start := 4 + len(keys)*(4+keySize)
		for _, end := range ends {
			b = binary.LittleEndian.AppendUint32(b, uint32(start+end))
		}
		for _, key := range keys {
			b = binary.LittleEndian.AppendUint64(b, key)
		}
		n := w.put(append(b, values...))
		n.last = keys[len(keys)-1]
		out = append(out, n)
		keys, ends, values = keys[:0], ends[:0], values[:0]
	}
	for i := range l.Entries {
		key := i + 1
		if l.Sequence != nil {
			key = l.Sequence(i)
		}
		payload := l.Payload(key)
		if 4+(len(keys)+1)*(4+keySize)+len(values)+len(payload) > pageSize {
			flush()
		}
		keys, values = append(keys, key), append(values, payload...)
		ends = append(ends, len(values))
	}
	flush()
	return out
}

// tree writes the branches above nodes and returns the root; nil where there is
// no node.
func (w *writer) tree(level []node) *node {
	const most = (pageSize - 8) / (24 + keySize) // children of a branch
	for len(level) > 1 {
		var above []node
		for at := 0; at < len(level); {
			n := min(most, len(level)-at)
			if len(level)-at-n == 1 {
				n-- // a branch has two children at least
			}
			above = append(above, w.branch(level[at:at+n]))
			at += n
		}
		level = above
	}
	if len(level) == 0 {
		return nil
	}
	return &level[0]
}

func (w *writer) branch(children []node) node {
	b := binary.LittleEndian.AppendUint16([]byte{2, 0xff}, uint16(len(children)-1))
	b = append(b, 0, 0, 0, 0)
	for _, c := range children {
		b = append(b, c.sum[:]...)
	}
	for _, c := range children {
		b = binary.LittleEndian.AppendUint64(b, c.page)
	}
	for _, c := range children[:len(children)-1] {
		b = binary.LittleEndian.AppendUint64(b, c.last)
	}
	n := w.put(b)
	n.last = children[len(children)-1].last
	return n
}

// cursorLeaf is the table meta with its one pair.
func cursorLeaf(cursor uint64) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{1, 0xff}, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(8+len("cursor")))
	return binary.LittleEndian.AppendUint64(append(b, "cursor"...), cursor)
}

// transaction is that of the one commit.
const transaction = 7

// allocatorLeaf is the one pair of the allocator's state that says of which
// transaction it is; the state itself is left out.
func allocatorLeaf() []byte {
	b := binary.LittleEndian.AppendUint16([]byte{1, 0xff}, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(8+allocatorKey+8))
	b = append(b, 5, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint64(b, transaction)
}

const allocatorKey = 5 // bytes: a kind and a number

// systemLeaf is the list of the system's tables that a clean close leaves.
func systemLeaf(allocator node) []byte {
	return list([]string{"allocator_state"}, definition(&allocator, 1, allocatorKey, 0, "redb::AllocatorStateKey", "&[u8]"))
}

// tablesLeaf is the list of the two tables.
func tablesLeaf(entries *node, count uint64, meta node) []byte {
	return list([]string{"entries", "meta"},
		definition(entries, count, keySize, 0, "u64", "&[u8]"),
		definition(&meta, 1, 0, 8, "&str", "u64"))
}

func list(names []string, values ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{1, 0xff}, uint16(len(names)))
	end := 4 + 4*len(names) + 4*len(values)
	for _, name := range names {
		end += len(name)
		b = binary.LittleEndian.AppendUint32(b, uint32(end))
	}
	for _, v := range values {
		end += len(v)
		b = binary.LittleEndian.AppendUint32(b, uint32(end))
	}
	for _, name := range names {
		b = append(b, name...)
	}
	for _, v := range values {
		b = append(b, v...)
	}
	return b
}

// definition describes a table; a width of 0 is a variable one.
func definition(root *node, count uint64, key, value uint32, keyType, valueType string) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{3}, count)
	if root == nil {
		b = append(b, make([]byte, 33)...)
	} else {
		b = append(b, 1)
		b = append(binary.LittleEndian.AppendUint64(b, root.page), root.sum[:]...)
		b = binary.LittleEndian.AppendUint64(b, count)
	}
	for _, width := range []uint32{key, value} {
		fixed := byte(0)
		if width > 0 {
			fixed = 1
		}
		b = binary.LittleEndian.AppendUint32(append(b, fixed), width)
	}
	for range 2 { // alignments
		b = binary.LittleEndian.AppendUint32(b, 1)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(1+len(keyType)))
	b = append(append(b, 1), keyType...)
	return append(append(b, 1), valueType...)
}

// header is the first page, with the commit in slot 0; one that was closed cleanly
// where there are tables of the system.
func (w *writer) header(tables node, system *node) []byte {
	b := make([]byte, pageSize)
	copy(b, "redb\x1a\x0a\xa9\x0d\x0a")
	b[9] = 2
	if system != nil {
		b[9] = 4
	}
	binary.LittleEndian.PutUint32(b[12:], pageSize)
	binary.LittleEndian.PutUint32(b[20:], regionPages)
	binary.LittleEndian.PutUint32(b[28:], uint32(w.next))
	const slots, slotSize = 64, 128
	for i, id := range []uint64{transaction, transaction - 1} {
		s := b[slots+i*slotSize:][:slotSize]
		s[0] = 3
		if i == 0 {
			s[1] = 1
			binary.LittleEndian.PutUint64(s[8:], tables.page)
			copy(s[16:], tables.sum[:])
			binary.LittleEndian.PutUint64(s[32:], 2)
			if system != nil {
				s[2] = 1
				binary.LittleEndian.PutUint64(s[40:], system.page)
				copy(s[48:], system.sum[:])
				binary.LittleEndian.PutUint64(s[64:], 1)
			}
		}
		binary.LittleEndian.PutUint64(s[104:], id)
		sum := checksum(s[:112])
		copy(s[112:], sum[:])
	}
	return b
}
