package redbfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds a tree. Real ones of a full file have less than ten levels.
const maxDepth = 40

// width is how long a table's keys or values are; variable below zero.
type width int

const variable width = -1

// Damage is a page that is not as its parent says.
type Damage struct {
	Page    uint64
	Offset  int64 // in the file
	Table   string
	Message string
	// First and Last are the keys of a leaf that was read on all the same; nil
	// where none was.
	First, Last []byte
}

// errStopped ends a walk because a page is bad and nobody wants to go on.
var errStopped = errors.New("a page is damaged")

// walker reads trees. It never reads a page twice in one walk.
type walker struct {
	r      io.ReaderAt
	size   int64
	header Header
	seen   []uint64 // bits by the page's place in the file, in units of the smallest page

	pages [maxDepth][]byte // one buffer for each level

	// damaged is told of each bad page, and says whether to go on with what the
	// page holds all the same.
	damaged func(Damage) bool
	table   string // that is read
	head    int64  // bytes of the last head that was read of a leaf
}

func newWalker(r io.ReaderAt, size int64, h Header, damaged func(Damage) bool) *walker {
	return &walker{r: r, size: size, header: h, seen: make([]uint64, size/pageSize/64+1), damaged: damaged}
}

// mark reports whether a page was not met before.
func (w *walker) mark(at int64) bool {
	unit := at / pageSize
	word, bit := unit/64, uint64(1)<<(unit%64)
	if w.seen[word]&bit != 0 {
		return false
	}
	w.seen[word] |= bit
	return true
}

// bad reports a page, and returns errStopped where the walk is to end.
func (w *walker) bad(page uint64, at int64, format string, args ...any) error {
	return w.report(Damage{Page: page, Offset: at, Message: fmt.Sprintf(format, args...)})
}

func (w *walker) report(d Damage) error {
	d.Table = w.table
	if !w.damaged(d) {
		return errStopped
	}
	return nil
}

// tree visits the pairs of a tree in the order of their keys. Key and value are
// valid until visit returns.
func (w *walker) tree(ctx context.Context, from *root, key, value width, visit func(key, value []byte) error) error {
	if from == nil {
		return nil
	}
	return w.page(ctx, from.page, from.checksum, 0, key, value, visit)
}

func (w *walker) page(ctx context.Context, number uint64, want checksum, depth int, key, value width, visit func(key, value []byte) error) error {
	at, buffer, err := w.load(ctx, number, depth)
	if err != nil || buffer == nil {
		return err
	}
	switch buffer[0] {
	case leafPage:
		return w.leaf(number, at, buffer, want, key, value, visit)
	case branchPage:
		return w.branch(ctx, number, at, buffer, want, depth, key, value, visit)
	default:
		return w.strange(number, at, buffer[0])
	}
}

// Kinds of pages.
const (
	leafPage   = 1
	branchPage = 2
)

func (w *walker) strange(number uint64, at int64, kind byte) error {
	return w.bad(number, at, "the page at byte %d is of no known kind (%d)", at, kind)
}

// load reads a page; nil where it is damaged and the walk goes on.
func (w *walker) load(ctx context.Context, number uint64, depth int) (at int64, page []byte, err error) {
	at, length, err := w.find(ctx, number, depth)
	if err != nil || length == 0 {
		return at, nil, err
	}
	page, err = w.fill(number, at, depth, 0, length)
	return at, page, err
}

// find is where a page lies; of no length where it is damaged and the walk goes
// on.
func (w *walker) find(ctx context.Context, number uint64, depth int) (at, length int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	at, length, ok := w.header.place(number, w.size)
	switch {
	case !ok:
		return at, 0, w.bad(number, at, "page %#x lies outside the file", number)
	case depth == maxDepth:
		return at, 0, w.bad(number, at, "the tree is deeper than %d levels", maxDepth)
	case !w.mark(at):
		return at, 0, w.bad(number, at, "the page at byte %d stands twice in the trees", at)
	}
	return at, length, nil
}

// fill reads bytes of a page into the buffer of its level, behind those that are
// there already.
func (w *walker) fill(number uint64, at int64, depth int, have, length int64) ([]byte, error) {
	buffer := w.pages[depth]
	if int64(cap(buffer)) < length {
		buffer = make([]byte, length)
		copy(buffer, w.pages[depth][:have])
		w.pages[depth] = buffer
	}
	buffer = buffer[:length]
	if _, err := w.r.ReadAt(buffer[have:], at+have); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, w.bad(number, at, "the file ends inside the page at byte %d", at)
		}
		return nil, &Error{Code: Unreadable, Message: fmt.Sprintf("the page at byte %d can't be read", at), Err: err}
	}
	return buffer, nil
}

// ends finds where each of n items ends: items of a fixed width follow one
// another from start on, others have their ends in a list.
type ends struct {
	list  []byte // of u32; nil for a fixed width
	start int
	width int
}

func (e ends) end(i int) int {
	if e.list == nil {
		return e.start + (i+1)*e.width
	}
	return int(binary.LittleEndian.Uint32(e.list[4*i:]))
}

func (e ends) begin(i int) int {
	if i == 0 {
		return e.start
	}
	return e.end(i - 1)
}

// valid reports whether n items follow one another up to limit.
func (e ends) valid(n, limit int) bool {
	if e.list == nil {
		return e.width >= 0 && e.start <= limit && (e.width == 0 || n <= (limit-e.start)/e.width)
	}
	last := e.start
	for i := range n {
		next := e.end(i)
		if next < last || next > limit {
			return false
		}
		last = next
	}
	return last <= limit
}

func (w *walker) leaf(number uint64, at int64, b []byte, want checksum, key, value width, visit func(key, value []byte) error) error {
	n, keys, values, ok := pairs(b, len(b), key, value)
	if !ok {
		return w.bad(number, at, "the leaf at byte %d says that it has %d pairs, which don't fit into it", at, n)
	}
	if checksumOf(b[:values.end(n-1)]) != want {
		err := w.report(Damage{
			Page: number, Offset: at, Message: fmt.Sprintf("the checksum of the leaf at byte %d is wrong", at),
			First: append([]byte{}, b[keys.begin(0):keys.end(0)]...), Last: append([]byte{}, b[keys.begin(n-1):keys.end(n-1)]...),
		})
		if err != nil {
			return err
		}
	}
	for i := range n {
		if err := visit(b[keys.begin(i):keys.end(i)], b[values.begin(i):values.end(i)]); err != nil {
			return err
		}
	}
	return nil
}

// pairs finds the pairs of a leaf of so many bytes, of which b holds at least
// what stands before its values. It reports whether they fit.
func pairs(b []byte, length int, key, value width) (n int, keys, values ends, ok bool) {
	n, lists := int(binary.LittleEndian.Uint16(b[2:])), 4
	keys, values = ends{width: int(key)}, ends{width: int(value)}
	for _, of := range []*ends{&keys, &values} {
		if of.width >= 0 {
			continue
		}
		if lists+4*n > len(b) {
			return n, keys, values, false
		}
		of.list = b[lists : lists+4*n]
		lists += 4 * n
	}
	keys.start = lists
	if n == 0 || !keys.valid(n, len(b)) {
		return n, keys, values, false
	}
	values.start = keys.end(n - 1)
	return n, keys, values, values.valid(n, length)
}

func (w *walker) branch(ctx context.Context, number uint64, at int64, b []byte, want checksum, depth int, key, value width, visit func(key, value []byte) error) error {
	children, _, err := w.children(number, at, b, want, key)
	if err != nil {
		return err
	}
	for i := range children.count() {
		child, sum := children.child(i)
		if err := w.page(ctx, child, sum, depth+1, key, value, visit); err != nil {
			return err
		}
	}
	return nil
}

// children are those of a branch.
type children []byte

func (c children) count() int { return len(c) / 24 }

func (c children) child(i int) (page uint64, sum checksum) {
	return binary.LittleEndian.Uint64(c[16*c.count()+8*i:]), checksum(c[16*i:])
}

// children finds the children of a branch, and its keys: child i holds none above
// key i. There are none where the branch is damaged and the walk goes on.
func (w *walker) children(number uint64, at int64, b []byte, want checksum, key width) (children, ends, error) {
	k := int(binary.LittleEndian.Uint16(b[2:]))
	end := 8 + 24*(k+1)
	if k == 0 || end > len(b) {
		return nil, ends{}, w.bad(number, at, "the branch at byte %d says that it has %d keys, which don't fit", at, k)
	}
	keys := ends{width: int(key), start: end}
	if key == variable {
		if end+4*k > len(b) {
			return nil, ends{}, w.bad(number, at, "the branch at byte %d says that it has %d keys, which don't fit", at, k)
		}
		keys.list, keys.start = b[end:end+4*k], end+4*k
	}
	if !keys.valid(k, len(b)) {
		return nil, ends{}, w.bad(number, at, "the branch at byte %d has keys that don't fit into it", at)
	}
	if checksumOf(b[:keys.end(k-1)]) != want {
		if err := w.bad(number, at, "the checksum of the branch at byte %d is wrong", at); err != nil {
			return nil, ends{}, err
		}
	}
	return children(b[8:end]), keys, nil
}
