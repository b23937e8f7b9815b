package flussrpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Row is one record. Columns are counted as in the schema that it was written
// with.
type Row struct {
	Offset    int64
	Timestamp int64 // of its batch, milliseconds since 1970
	Change    Change

	source rowSource
	at     int
}

// rowSource gives the cells of the rows of one batch.
type rowSource interface {
	null(row, column int) bool
	value(row, column int) any
	bytes(row, column int) ([]byte, bool)
}

// Null reports whether a column has no value.
func (r Row) Null(column int) bool { return r.source.null(r.at, column) }

// Value is a column's value: nil, string, []byte, bool, int64, float64, Decimal,
// Date or Timestamp.
func (r Row) Value(column int) any {
	if r.Null(column) {
		return nil
	}
	return r.source.value(r.at, column)
}

// Bytes are those of a text or of bytes; false for null and for other types. They
// share the batch's memory, or that which the decoder reuses for the next batch.
func (r Row) Bytes(column int) ([]byte, bool) {
	if r.Null(column) {
		return nil, false
	}
	return r.source.bytes(r.at, column)
}

// Decimal is an exact number as its text.
type Decimal string

// Date is a day, counted from 1970-01-01.
type Date int32

// Timestamp is a moment in milliseconds since 1970. Local is one of a clock on the
// wall, without a zone.
type Timestamp struct {
	Millis int64
	Local  bool
}

// Decoder reads the records of batches of one schema. It belongs to one goroutine.
type Decoder struct {
	schema Schema
	format Format
	arrow  *arrowDecoder // nil for the other formats
	rows   rowDecoder
}

// NewDecoder makes a decoder. The error names a column of a type that is not
// known, or a format that is not.
func NewDecoder(schema Schema, format Format) (*Decoder, error) {
	d := &Decoder{schema: schema, format: format}
	var err error
	switch format {
	case FormatArrow:
		d.arrow, err = newArrowDecoder(schema)
	case FormatIndexed, FormatCompacted:
		d.rows, err = newRowDecoder(schema, format)
	default:
		err = fmt.Errorf("the format of its records is %q, which is not known here", format)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Close gives its memory back.
func (d *Decoder) Close() {
	if d.arrow != nil {
		d.arrow.close()
	}
}

// Rows visits the records of a batch in the order of their offsets. A row and its
// bytes are valid until visit returns. The error says what in the batch can't be
// decoded, or is that of visit.
func (d *Decoder) Rows(b Batch, visit func(Row) error) error {
	changes, body, err := arrowBody(b, d.schema)
	if err != nil || b.Count == 0 {
		return err
	}
	var source rowSource
	if d.arrow != nil {
		source, err = d.arrow.decode(body, int(b.Count))
	} else {
		source, changes, err = d.rows.decode(b.body, int(b.Count))
	}
	if err != nil {
		return fmt.Errorf("the batch at offset %d can't be decoded: %w", b.BaseOffset, err)
	}
	for i := range int(b.Count) {
		row := Row{Offset: b.BaseOffset + int64(i), Timestamp: b.CommitTimestamp, source: source, at: i}
		if changes != nil && !b.AppendOnly {
			row.Change = Change(changes[i])
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// kind is how a value of the row formats is laid out.
type kind uint8

const (
	kindText kind = iota
	kindBytes
	kindBool
	kindInt8
	kindInt16
	kindInt32
	kindInt64
	kindFloat
	kindDouble
)

func (k kind) variable() bool { return k == kindText || k == kindBytes }

// kinds are the types of the row formats that were seen of a real server; others
// are refused rather than guessed.
var kinds = map[string]kind{
	"STRING": kindText, "CHAR": kindText, "BYTES": kindBytes, "BOOLEAN": kindBool, "TINYINT": kindInt8,
	"SMALLINT": kindInt16, "INTEGER": kindInt32, "BIGINT": kindInt64, "FLOAT": kindFloat, "DOUBLE": kindDouble,
}

// rowDecoder reads the INDEXED and COMPACTED formats: rows one after another, each
// with its length and its change.
type rowDecoder struct {
	kinds     []kind
	variables int // columns of variable length
	indexed   bool
}

func newRowDecoder(schema Schema, format Format) (rowDecoder, error) {
	d := rowDecoder{indexed: format == FormatIndexed}
	for _, c := range schema.Columns {
		k, ok := kinds[c.Type.Name]
		if !ok {
			return d, unknownType(c)
		}
		if k.variable() {
			d.variables++
		}
		d.kinds = append(d.kinds, k)
	}
	return d, nil
}

// cell is one value; raw is nil for null.
type cell struct {
	raw    []byte
	number int64
}

// rowCells are the decoded rows of one batch.
type rowCells struct {
	kinds []kind
	cells []cell
}

func (r rowCells) cell(row, column int) cell { return r.cells[row*len(r.kinds)+column] }
func (r rowCells) null(row, column int) bool { return r.cell(row, column).raw == nil }
func (r rowCells) bytes(row, column int) ([]byte, bool) {
	return r.cell(row, column).raw, r.kinds[column].variable()
}

func (r rowCells) value(row, column int) any {
	c := r.cell(row, column)
	switch r.kinds[column] {
	case kindText:
		return string(c.raw)
	case kindBytes:
		return append([]byte{}, c.raw...)
	case kindBool:
		return c.raw[0] != 0
	case kindFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(c.raw)))
	case kindDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(c.raw))
	default:
		return c.number
	}
}

var errCut = errors.New("it ends too early")

// decode reads all rows. Each takes at least its length, its change and its
// nulls, which bounds what is allocated.
func (d rowDecoder) decode(b []byte, count int) (rowCells, []byte, error) {
	nulls := (len(d.kinds) + 7) / 8
	if count > len(b)/(5+nulls) {
		return rowCells{}, nil, fmt.Errorf("%d bytes are too few for %d records", len(b), count)
	}
	out := rowCells{kinds: d.kinds, cells: make([]cell, count*len(d.kinds))}
	changes := make([]byte, count)
	for i := range count {
		if len(b) < 4 {
			return out, nil, errCut
		}
		size := int64(int32(binary.LittleEndian.Uint32(b)))
		b = b[4:]
		if size < int64(1+nulls) || size > int64(len(b)) {
			return out, nil, fmt.Errorf("record %d says that it has %d bytes, and %d are left", i, size, len(b))
		}
		changes[i] = b[0]
		if err := d.row(b[1:size], nulls, out.cells[i*len(d.kinds):(i+1)*len(d.kinds)]); err != nil {
			return out, nil, fmt.Errorf("record %d: %w", i, err)
		}
		b = b[size:]
	}
	return out, changes, nil
}

func (d rowDecoder) row(b []byte, nulls int, cells []cell) error {
	bitmap, b := b[:nulls], b[nulls:]
	var lengths []byte
	if d.indexed {
		if len(b) < 4*d.variables {
			return errCut
		}
		lengths, b = b[:4*d.variables], b[4*d.variables:]
	}
	for i, k := range d.kinds {
		if bitmap[i/8]>>(i%8)&1 != 0 {
			continue
		}
		var err error
		switch {
		case k.variable() && d.indexed:
			cells[i].raw, b, err = take(b, int64(int32(binary.LittleEndian.Uint32(lengths))))
			lengths = lengths[4:]
		case k.variable():
			n, size := binary.Uvarint(b)
			if size <= 0 || n > math.MaxInt32 {
				return errCut
			}
			cells[i].raw, b, err = take(b[size:], int64(n))
		case !d.indexed && (k == kindInt32 || k == kindInt64):
			n, size := binary.Uvarint(b)
			if size <= 0 {
				return errCut
			}
			cells[i] = cell{raw: b[:size], number: int64(n)}
			if k == kindInt32 {
				cells[i].number = int64(int32(uint32(n)))
			}
			b = b[size:]
		default:
			cells[i], b, err = fixed(b, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take cuts n bytes off; they are not nil, even where there is none.
func take(b []byte, n int64) (taken, rest []byte, err error) {
	if n < 0 || n > int64(len(b)) {
		return nil, nil, errCut
	}
	return b[:n:n], b[n:], nil
}

func fixed(b []byte, k kind) (cell, []byte, error) {
	width := map[kind]int64{kindBool: 1, kindInt8: 1, kindInt16: 2, kindInt32: 4, kindFloat: 4, kindInt64: 8, kindDouble: 8}[k]
	raw, rest, err := take(b, width)
	if err != nil {
		return cell{}, nil, err
	}
	c := cell{raw: raw}
	switch k {
	case kindInt8:
		c.number = int64(int8(raw[0]))
	case kindInt16:
		c.number = int64(int16(binary.LittleEndian.Uint16(raw)))
	case kindInt32:
		c.number = int64(int32(binary.LittleEndian.Uint32(raw)))
	case kindInt64:
		c.number = int64(binary.LittleEndian.Uint64(raw))
	}
	return c, rest, nil
}
