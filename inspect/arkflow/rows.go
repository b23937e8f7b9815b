package arkflow

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Column is a column of a batch.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // Arrow's name for it
}

// Batch is what an entry's payload holds: the rows that an input read at once.
// A cell is nil, a bool, an int64, a uint64, a float64, a string, a [Binary], or
// a list or map of these. Times are strings, with a zone where the column has
// one.
type Batch struct {
	Input   string   `json:"input"`
	Columns []Column `json:"columns"`
	Count   int64    `json:"count"` // of rows
	Rows    [][]any  `json:"rows"`  // the first of them
}

// Binary are bytes that are no text.
type Binary []byte

// MarshalJSON writes {"base64": …}.
func (b Binary) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(b)})
}

// String is for people.
func (b Binary) String() string { return "base64 " + base64.StdEncoding.EncodeToString(b) }

// Columns that the engine adds to a batch.
const (
	columnIngested  = "__meta_ingest_time" // when the engine read it
	columnTimestamp = "__meta_timestamp"   // when the record says that it was written
)

// maxColumns bounds the columns that are looked at.
const maxColumns = 4096

// Decode decodes a payload to rows, the first most of them.
func (p Payload) Decode(most int) (Batch, error) {
	out := Batch{Input: p.Input, Columns: []Column{}, Rows: [][]any{}}
	err := p.batch(func(b arrow.RecordBatch) error {
		if b.NumCols() > maxColumns {
			return fmt.Errorf("the batch has %d columns, and %d are looked at", b.NumCols(), maxColumns)
		}
		out.Count = b.NumRows()
		for _, f := range b.Schema().Fields() {
			out.Columns = append(out.Columns, Column{Name: f.Name, Type: f.Type.String()})
		}
		for i := range int(min(out.Count, int64(most))) {
			row := make([]any, 0, len(out.Columns))
			for _, c := range b.Columns() {
				row = append(row, value(c, i))
			}
			out.Rows = append(out.Rows, row)
		}
		return nil
	})
	if err != nil {
		return Batch{}, err
	}
	return out, nil
}

// Oldest is the earliest time of a payload's rows, and the column that says so;
// false where no column does.
func (p Payload) Oldest() (at time.Time, column string, ok bool) {
	err := p.batch(func(b arrow.RecordBatch) error {
		for _, name := range []string{columnIngested, columnTimestamp} {
			for _, i := range b.Schema().FieldIndices(name) {
				times, isTime := b.Column(i).(*array.Timestamp)
				if !isTime {
					continue
				}
				unit := times.DataType().(*arrow.TimestampType).Unit
				for row := range times.Len() {
					if times.IsNull(row) {
						continue
					}
					if t := times.Value(row).ToTime(unit); !ok || t.Before(at) {
						at, column, ok = t.UTC(), name, true
					}
				}
			}
			if ok {
				return nil
			}
		}
		return nil
	})
	return at, column, ok && err == nil
}

// value is a cell.
func value(column arrow.Array, row int) any {
	if column.IsNull(row) {
		return nil
	}
	switch c := column.(type) {
	case *array.Binary:
		return textOrBytes(c.Value(row))
	case *array.LargeBinary:
		return textOrBytes(c.Value(row))
	case *array.BinaryView:
		return textOrBytes(c.Value(row))
	case *array.FixedSizeBinary:
		return textOrBytes(c.Value(row))
	case array.StringLike:
		return textOrBytes([]byte(c.Value(row)))
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
	case *array.Uint8:
		return uint64(c.Value(row))
	case *array.Uint16:
		return uint64(c.Value(row))
	case *array.Uint32:
		return uint64(c.Value(row))
	case *array.Uint64:
		return c.Value(row)
	case *array.Float32:
		return float(float64(c.Value(row)))
	case *array.Float64:
		return float(c.Value(row))
	case *array.Timestamp:
		t := c.DataType().(*arrow.TimestampType)
		return timeText(c.Value(row).ToTime(t.Unit), t.TimeZone != "")
	case *array.Map:
		return mapValue(c, row)
	case array.ListLike:
		from, to := c.ValueOffsets(row)
		return items(c.ListValues(), from, to)
	case *array.Struct:
		fields := c.DataType().(*arrow.StructType).Fields()
		out := make(map[string]any, len(fields))
		for i, f := range fields {
			out[f.Name] = value(c.Field(i), row)
		}
		return out
	case *array.Dictionary:
		return value(c.Dictionary(), c.GetValueIndex(row))
	default:
		return column.ValueStr(row)
	}
}

// timeText is a time with as many thousandths as it has.
func timeText(at time.Time, zone bool) string {
	layout := "2006-01-02T15:04:05"
	switch ns := at.Nanosecond(); {
	case ns == 0:
	case ns%1_000_000 == 0:
		layout += ".000"
	case ns%1_000 == 0:
		layout += ".000000"
	default:
		layout += ".000000000"
	}
	if zone {
		layout += "Z"
	}
	return at.UTC().Format(layout)
}

// float is a number, or the name of one that JSON has no number for.
func float(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}

func textOrBytes(b []byte) any {
	if utf8.Valid(b) {
		return string(b)
	}
	return Binary(slices.Clone(b))
}

// maxItems bounds the items of one cell.
const maxItems = 10_000

func items(list arrow.Array, from, to int64) any {
	out := []any{}
	for i := from; i < to; i++ {
		if len(out) == maxItems {
			return append(out, fmt.Sprintf("and %d more", to-i))
		}
		out = append(out, value(list, int(i)))
	}
	return out
}

// mapValue is an object, or a list of pairs where a key is no text.
func mapValue(c *array.Map, row int) any {
	from, to := c.ValueOffsets(row)
	out := map[string]any{}
	for i := from; i < to && len(out) < maxItems; i++ {
		key, ok := value(c.Keys(), int(i)).(string)
		if !ok {
			return items(c.ListValues(), from, to)
		}
		out[key] = value(c.Items(), int(i))
	}
	return out
}

// CellText is a cell in one line, for people. It is not made safe for a terminal.
func CellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case Binary:
		return v.String()
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			names[i] = name + ": " + CellText(v[name])
		}
		return "{" + strings.Join(names, ", ") + "}"
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, CellText(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}
