package flussrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recoverctl/recoverctl/internal/arrowsafe"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// arrowDecoder reads Arrow record batches that come without their schema: Fluss
// keeps that beside the log. One reader of the Arrow library serves all batches
// of a schema; it is fed one message at a time.
type arrowDecoder struct {
	reader *ipc.Reader
	feed   *feed
	memory *arrowsafe.Bounded
	text   []bool // columns that are texts
}

// maxBatchMemory bounds what one batch may grow to when it is unpacked, in bytes.
const maxBatchMemory = 512 << 20

func newArrowDecoder(schema Schema) (*arrowDecoder, error) {
	fields := make([]arrow.Field, 0, len(schema.Columns))
	d := &arrowDecoder{memory: arrowsafe.New(maxBatchMemory)}
	for _, c := range schema.Columns {
		t, err := arrowType(c)
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: true})
		d.text = append(d.text, c.Type.Name == "STRING" || c.Type.Name == "CHAR")
	}
	first, err := schemaMessage(arrow.NewSchema(fields, nil))
	if err != nil {
		return nil, err
	}
	d.feed = &feed{next: first}
	d.reader, err = ipc.NewReaderFromMessageReader(d.feed, ipc.WithAllocator(d.memory))
	if err != nil {
		return nil, fmt.Errorf("the schema is no Arrow schema: %w", err)
	}
	return d, nil
}

// arrowType is how Fluss lays a type out in Arrow.
func arrowType(c Column) (arrow.DataType, error) {
	t := c.Type
	switch t.Name {
	case "STRING", "CHAR", "BYTES":
		// Text is laid out as bytes are, and is taken as it is: not every writer checks
		// its UTF-8.
		return arrow.BinaryTypes.Binary, nil
	case "BINARY":
		if t.Length < 1 || t.Length > maxBatchMemory {
			return nil, fmt.Errorf("column %s is BINARY(%d)", safetext.Of(c.Name), t.Length)
		}
		return &arrow.FixedSizeBinaryType{ByteWidth: t.Length}, nil
	case "BOOLEAN":
		return arrow.FixedWidthTypes.Boolean, nil
	case "TINYINT":
		return arrow.PrimitiveTypes.Int8, nil
	case "SMALLINT":
		return arrow.PrimitiveTypes.Int16, nil
	case "INTEGER":
		return arrow.PrimitiveTypes.Int32, nil
	case "BIGINT":
		return arrow.PrimitiveTypes.Int64, nil
	case "FLOAT":
		return arrow.PrimitiveTypes.Float32, nil
	case "DOUBLE":
		return arrow.PrimitiveTypes.Float64, nil
	case "DATE":
		return arrow.FixedWidthTypes.Date32, nil
	case "DECIMAL":
		const most = 38 // digits of 128 bits
		if t.Precision < 1 || t.Precision > most || t.Scale < 0 || t.Scale > t.Precision {
			return nil, fmt.Errorf("column %s is DECIMAL(%d, %d)", safetext.Of(c.Name), t.Precision, t.Scale)
		}
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}, nil
	case "TIMESTAMP_WITHOUT_TIME_ZONE", "TIMESTAMP_WITH_LOCAL_TIME_ZONE":
		if t.Precision != 3 {
			return nil, fmt.Errorf("column %s is a timestamp of precision %d, and only 3 is known here", safetext.Of(c.Name), t.Precision)
		}
		zone := ""
		if t.Name == "TIMESTAMP_WITH_LOCAL_TIME_ZONE" {
			zone = "UTC" // what tells the two apart when they are read; the bytes are the same
		}
		return &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: zone}, nil
	default:
		return nil, unknownType(c)
	}
}

// schemaMessage is the message by which an Arrow stream begins.
func schemaMessage(schema *arrow.Schema) (*ipc.Message, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("the schema can't be written as Arrow: %w", err)
	}
	return ipc.NewMessageReader(&b).Message()
}

func (d *arrowDecoder) close() { d.reader.Release() }

// Sizes of an encapsulated message.
const (
	continuation = 0xffffffff
	messageHead  = 8
)

// encapsulated takes a message apart into its metadata and its body.
func encapsulated(b []byte) (meta, body []byte, err error) {
	if len(b) < messageHead || binary.LittleEndian.Uint32(b) != continuation {
		return nil, nil, errors.New("it does not begin as an Arrow message does")
	}
	size := int64(int32(binary.LittleEndian.Uint32(b[4:])))
	if size < 4 || size > int64(len(b)-messageHead) {
		return nil, nil, fmt.Errorf("its Arrow message says that its metadata has %d bytes, and %d are there", size, len(b)-messageHead)
	}
	return b[messageHead : messageHead+size], b[messageHead+size:], nil
}

// decode reads one message. What it returns is valid until the next one.
func (d *arrowDecoder) decode(b []byte, count int) (source arrowRows, err error) {
	meta, body, err := encapsulated(b)
	if err != nil {
		return arrowRows{}, err
	}
	// The library trusts the metadata's own offsets and panics where they lead out
	// of it.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its Arrow message is damaged: %v", p)
		}
	}()
	// What lengths in it lead to ends the process, and is no panic.
	length, err := arrowsafe.CheckMetadata(meta)
	switch {
	case err != nil:
		return arrowRows{}, err
	case length > int64(len(body)):
		return arrowRows{}, fmt.Errorf("its Arrow message says that its body has %d bytes, and %d are there", length, len(body))
	}
	d.memory.Renew()
	d.feed.next = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
	if !d.reader.Next() {
		err := d.reader.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		// The reader is of no use after an error; the next batch gets a new one.
		return arrowRows{}, fmt.Errorf("its Arrow message can't be read: %w", errors.Join(err, d.again()))
	}
	record := d.reader.RecordBatch()
	if record.NumRows() != int64(count) {
		return arrowRows{}, fmt.Errorf("its Arrow message has %d rows, and the batch says %d", record.NumRows(), count)
	}
	for i, column := range record.Columns() {
		if err := checkColumn(column, count); err != nil {
			return arrowRows{}, fmt.Errorf("column %d: %w", i, err)
		}
	}
	return arrowRows{record.Columns(), d.text}, nil
}

// checkColumn asks whether all values of a column lie in its buffers. The library
// takes that on trust and panics when a value is looked at.
func checkColumn(column arrow.Array, count int) error {
	buffers := column.Data().Buffers()
	size := func(i int) int {
		if i >= len(buffers) || buffers[i] == nil {
			return 0
		}
		return buffers[i].Len()
	}
	const bits = 8
	if need := (count + bits - 1) / bits; column.Data().Offset() != 0 || (size(0) > 0 || column.NullN() > 0) && size(0) < need {
		return fmt.Errorf("the marks of its nulls are %d bytes for %d rows", size(0), count)
	}
	switch c := column.(type) {
	case *array.Binary:
		last := int32(0)
		for _, at := range c.ValueOffsets() {
			if at < last || int(at) > size(2) {
				return fmt.Errorf("a value ends at byte %d of %d", at, size(2))
			}
			last = at
		}
		if len(c.ValueOffsets()) != count+1 {
			return fmt.Errorf("it has %d ends of values for %d rows", len(c.ValueOffsets()), count)
		}
	case *array.FixedSizeBinary:
		if width := c.DataType().(*arrow.FixedSizeBinaryType).ByteWidth; size(1) < width*count {
			return fmt.Errorf("%d values of %d bytes have %d", count, width, size(1))
		}
	case *array.Boolean:
		if size(1) < (count+bits-1)/bits {
			return fmt.Errorf("%d values have %d bytes", count, size(1))
		}
	}
	return nil
}

// again makes a new reader after one that failed.
func (d *arrowDecoder) again() error {
	schema := d.reader.Schema()
	first, err := schemaMessage(schema)
	if err != nil {
		return err
	}
	d.reader.Release()
	d.feed.next = first
	d.reader, err = ipc.NewReaderFromMessageReader(d.feed, ipc.WithAllocator(d.memory))
	return err
}

// feed hands the library one message after another.
type feed struct{ next *ipc.Message }

// Message implements ipc.MessageReader.
func (f *feed) Message() (*ipc.Message, error) {
	if f.next == nil {
		return nil, io.EOF
	}
	m := f.next
	f.next = nil
	return m, nil
}

// Release implements ipc.MessageReader.
func (f *feed) Release() {}

// Retain implements ipc.MessageReader.
func (f *feed) Retain() {}

// arrowRows are the columns of one batch.
type arrowRows struct {
	columns []arrow.Array
	text    []bool // by column
}

func (r arrowRows) null(row, column int) bool { return r.columns[column].IsNull(row) }

func (r arrowRows) bytes(row, column int) ([]byte, bool) {
	switch c := r.columns[column].(type) {
	case *array.Binary:
		return c.Value(row), true
	case *array.FixedSizeBinary:
		return c.Value(row), true
	}
	return nil, false
}

func (r arrowRows) value(row, column int) any {
	switch c := r.columns[column].(type) {
	case *array.Binary:
		if r.text[column] {
			return string(c.Value(row))
		}
		return append([]byte{}, c.Value(row)...)
	case *array.FixedSizeBinary:
		return append([]byte{}, c.Value(row)...)
	case *array.Boolean:
		return c.Value(row)
	case *array.Int8:
		return int64(c.Value(row))
	case *array.Int16:
		return int64(c.Value(row))
	case *array.Int32:
		return int64(c.Value(row))
	case *array.Int64:
		return c.Value(row)
	case *array.Float32:
		return float64(c.Value(row))
	case *array.Float64:
		return c.Value(row)
	case *array.Date32:
		return Date(c.Value(row))
	case *array.Decimal128:
		return decimal(c.Value(row).BigInt(), int(c.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Timestamp:
		t := c.DataType().(*arrow.TimestampType)
		return Timestamp{Millis: int64(c.Value(row)), Local: t.TimeZone == ""}
	}
	return nil
}

// decimal writes a number of so many digits after the point, all of them.
func decimal(n *big.Int, scale int) Decimal {
	text := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	if scale > 0 {
		text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	}
	if n.Sign() < 0 {
		text = "-" + text
	}
	return Decimal(text)
}
