package redbfile

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// File is a database that is read.
type File struct {
	Header
	r    io.ReaderAt
	size int64
}

// Open reads the header of a file of size bytes. The error is an *Error.
func Open(r io.ReaderAt, size int64) (*File, error) {
	h, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	return &File{Header: h, r: r, size: size}, nil
}

// Changed reports whether the header is no longer the one that was read: a
// writer has committed since, and pages that were read may have been reused.
func (f *File) Changed() (bool, error) {
	var now [headerSize]byte
	if _, err := f.r.ReadAt(now[:], 0); err != nil {
		return true, &Error{Code: Unreadable, Message: "the header can't be read again", Err: err}
	}
	return now != f.raw, nil
}

// View is the commit that a start of the engine would go on from.
type View struct {
	Slot        int
	Transaction uint64
	Version     int
	Tables      []Table // of the user, in the order of their names

	// RolledBack: the newer commit is damaged, and a start takes the older one.
	RolledBack bool
	// Blind: the file was closed cleanly, and nothing was committed since, so that
	// redb checks no page when it opens it. With Damage it returns damaged data.
	Blind bool
	// Short and Long are how many bytes the file has less or more than its header
	// says. redb 2 panics over a short one; redb 4 refuses it after a clean close, and
	// tries to go on with what is left after another.
	Short, Long int64
	// Cut is the length at which redb would open a longer file that it does not open
	// as it is; 0 where the length is none that stops it, or the file is short.
	Cut int64
	// OtherUnchecked: the commit that a start falls back to has a wrong checksum
	// itself, which redb 2.6 does not look at.
	OtherUnchecked bool

	Damage []Damage // bounded
	// Damaged counts all pages that are not as their parents say.
	Damaged int
}

// maxDamage bounds View.Damage.
const maxDamage = 64

// Read finds the commit that a start would take, and visits every entry of the
// user's tables in it, table by table in the order of their names and keys.
// begin is called before the first entry, and again where the commit turned out
// to be damaged and another one is taken: then everything that was visited is
// void. Key and value are valid until visit returns; an error of it ends the
// reading. Every page's checksum is looked at, also those of the system's tables.
//
// The error is an *Error where no commit can be read, else that of ctx or visit.
func (f *File) Read(ctx context.Context, begin func(), visit func(t *Table, key, value []byte) error) (View, error) {
	p := f.Primary
	blind, err := f.trusted(ctx)
	if err != nil {
		return View{}, err
	}
	if blind {
		begin()
		v, err := f.read(ctx, p, true, visit)
		v.Blind = true
		if !f.Slots[p].Valid {
			v.note(badSlot(p))
		}
		return v, err
	}
	take, err := f.choose()
	if err != nil {
		return View{}, err
	}
	begin()
	// An engine gets over no file that is too short; what is left of it is worth
	// reading all the same.
	short := f.size < f.length()
	v, err := f.read(ctx, take, short, visit)
	switch {
	case err == nil && short && v.Damaged > 0 && len(v.Tables) == 0:
		return v, noTree(v)
	case err == nil:
		v.RolledBack = take != p && !f.Slots[p].Valid
		return v, nil
	case !errors.Is(err, errStopped):
		return v, err
	case f.TwoPhase:
		return v, noTree(v)
	}
	first, other := v, 1-take
	begin()
	v, err = f.read(ctx, other, false, visit)
	switch {
	case errors.Is(err, errStopped):
		return first, noTree(first)
	case err != nil:
		return v, err
	}
	v.RolledBack, v.OtherUnchecked = true, !f.Slots[other].Valid
	for _, d := range first.Damage {
		v.note(d)
	}
	return v, nil
}

// Salvage reads what is left of the newest commit, past all damage, for files
// that no start of an engine gets over. Damage that hides other pages hides their
// entries too.
func (f *File) Salvage(ctx context.Context, visit func(t *Table, key, value []byte) error) (View, error) {
	slot, err := f.choose()
	if err != nil {
		slot = f.Primary
	}
	v, err := f.read(ctx, slot, true, visit)
	if !f.Slots[slot].Valid {
		v.note(badSlot(slot))
	}
	return v, err
}

// trusted reports whether a start believes the trees of the primary slot without a
// look at any checksum: after a clean close, and as long as nothing was committed
// since, though a writer had opened the file again. A file of format 3 whose
// allocator's state is not known is repaired, however it was closed. The error is
// that of ctx, or an *Error of the reader.
func (f *File) trusted(ctx context.Context) (bool, error) {
	p, clean := f.Slots[f.Primary], !f.Recovery && f.size == f.length()
	switch {
	case clean && p.Version == 2:
		return true, nil
	case !f.TwoPhase || f.size < f.length() || !clean && !p.Valid:
		return false, nil
	}
	return f.allocatorKnown(ctx)
}

// allocatorTable is the system's table of which pages are in use. A clean close
// writes it; redb loads it in place of a walk through all trees if the commit that
// it names is the last one, and that was made in two phases.
const allocatorTable = "allocator_state"

// Its key is a kind and a number of four bytes. The kind of the transaction's id is
// 2 in redb 2 and 5 in redb 4, and neither knows that of the other.
const (
	allocatorKey        = 5
	transactionOfRedb2  = 2
	transactionOfRedb4  = 5
	transactionIDLength = 8
)

// allocatorKnown reports whether the allocator's state of the primary commit is
// kept, and of that commit. Checksums don't matter for it.
func (f *File) allocatorKnown(ctx context.Context) (bool, error) {
	s := f.Slots[f.Primary]
	w := newWalker(f.r, f.size, f.Header, func(Damage) bool { return true })
	system, err := f.tables(ctx, w, s.system)
	if err != nil {
		return false, err
	}
	known := false
	for i := range system {
		if t := &system[i]; t.Name != allocatorTable || t.key != allocatorKey || t.value != variable {
			continue
		}
		err := w.read(ctx, &system[i], func(_ *Table, key, value []byte) error {
			if (key[0] == transactionOfRedb2 || key[0] == transactionOfRedb4) && len(value) == transactionIDLength {
				known = known || binary.LittleEndian.Uint64(value) == s.Transaction
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return known, nil
}

// choose is the slot that a start takes first, where it trusts none.
func (f *File) choose() (int, error) {
	p, s := f.Primary, 1-f.Primary
	switch {
	case f.TwoPhase:
		if !f.Slots[p].Valid {
			return p, failure(NoSlot, "the last commit was made in two phases and its slot's checksum is wrong: no start of the engine gets over that")
		}
	case !f.Slots[p].Valid && !f.Slots[s].Valid:
		return p, failure(NoSlot, "both commit slots have wrong checksums: no start of the engine gets over that")
	case !f.Slots[p].Valid, f.Slots[s].Valid && f.Slots[s].Transaction > f.Slots[p].Transaction, f.Unflushed && f.Slots[s].Valid:
		return s, nil
	}
	return p, nil
}

func badSlot(slot int) Damage {
	return Damage{Message: "the checksum of the commit slot is wrong", Offset: slotsAt + int64(slot)*slotSize}
}

func noTree(v View) error {
	what := "a page of every commit is damaged: no start of the engine gets over that"
	if len(v.Damage) > 0 {
		what += " (" + v.Damage[0].Message + ")"
	}
	return &Error{Code: NoTree, Message: what}
}

func (v *View) note(d Damage) {
	v.Damaged++
	if len(v.Damage) < maxDamage {
		v.Damage = append(v.Damage, d)
	}
}

// read reads the commit of one slot. Where it does not go on, errStopped is the
// first damaged page.
func (f *File) read(ctx context.Context, slot int, goOn bool, visit func(t *Table, key, value []byte) error) (View, error) {
	s := f.Slots[slot]
	v := f.view(slot)
	w := newWalker(f.r, f.size, f.Header, func(d Damage) bool {
		v.note(d)
		return goOn
	})
	tables, err := f.tables(ctx, w, s.user)
	v.Tables = append(v.Tables, tables...)
	if err != nil {
		return v, err
	}
	for i := range v.Tables {
		if err := w.read(ctx, &v.Tables[i], visit); err != nil {
			return v, err
		}
	}
	// The system's tables count as much when a start chooses between commits.
	system, err := f.tables(ctx, w, s.system)
	if err != nil {
		return v, err
	}
	nothing := func(*Table, []byte, []byte) error { return nil }
	for i := range system {
		if err := w.read(ctx, &system[i], nothing); err != nil {
			return v, err
		}
	}
	const freedKey = 16 // a transaction's id and a page of its list
	w.table = "the freed pages"
	return v, w.tree(ctx, s.freed, freedKey, variable, func(_, _ []byte) error { return nil })
}

// view is what the header says of the commit of a slot.
func (f *File) view(slot int) View {
	s := f.Slots[slot]
	v := View{Slot: slot, Transaction: s.Transaction, Version: s.Version, Tables: []Table{}}
	if want := f.length(); f.size < want {
		v.Short = want - f.size
	} else {
		v.Long = f.size - want
	}
	switch {
	case v.Long > 0 && s.Version == 2 && !f.Recovery:
		// redb 2 sees that it would have to be repaired, and does so only after an
		// unclean close.
		v.Cut = f.size - v.Long
	case v.Long%pageSize != 0: // every redb wants whole pages
		v.Cut = f.size - v.Long%pageSize
	}
	return v
}

// ListOfTables is what [Damage.Table] says of pages that hold the tables' definitions.
const ListOfTables = "the list of tables"

// maxTables bounds the tables of a file. An engine makes three.
const maxTables = 1000

func (f *File) tables(ctx context.Context, w *walker, from *root) ([]Table, error) {
	var out []Table
	w.table = ListOfTables
	err := w.tree(ctx, from, variable, variable, func(name, definition []byte) error {
		t, err := parseTable(name, definition)
		switch {
		case err != nil:
			return w.bad(from.page, 0, "%v", err)
		case len(out) == maxTables:
			return w.bad(from.page, 0, "it has more than %d tables", maxTables)
		}
		out = append(out, t)
		return nil
	})
	return out, err
}

// read visits a table.
func (w *walker) read(ctx context.Context, t *Table, visit func(t *Table, key, value []byte) error) error {
	if t.Multimap {
		return nil
	}
	w.table = t.Name
	return w.tree(ctx, t.root, t.key, t.value, func(key, value []byte) error { return visit(t, key, value) })
}
