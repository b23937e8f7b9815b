package redbfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Table is one table as its definition describes it.
type Table struct {
	Name      string
	Entries   uint64 // as the definition says
	KeyType   string // redb's name for it, as in "u64" or "&str"
	ValueType string
	Multimap  bool // several values to a key; its entries are not read

	root       *root
	key, value width
}

// definitionSize is the fixed part of a table's definition.
const definitionSize = 64

// parseTable reads a definition. Sizes that a page can't hold are refused, so
// that what follows need not ask.
func parseTable(name, b []byte) (Table, error) {
	t := Table{Name: string(bytes.ToValidUTF8(name, []byte("\uFFFD")))}
	if len(b) < definitionSize {
		return t, fmt.Errorf("the definition of table %q has %d bytes, and at least %d are needed", t.Name, len(b), definitionSize)
	}
	switch b[0] {
	case 3:
	case 4:
		t.Multimap = true
	default:
		return t, fmt.Errorf("table %q is of kind %d, which format versions 2 and 3 don't have", t.Name, b[0])
	}
	t.Entries = binary.LittleEndian.Uint64(b[1:])
	if b[9] != 0 {
		t.root = &root{page: binary.LittleEndian.Uint64(b[10:]), length: binary.LittleEndian.Uint64(b[34:])}
		copy(t.root.checksum[:], b[18:])
	}
	var err error
	if t.key, err = parseWidth(b[42:]); err == nil {
		t.value, err = parseWidth(b[47:])
	}
	if err != nil {
		return t, fmt.Errorf("table %q: %w", t.Name, err)
	}
	n := binary.LittleEndian.Uint32(b[60:])
	if int64(n) > int64(len(b)-definitionSize) {
		return t, fmt.Errorf("the definition of table %q says that the name of its key type has %d bytes, more than it has", t.Name, n)
	}
	types := b[definitionSize:]
	t.KeyType, t.ValueType = typeName(types[:n]), typeName(types[n:])
	return t, nil
}

func parseWidth(b []byte) (width, error) {
	n := binary.LittleEndian.Uint32(b[1:])
	switch {
	case b[0] == 0:
		return variable, nil
	case n > 1<<28:
		return 0, fmt.Errorf("its items are %d bytes wide", n)
	default:
		return width(n), nil
	}
}

// typeName is the name behind the byte that says whose type it is.
func typeName(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return string(bytes.ToValidUTF8(b[1:], []byte("\uFFFD")))
}
