package arrowsafe

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// stream is what the library writes of a batch with nested columns.
func stream(t testing.TB) []byte {
	t.Helper()
	meta := arrow.NewMetadata([]string{"a"}, []string{"b"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "tags", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)},
		{Name: "list", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64})), Metadata: meta},
		{Name: "named", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	}, &meta)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(7)
	b.Field(1).AppendNull()
	b.Field(2).AppendNull()
	if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString("x"); err != nil {
		t.Fatal(err)
	}
	record := b.NewRecordBatch()
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// metadata are the metadata of a stream's messages, with the lengths of their
// bodies as the library says.
func metadata(t testing.TB, data []byte) (out [][]byte, bodies []int64) {
	t.Helper()
	for len(data) > 8 {
		size := int(binary.LittleEndian.Uint32(data[4:]))
		if size == 0 {
			break
		}
		meta := data[8 : 8+size]
		body := ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).BodyLen()
		out, bodies = append(out, meta), append(bodies, body)
		data = data[8+size+int(body):]
	}
	return out, bodies
}

func TestMetadataOfRealMessages(t *testing.T) {
	messages, bodies := metadata(t, stream(t))
	if len(messages) != 3 { // schema, dictionary, batch
		t.Fatal(len(messages))
	}
	for i, meta := range messages {
		body, err := CheckMetadata(meta)
		if err != nil || body != bodies[i] {
			t.Errorf("message %d: %d, want %d, %v", i, body, bodies[i], err)
		}
		for cut := range len(meta) {
			if _, err := CheckMetadata(meta[:cut]); err == nil && cut < 16 {
				t.Errorf("message %d cut to %d bytes is one", i, cut)
			}
		}
	}
}

// No list may be longer than the metadata, wherever a length is changed.
func TestListsThatAreTooLong(t *testing.T) {
	messages, _ := metadata(t, stream(t))
	refused := 0
	for _, meta := range messages {
		for at := 0; at+4 <= len(meta); at += 4 {
			changed := bytes.Clone(meta)
			binary.LittleEndian.PutUint32(changed[at:], 0x7fffff00)
			if _, err := CheckMetadata(changed); err != nil {
				refused++
			}
		}
	}
	if refused < 30 {
		t.Errorf("only %d changes were refused", refused)
	}
}

func TestMemoryEnds(t *testing.T) {
	m := New(100)
	m.Allocate(60)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("there is more memory than there is")
			}
		}()
		m.Reallocate(60, nil)
	}()
	if len(m.Allocate(40)) != 40 {
		t.Error("there is less than there is")
	}
}

// FuzzCheckMetadata: whatever the bytes are, the answer comes, and comes soon.
func FuzzCheckMetadata(f *testing.F) {
	messages, _ := metadata(f, stream(f))
	for _, meta := range messages {
		f.Add(meta)
	}
	f.Fuzz(func(t *testing.T, meta []byte) {
		if body, err := CheckMetadata(meta); err == nil && body < 0 {
			t.Error(body)
		}
	})
}
