package flussrpc

import (
	"context"
	"sync"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Schemas are the schemas of one table, each asked for when it is first needed: a
// table that was altered has batches of several. It may be used by several
// goroutines.
type Schemas struct {
	client *Client
	table  Table
	mu     sync.Mutex
	byID   map[int32]Schema
}

// NewSchemas knows the table's present schema.
func (c *Client) NewSchemas(table Table) *Schemas {
	return &Schemas{client: c, table: table, byID: map[int32]Schema{table.Schema.ID: table.Schema}}
}

// Of is the schema that a batch was written with.
func (s *Schemas) Of(ctx context.Context, b Batch) (Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := int32(b.SchemaID)
	if schema, ok := s.byID[id]; ok {
		return schema, nil
	}
	schema, err := s.client.Schema(ctx, s.table.Path, id)
	if err == nil && schema.ID != id {
		err = fault.New(fault.Corrupt, "read schema", "schema %d of table %s was asked for, and schema %d came", id, s.table.Path.show(), schema.ID).WithRef(s.table.Path.ref())
	}
	if err != nil {
		return Schema{}, err
	}
	s.byID[id] = schema
	return schema, nil
}

// RowReader reads the rows of a table's batches, of whatever schema. It belongs to
// one goroutine.
type RowReader struct {
	schemas  *Schemas
	decoders map[int32]*Decoder
}

// Rows makes a reader of whole rows. Close it.
func (s *Schemas) Rows() *RowReader {
	return &RowReader{schemas: s, decoders: map[int32]*Decoder{}}
}

// Close gives its memory back.
func (r *RowReader) Close() {
	for _, d := range r.decoders {
		d.Close()
	}
}

// Rows visits the records of a batch, with the schema that they were written
// with. See [Decoder.Rows].
func (r *RowReader) Rows(ctx context.Context, b Batch, visit func(Schema, Row) error) error {
	schema, err := r.schemas.Of(ctx, b)
	if err != nil {
		return err
	}
	d := r.decoders[schema.ID]
	if d == nil {
		if d, err = NewDecoder(schema, r.schemas.table.Format()); err != nil {
			return r.schemas.undecodable(err)
		}
		r.decoders[schema.ID] = d
	}
	return r.schemas.explained(d.Rows(b, func(row Row) error { return visit(schema, row) }))
}

// ColumnReader reads some columns of texts and bytes of a table's batches, of
// whatever schema. It belongs to one goroutine.
type ColumnReader struct {
	schemas *Schemas
	names   []string
	pickers map[int32]*Picker
}

// Columns makes a reader of some columns, by name. Close it.
func (s *Schemas) Columns(names ...string) *ColumnReader {
	return &ColumnReader{schemas: s, names: names, pickers: map[int32]*Picker{}}
}

// Close gives its memory back.
func (r *ColumnReader) Close() {
	for _, p := range r.pickers {
		p.Close()
	}
}

// Rows visits the records of a batch. See [Picker.Rows]. A column that the schema
// does not have is a fault of kind Unsupported.
func (r *ColumnReader) Rows(ctx context.Context, b Batch, visit func(Picked) error) error {
	p := r.pickers[int32(b.SchemaID)]
	if p == nil {
		schema, err := r.schemas.Of(ctx, b)
		if err != nil {
			return err
		}
		columns := make([]int, 0, len(r.names))
		for _, name := range r.names {
			at := schema.Find(name)
			if at < 0 {
				return fault.New(fault.Unsupported, "read rows", "table %s has no column %s in schema %d", r.schemas.table.Path.show(), safetext.Of(name), schema.ID).
					WithHint("recoverctl inspect fluss table %s shows its columns: is it the right table?", r.schemas.table.Path.show()).WithRef(r.schemas.table.Path.ref())
			}
			columns = append(columns, at)
		}
		if p, err = NewPicker(schema, r.schemas.table.Format(), columns...); err != nil {
			return r.schemas.undecodable(err)
		}
		r.pickers[schema.ID] = p
	}
	return r.schemas.explained(p.Rows(b, visit))
}

// undecodable is the fault of a table whose rows can't be read here at all.
func (s *Schemas) undecodable(err error) error {
	return fault.Wrap(fault.Unsupported, "read rows", err, "the rows of table %s can't be read", s.table.Path.show()).WithRef(s.table.Path.ref())
}

// explained makes a fault of what a batch can't be decoded for; what a visit
// returned stays as it is.
func (s *Schemas) explained(err error) error {
	if err == nil || fault.KindOf(err) != fault.Bug {
		return err
	}
	return fault.Wrap(fault.Corrupt, "read rows", err, "table %s", s.table.Path.show()).
		WithHint("the log is damaged there, or of a release of Fluss that is not known here").WithRef(s.table.Path.ref())
}
