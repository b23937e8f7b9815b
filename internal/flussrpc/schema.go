package flussrpc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Type is a column's type, in Fluss's words.
type Type struct {
	Name      string // as in STRING, BYTES, BIGINT
	Nullable  bool
	Length    int // of CHAR and BINARY
	Precision int
	Scale     int
}

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
}

// Schema is a table's columns as of one schema id.
type Schema struct {
	ID         int32
	Columns    []Column
	PrimaryKey []string
}

// maxColumns bounds a schema.
const maxColumns = 10_000

// typeJSON is a type as Fluss writes it. What a newer release adds is skipped.
type typeJSON struct {
	Type      string `json:"type"`
	Nullable  *bool  `json:"nullable"`
	Length    int    `json:"length"`
	Precision *int   `json:"precision"`
	Scale     int    `json:"scale"`
}

type schemaJSON struct {
	Columns []struct {
		Name     string   `json:"name"`
		DataType typeJSON `json:"data_type"`
	} `json:"columns"`
	PrimaryKey []string `json:"primary_key"`
}

// ParseSchema reads the schema document of GetTableSchema.
func ParseSchema(id int32, document []byte) (Schema, error) {
	var doc schemaJSON
	if err := json.Unmarshal(document, &doc); err != nil {
		return Schema{}, fmt.Errorf("the schema is not JSON as Fluss writes it: %w", err)
	}
	return schemaOf(id, doc)
}

func schemaOf(id int32, doc schemaJSON) (Schema, error) {
	if len(doc.Columns) == 0 || len(doc.Columns) > maxColumns {
		return Schema{}, fmt.Errorf("the schema has %d columns", len(doc.Columns))
	}
	s := Schema{ID: id, PrimaryKey: doc.PrimaryKey}
	for _, c := range doc.Columns {
		t := Type{Name: c.DataType.Type, Nullable: c.DataType.Nullable == nil || *c.DataType.Nullable, Length: c.DataType.Length, Scale: c.DataType.Scale}
		if c.DataType.Precision != nil {
			t.Precision = *c.DataType.Precision
		}
		s.Columns = append(s.Columns, Column{Name: c.Name, Type: t})
	}
	return s, nil
}

// Find is a column's place; -1 where there is none of that name.
func (s Schema) Find(name string) int {
	for i, c := range s.Columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Format is how a table's records are written.
type Format string

// The formats of table.log.format. Arrow is meant where a table names none.
const (
	FormatArrow     Format = "ARROW"
	FormatIndexed   Format = "INDEXED"
	FormatCompacted Format = "COMPACTED"
)

// Descriptor is a table's description. Properties are those that were set when it
// was made; defaults are not among them.
type Descriptor struct {
	Schema           Schema
	PartitionKey     []string
	BucketKey        []string
	Buckets          int
	Comment          string
	Properties       map[string]string
	CustomProperties map[string]string
}

// Format is how its records are written.
func (d Descriptor) Format() Format {
	if f := d.Properties["table.log.format"]; f != "" {
		return Format(bytes.ToUpper([]byte(f)))
	}
	return FormatArrow
}

// maxBuckets bounds the buckets of a table.
const maxBuckets = 1 << 20

// ParseDescriptor reads the table document of GetTableInfo and GetMetadata.
func ParseDescriptor(schemaID int32, document []byte) (Descriptor, error) {
	var doc struct {
		Schema           schemaJSON        `json:"schema"`
		PartitionKey     []string          `json:"partition_key"`
		BucketKey        []string          `json:"bucket_key"`
		BucketCount      int               `json:"bucket_count"`
		Comment          string            `json:"comment"`
		Properties       map[string]string `json:"properties"`
		CustomProperties map[string]string `json:"custom_properties"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return Descriptor{}, fmt.Errorf("the table's description is not JSON as Fluss writes it: %w", err)
	}
	if doc.BucketCount < 1 || doc.BucketCount > maxBuckets {
		return Descriptor{}, fmt.Errorf("the table's description has %d buckets", doc.BucketCount)
	}
	schema, err := schemaOf(schemaID, doc.Schema)
	if err != nil {
		return Descriptor{}, err
	}
	return Descriptor{
		Schema: schema, PartitionKey: doc.PartitionKey, BucketKey: doc.BucketKey, Buckets: doc.BucketCount,
		Comment: doc.Comment, Properties: doc.Properties, CustomProperties: doc.CustomProperties,
	}, nil
}

func unknownType(c Column) error {
	return fmt.Errorf("column %s is of type %s, which is not known here", safetext.Of(c.Name), safetext.Of(c.Type.Name))
}
