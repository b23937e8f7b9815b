package redbfile

import (
	"context"
	"encoding/binary"
	"errors"
)

// Commit is one commit of a file, to be read in parts. It knows the tables of
// the user; nothing else of it was read. Each page that is read is compared with
// its checksum, but for those that [Commit.Heads] reads.
//
// Its errors are an *Error with the code [NoTree] where a page is damaged. A live
// writer may have reused the page: see [File.Changed].
type Commit struct {
	View
	file *File
}

// Latest is the commit that a start would take by the slots alone: no tree is
// walked, so that View.RolledBack and View.Damage tell of the slots only.
func (f *File) Latest(ctx context.Context) (*Commit, error) {
	slot := f.Primary
	blind, err := f.trusted(ctx)
	if err != nil {
		return nil, err
	}
	if !blind {
		if slot, err = f.choose(); err != nil {
			return nil, err
		}
	}
	c, err := f.At(ctx, slot)
	if err != nil {
		return nil, err
	}
	c.Blind, c.RolledBack = blind, slot != f.Primary && !f.Slots[f.Primary].Valid
	if blind && !f.Slots[slot].Valid {
		c.note(badSlot(slot))
	}
	return c, nil
}

// At is the commit of a slot, whatever a start would take.
func (f *File) At(ctx context.Context, slot int) (*Commit, error) {
	c := &Commit{View: f.view(slot), file: f}
	return c, c.walk(func(w *walker) error {
		tables, err := f.tables(ctx, w, f.Slots[slot].user)
		c.Tables = append(c.Tables, tables...)
		return err
	})
}

// Table is the table of a name.
func (c *Commit) Table(name string) (Table, bool) {
	for _, t := range c.Tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// walk runs a walk that ends at the first damaged page.
func (c *Commit) walk(do func(w *walker) error) error {
	var first Damage
	w := newWalker(c.file.r, c.file.size, c.file.Header, func(d Damage) bool {
		first = d
		return false
	})
	err := do(w)
	if errors.Is(err, errStopped) {
		return &Error{Code: NoTree, Message: first.Message}
	}
	return err
}

// Pairs visits every pair of a table.
func (c *Commit) Pairs(ctx context.Context, t Table, visit func(key, value []byte) error) error {
	return c.walk(func(w *walker) error {
		return w.read(ctx, &t, func(_ *Table, key, value []byte) error { return visit(key, value) })
	})
}

// numbered is the width of the keys of the tables that can be read from a key on.
const numbered = 8

// errEnough ends a walk that has what it was for.
var errEnough = errors.New("enough")

func (t Table) numbered() error {
	if t.Multimap || t.key != numbered {
		return failure(NoTree, "table %q has no keys of %d bytes", t.Name, numbered)
	}
	return nil
}

// Ascend visits the pairs of a table of numbers from a key on, in their order,
// until visit returns false. The value is valid until visit returns.
func (c *Commit) Ascend(ctx context.Context, t Table, from uint64, visit func(key uint64, value []byte) bool) error {
	if err := t.numbered(); err != nil || t.root == nil {
		return err
	}
	err := c.walk(func(w *walker) error {
		w.table = t.Name
		return w.ascend(ctx, t, t.root.page, t.root.checksum, 0, from, visit)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (w *walker) ascend(ctx context.Context, t Table, number uint64, want checksum, depth int, from uint64, visit func(key uint64, value []byte) bool) error {
	at, b, err := w.load(ctx, number, depth)
	if err != nil {
		return err
	}
	switch b[0] {
	case leafPage:
		return w.leaf(number, at, b, want, t.key, t.value, func(key, value []byte) error {
			if n := binary.LittleEndian.Uint64(key); n >= from && !visit(n, value) {
				return errEnough
			}
			return nil
		})
	case branchPage:
		list, keys, err := w.children(number, at, b, want, t.key)
		if err != nil {
			return err
		}
		for i := range list.count() {
			if i < list.count()-1 && binary.LittleEndian.Uint64(b[keys.begin(i):]) < from {
				continue
			}
			child, sum := list.child(i)
			if err := w.ascend(ctx, t, child, sum, depth+1, from, visit); err != nil {
				return err
			}
		}
		return nil
	default:
		return w.strange(number, at, b[0])
	}
}

// Last is the greatest key of a table of numbers; false where it is empty.
func (c *Commit) Last(ctx context.Context, t Table) (key uint64, ok bool, err error) {
	if err := t.numbered(); err != nil || t.root == nil {
		return 0, false, err
	}
	err = c.walk(func(w *walker) error {
		w.table = t.Name
		number, want := t.root.page, t.root.checksum
		for depth := 0; ; depth++ {
			at, b, err := w.load(ctx, number, depth)
			if err != nil {
				return err
			}
			switch b[0] {
			case leafPage:
				return w.leaf(number, at, b, want, t.key, t.value, func(k, _ []byte) error {
					key, ok = binary.LittleEndian.Uint64(k), true
					return nil
				})
			case branchPage:
			default:
				return w.strange(number, at, b[0])
			}
			list, _, err := w.children(number, at, b, want, t.key)
			if err != nil {
				return err
			}
			number, want = list.child(list.count() - 1)
		}
	})
	return key, ok, err
}

// Head is what stands before the values of a leaf of a table of numbers.
type Head struct {
	keys   []byte
	n      int
	values ends
}

// Len is the number of pairs, one at least.
func (h Head) Len() int { return h.n }

// Key is the key of a pair.
func (h Head) Key(i int) uint64 { return binary.LittleEndian.Uint64(h.keys[numbered*i:]) }

// Size is how long the value of a pair is, in bytes.
func (h Head) Size(i int) int { return h.values.end(i) - h.values.begin(i) }

// Heads visits the leaves of a table of numbers, in the order of their keys,
// without their values: of a leaf of several pages only the first is read. The
// checksums of branches are compared; those of leaves are not, so that what was
// read is to be believed only if the file has not changed meanwhile. A head is
// valid until visit returns; an error of it ends the reading.
func (c *Commit) Heads(ctx context.Context, t Table, visit func(Head) error) error {
	if err := t.numbered(); err != nil || t.root == nil {
		return err
	}
	return c.walk(func(w *walker) error {
		w.table = t.Name
		return w.heads(ctx, t, t.root.page, t.root.checksum, 0, visit)
	})
}

// headBytes is how much of a page is read at first: ends and keys of some forty pairs.
const headBytes = 512

func (w *walker) heads(ctx context.Context, t Table, number uint64, want checksum, depth int, visit func(Head) error) error {
	at, length, err := w.find(ctx, number, depth)
	if err != nil {
		return err
	}
	b, err := w.fill(number, at, depth, 0, min(length, max(headBytes, w.head)))
	if err != nil {
		return err
	}
	// The list of ends and the keys of a leaf may be longer than that, and a branch is.
	need := int64(4 + (4+numbered)*int(binary.LittleEndian.Uint16(b[2:])))
	if b[0] == branchPage {
		need = length
	}
	if b[0] == leafPage {
		w.head = min(need, pageSize) // the next leaf is likely as full
	}
	if need > int64(len(b)) && need <= length {
		if b, err = w.fill(number, at, depth, int64(len(b)), need); err != nil {
			return err
		}
	}
	switch b[0] {
	case leafPage:
		n, keys, values, ok := pairs(b, int(length), t.key, t.value)
		if !ok {
			return w.bad(number, at, "the leaf at byte %d says that it has %d pairs, which don't fit into it", at, n)
		}
		return visit(Head{keys: b[keys.start : keys.start+n*numbered], n: n, values: values})
	case branchPage:
		list, _, err := w.children(number, at, b, want, t.key)
		if err != nil {
			return err
		}
		for i := range list.count() {
			child, sum := list.child(i)
			if err := w.heads(ctx, t, child, sum, depth+1, visit); err != nil {
				return err
			}
		}
		return nil
	default:
		return w.strange(number, at, b[0])
	}
}

// Branches reads the branches of a table of numbers and no leaf, but for those at
// the left edge: how deep they lie is known from there. It returns how many
// leaves the table has.
func (c *Commit) Branches(ctx context.Context, t Table) (leaves uint64, err error) {
	if err := t.numbered(); err != nil || t.root == nil {
		return 0, err
	}
	height := 0
	err = c.walk(func(w *walker) error {
		w.table = t.Name
		number, want := t.root.page, t.root.checksum
		for ; ; height++ {
			at, b, err := w.load(ctx, number, height)
			if err != nil {
				return err
			}
			switch b[0] {
			case leafPage:
				return nil
			case branchPage:
			default:
				return w.strange(number, at, b[0])
			}
			list, _, err := w.children(number, at, b, want, t.key)
			if err != nil {
				return err
			}
			number, want = list.child(0)
		}
	})
	if err != nil {
		return 0, err
	}
	err = c.walk(func(w *walker) error {
		w.table = t.Name
		leaves, err = w.branches(ctx, t, t.root.page, t.root.checksum, 0, height)
		return err
	})
	return leaves, err
}

func (w *walker) branches(ctx context.Context, t Table, number uint64, want checksum, depth, height int) (uint64, error) {
	if depth == height {
		return 1, nil
	}
	at, b, err := w.load(ctx, number, depth)
	if err != nil {
		return 0, err
	}
	if b[0] != branchPage {
		return 0, w.bad(number, at, "the page at byte %d is a leaf where the tree has a branch", at)
	}
	list, _, err := w.children(number, at, b, want, t.key)
	if err != nil {
		return 0, err
	}
	if depth == height-1 {
		return uint64(list.count()), nil
	}
	var leaves uint64
	for i := range list.count() {
		child, sum := list.child(i)
		n, err := w.branches(ctx, t, child, sum, depth+1, height)
		if err != nil {
			return 0, err
		}
		leaves += n
	}
	return leaves, nil
}
