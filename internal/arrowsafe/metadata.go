package arrowsafe

import (
	"encoding/binary"
	"fmt"
)

// Fields of the tables in a message's metadata, by their numbers in Arrow's
// Message.fbs and Schema.fbs.
const (
	messageHeaderType = 1
	messageHeader     = 2
	messageBody       = 3
	messageCustom     = 4

	schemaFields = 1
	schemaCustom = 2

	fieldName     = 0
	fieldChildren = 5
	fieldCustom   = 6

	batchNodes    = 1
	batchBuffers  = 2
	batchVariadic = 4

	dictionaryData = 1
)

// Kinds of messages.
const (
	headerSchema     = 1
	headerDictionary = 2
	headerBatch      = 3
)

// Bounds of a schema.
const (
	maxFields = 10_000 // nested ones too
	maxNested = 64
)

// CheckMetadata looks at every list in a message's metadata, a FlatBuffer, and
// refuses one that is longer than the bytes that hold it. It returns how long the
// message's body says that it is.
func CheckMetadata(meta []byte) (body int64, err error) {
	c := checker{b: meta}
	message := c.root()
	body = int64(c.scalar(message, messageBody, 8))
	c.list(message, messageCustom, 4)
	header := c.table(message, messageHeader)
	switch c.scalar(message, messageHeaderType, 1) {
	case headerSchema:
		c.list(header, schemaCustom, 4)
		c.fields(header, schemaFields, 0)
	case headerBatch:
		c.batch(header)
	case headerDictionary:
		c.batch(c.table(header, dictionaryData))
	}
	if c.err == nil && body < 0 {
		c.fail("its body has %d bytes", body)
	}
	return body, c.err
}

// checker follows a FlatBuffer. After the first error everything is zero.
type checker struct {
	b      []byte
	err    error
	fieldN int
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("an Arrow message's metadata is damaged: "+format, args...)
	}
}

// u32 reads at a place; 0 where that is outside.
func (c *checker) u32(at int64) uint32 {
	if c.err != nil {
		return 0
	}
	if at < 0 || at+4 > int64(len(c.b)) {
		c.fail("it leads to byte %d of %d", at, len(c.b))
		return 0
	}
	return binary.LittleEndian.Uint32(c.b[at:])
}

// table is a table's place and that of its list of fields; absent where at is 0.
type table struct{ at, fields, size int64 }

func (c *checker) root() table { return c.open(int64(c.u32(0))) }

func (c *checker) open(at int64) table {
	fields := at - int64(int32(c.u32(at)))
	size := int64(c.u32(fields) & 0xffff)
	if c.err == nil && (size < 4 || fields+size > int64(len(c.b))) {
		c.fail("a table's list of fields has %d bytes", size)
	}
	if c.err != nil {
		return table{}
	}
	return table{at, fields, size}
}

// field is where a field's value stands; 0: the table has none.
func (c *checker) field(t table, n int) int64 {
	entry := int64(4 + 2*n)
	if c.err != nil || t.at == 0 || entry >= t.size {
		return 0
	}
	// A list of an odd size ends in the middle of an entry, which the library reads
	// all the same.
	if t.fields+entry+2 > int64(len(c.b)) {
		c.fail("a table's list of fields has %d bytes", t.size)
		return 0
	}
	offset := int64(binary.LittleEndian.Uint16(c.b[t.fields+entry:]))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

func (c *checker) scalar(t table, n, size int) uint64 {
	at := c.field(t, n)
	if at == 0 {
		return 0
	}
	if at+int64(size) > int64(len(c.b)) {
		c.fail("a field stands at byte %d of %d", at, len(c.b))
		return 0
	}
	if size == 1 {
		return uint64(c.b[at])
	}
	return binary.LittleEndian.Uint64(c.b[at:])
}

// table follows a field to a table.
func (c *checker) table(t table, n int) table {
	at := c.field(t, n)
	if at == 0 {
		return table{}
	}
	return c.open(at + int64(c.u32(at)))
}

// list follows a field to a list of items of a size, and returns where the first
// stands and how many there are.
func (c *checker) list(t table, n int, size int64) (first int64, count int64) {
	at := c.field(t, n)
	if at == 0 {
		return 0, 0
	}
	at += int64(c.u32(at))
	count = int64(c.u32(at))
	if c.err == nil && count*size > int64(len(c.b))-at-4 {
		c.fail("a list says that it has %d items of %d bytes, and %d bytes follow", count, size, int64(len(c.b))-at-4)
	}
	if c.err != nil {
		return 0, 0
	}
	return at + 4, count
}

func (c *checker) batch(t table) {
	const pair = 16
	c.list(t, batchNodes, pair)
	c.list(t, batchBuffers, pair)
	c.list(t, batchVariadic, 8)
}

func (c *checker) fields(t table, n, depth int) {
	first, count := c.list(t, n, 4)
	if depth == maxNested && count > 0 {
		c.fail("its columns are nested deeper than %d levels", maxNested)
	}
	for i := range count {
		// One field may stand in several lists: each time counts.
		if c.fieldN++; c.fieldN > maxFields {
			c.fail("it has more than %d columns", maxFields)
		}
		if c.err != nil {
			return
		}
		at := first + 4*i
		f := c.open(at + int64(c.u32(at)))
		c.list(f, fieldName, 1)
		c.list(f, fieldCustom, 4)
		c.fields(f, fieldChildren, depth+1)
	}
}
