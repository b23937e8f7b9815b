package flussrpc

import (
	"encoding/binary"
	"fmt"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Picked is one record as a Picker shows it. Its cells are those of the columns
// that were picked, in their order; nil is null, which is not the same as empty.
type Picked struct {
	Offset    int64
	Timestamp int64 // of its batch, milliseconds since 1970
	Change    Change
	Cells     [][]byte
}

// Picker reads some columns of texts and bytes out of batches of one schema. It
// does what a Decoder does, for tables with a record in each batch: nothing is set
// up for a batch, and columns that were not picked are not unpacked. It belongs to
// one goroutine.
type Picker struct {
	schema  Schema
	decoder *Decoder // of the formats that are no Arrow; nil for Arrow
	columns []pickedColumn
	fields  int // columns of the schema
	buffers int // that a record batch of it has
	unpack  unpacker
	cells   [][]byte
}

// pickedColumn is one column that is read.
type pickedColumn struct {
	index  int // in the schema
	buffer int // its first buffer: nulls, ends of values, values
	nulls  []byte
	ends   []byte
	values []byte
	all    bool // no value is null

	kept [3][]byte // what its buffers are unpacked into
}

// buffersOf is how many buffers a column of Arrow has.
func buffersOf(t Type) int {
	const texts, others = 3, 2
	switch t.Name {
	case "STRING", "CHAR", "BYTES":
		return texts
	default:
		return others
	}
}

// NewPicker makes a picker of the columns with these places in the schema. The
// error names one that is neither text nor bytes, a column whose type is not
// known, or a format that is not.
func NewPicker(schema Schema, format Format, columns ...int) (*Picker, error) {
	p := &Picker{schema: schema, fields: len(schema.Columns), cells: make([][]byte, len(columns))}
	places := make([]int, len(schema.Columns))
	for i, c := range schema.Columns {
		if _, err := arrowType(c); err != nil && format == FormatArrow {
			return nil, err
		}
		places[i] = p.buffers
		p.buffers += buffersOf(c.Type)
	}
	for _, i := range columns {
		if i < 0 || i >= len(schema.Columns) {
			return nil, fmt.Errorf("the schema has no column %d", i)
		}
		if c := schema.Columns[i]; buffersOf(c.Type) == buffersOf(Type{}) {
			return nil, fmt.Errorf("column %s is of type %s, and text or bytes are wanted", safetext.Of(c.Name), safetext.Of(c.Type.Name))
		}
		p.columns = append(p.columns, pickedColumn{index: i, buffer: places[i]})
	}
	if format == FormatArrow {
		return p, nil
	}
	var err error
	p.decoder, err = NewDecoder(schema, format)
	return p, err
}

// Close gives its memory back.
func (p *Picker) Close() {
	p.unpack.close()
	if p.decoder != nil {
		p.decoder.Close()
	}
}

// Rows visits the records of a batch in the order of their offsets. The cells are
// valid until visit returns. The error says what in the batch can't be decoded, or
// is that of visit.
func (p *Picker) Rows(b Batch, visit func(Picked) error) error {
	if p.decoder != nil {
		return p.decoder.Rows(b, func(r Row) error {
			for i, c := range p.columns {
				p.cells[i], _ = r.Bytes(c.index)
			}
			return visit(Picked{Offset: r.Offset, Timestamp: r.Timestamp, Change: r.Change, Cells: p.cells})
		})
	}
	changes, body, err := arrowBody(b, p.schema)
	if err != nil || b.Count == 0 {
		return err
	}
	count := int(b.Count)
	if err := p.open(body, count); err != nil {
		return fmt.Errorf("the batch at offset %d can't be decoded: %w", b.BaseOffset, err)
	}
	for row := range count {
		for i := range p.columns {
			p.cells[i] = p.columns[i].cell(row)
		}
		picked := Picked{Offset: b.BaseOffset + int64(row), Timestamp: b.CommitTimestamp, Cells: p.cells}
		if changes != nil {
			picked.Change = Change(changes[row])
		}
		if err := visit(picked); err != nil {
			return err
		}
	}
	return nil
}

// arrowBody takes the changes and the Arrow message of a batch apart.
func arrowBody(b Batch, schema Schema) (changes, body []byte, err error) {
	if int32(b.SchemaID) != schema.ID {
		return nil, nil, fmt.Errorf("the batch at offset %d is of schema %d, and schema %d is read", b.BaseOffset, b.SchemaID, schema.ID)
	}
	if b.AppendOnly || b.Count == 0 {
		return nil, b.body, nil
	}
	if len(b.body) < int(b.Count) {
		return nil, nil, fmt.Errorf("the batch at offset %d has %d bytes for the changes of %d records", b.BaseOffset, len(b.body), b.Count)
	}
	return b.body[:b.Count], b.body[b.Count:], nil
}

// cell is a value; nil for null.
func (c *pickedColumn) cell(row int) []byte {
	if !c.all && c.nulls[row>>3]>>(row&7)&1 == 0 {
		return nil
	}
	from := binary.LittleEndian.Uint32(c.ends[4*row:])
	to := binary.LittleEndian.Uint32(c.ends[4*row+4:])
	return c.values[from:to:to]
}

// open makes the picked columns of an Arrow message ready: afterwards every value
// of them lies in its buffers.
func (p *Picker) open(b []byte, count int) error {
	meta, body, err := encapsulated(b)
	if err != nil {
		return err
	}
	batch, err := parseRecordBatch(meta)
	if err != nil {
		return err
	}
	switch {
	case batch.rows != int64(count):
		return fmt.Errorf("its Arrow message has %d rows, and the batch says %d", batch.rows, count)
	case len(batch.nodes) != p.fields*nodeSize:
		return fmt.Errorf("its Arrow message has %d columns, and the schema %d", len(batch.nodes)/nodeSize, p.fields)
	case len(batch.buffers) != p.buffers*bufferSize:
		return fmt.Errorf("its Arrow message has %d buffers, and columns of the schema have %d", len(batch.buffers)/bufferSize, p.buffers)
	}
	p.unpack.budget = maxBatchMemory
	for i := range p.columns {
		if err := p.openColumn(&p.columns[i], batch, body, count); err != nil {
			return fmt.Errorf("column %d: %w", p.columns[i].index, err)
		}
	}
	return nil
}

func (p *Picker) openColumn(c *pickedColumn, batch recordBatch, body []byte, count int) error {
	node := batch.nodes[c.index*nodeSize:]
	rows, nulls := int64(binary.LittleEndian.Uint64(node)), int64(binary.LittleEndian.Uint64(node[8:]))
	if rows != int64(count) || nulls < 0 || nulls > rows {
		return fmt.Errorf("it has %d rows and %d nulls, and the batch %d rows", rows, nulls, count)
	}
	c.all = nulls == 0
	parts := [3]*[]byte{&c.nulls, &c.ends, &c.values}
	for i, part := range parts {
		if i == 0 && c.all {
			*part = nil
			continue
		}
		raw, err := bufferIn(batch.buffers[(c.buffer+i)*bufferSize:], body)
		if err != nil {
			return err
		}
		if *part, err = p.unpack.buffer(batch.codec, raw, &c.kept[i]); err != nil {
			return err
		}
	}
	if need := (count + 7) / 8; !c.all && len(c.nulls) < need {
		return fmt.Errorf("the marks of its nulls are %d bytes for %d rows", len(c.nulls), count)
	}
	if len(c.ends) < 4*(count+1) {
		return fmt.Errorf("it has %d ends of values for %d rows", len(c.ends)/4, count)
	}
	last := uint32(0)
	for i := range count + 1 {
		at := binary.LittleEndian.Uint32(c.ends[4*i:])
		if at < last || uint64(at) > uint64(len(c.values)) {
			return fmt.Errorf("a value ends at byte %d of %d", at, len(c.values))
		}
		last = at
	}
	if c.values == nil {
		c.values = []byte{} // of it an empty value is cut, which is no null
	}
	return nil
}

// bufferIn is a buffer as it lies in the body.
func bufferIn(place, body []byte) ([]byte, error) {
	offset, length := int64(binary.LittleEndian.Uint64(place)), int64(binary.LittleEndian.Uint64(place[8:]))
	if offset < 0 || length < 0 || offset > int64(len(body)) || length > int64(len(body))-offset {
		return nil, fmt.Errorf("a buffer of %d bytes begins at byte %d of %d", length, offset, len(body))
	}
	return body[offset : offset+length], nil
}
