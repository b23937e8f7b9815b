package flinkmeta

// SnapshotKind says what a metadata file describes.
type SnapshotKind string

// The kinds of snapshots.
const (
	KindUnknown    SnapshotKind = "" // the file does not say it, or not in a way that is known
	KindCheckpoint SnapshotKind = "checkpoint"
	KindSavepoint  SnapshotKind = "savepoint"
)

// The formats of a savepoint.
const (
	FormatCanonical = "CANONICAL"
	FormatNative    = "NATIVE"
)

// Properties are the checkpoint properties at the end of a file of version 4 or
// later: one object of Java serialization.
type Properties struct {
	Pos int64  // where they start in the file
	Raw []byte // as they are in the file; nil before version 4

	// Null: the writer stored no properties, as the State Processor API does.
	Null bool
	// Unknown says what could not be understood in them. It is not an error:
	// the rest of the file is sound, but whether Flink reads them is not known, and
	// Kind may not be.
	Unknown string
	// Refused says why Flink 1.16 to 2.3 does not read them, and with them no part of
	// the file.
	Refused string
	// Behind is how many bytes follow them, which Flink does not look at.
	Behind int

	Kind       SnapshotKind
	Format     string // of a savepoint: CANONICAL or NATIVE
	Name       string // "Checkpoint", "Full Checkpoint", "Savepoint", "Suspend Savepoint", "Terminate Savepoint"
	Sharing    string // of a checkpoint: FORWARD_BACKWARD or FORWARD
	PostAction string // of a savepoint: NONE, SUSPEND or TERMINATE

	DiscardCancelled bool
	DiscardFailed    bool
	DiscardFinished  bool
	DiscardSubsumed  bool
	DiscardSuspended bool
	Forced           bool
	Unclaimed        bool // restored in a mode in which the job does not own it
}

// Java's names of the classes of the properties.
const (
	classProperties = "org.apache.flink.runtime.checkpoint.CheckpointProperties"
	classCheckpoint = "org.apache.flink.runtime.checkpoint.CheckpointType"
	classSavepoint  = "org.apache.flink.runtime.checkpoint.SavepointType"
	classSharing    = "org.apache.flink.runtime.checkpoint.SnapshotType$SharingFilesStrategy"
	classFormat     = "org.apache.flink.core.execution.SavepointFormatType"
	classPostAction = "org.apache.flink.runtime.checkpoint.SavepointType$PostCheckpointAction"
	classEnum       = "java.lang.Enum"
)

// flags are the boolean fields by their Java names, in stream order.
func (p *Properties) flags() []struct {
	name  string
	value *bool
} {
	return []struct {
		name  string
		value *bool
	}{
		{"discardCancelled", &p.DiscardCancelled},
		{"discardFailed", &p.DiscardFailed},
		{"discardFinished", &p.DiscardFinished},
		{"discardSubsumed", &p.DiscardSubsumed},
		{"discardSuspended", &p.DiscardSuspended},
		{"forced", &p.Forced},
		{"unclaimed", &p.Unclaimed},
	}
}

// properties reads the tail of the file, all of it.
func (d *decoder) properties() Properties {
	p := Properties{Pos: d.Pos()}
	if !d.OK() {
		return p
	}
	if d.Len() == 0 {
		d.Fail(CheckTail, d.Pos(), "checkpoint properties",
			"metadata is truncated at byte %d: the checkpoint properties after the last operator are missing", d.Pos())
		return p
	}
	if p.Raw = d.keep(d.peek(d.Len())); !d.OK() {
		return p
	}
	if mark := uint32(d.I32("checkpoint properties")); d.OK() && mark != javaMagic {
		d.Fail(CheckTail, p.Pos, "checkpoint properties",
			"%d unexpected bytes after the last operator: they start with %08x, the checkpoint properties with aced0005", len(p.Raw), mark)
		return p
	}
	j := javaReader{Reader: d.Reader}
	object := j.value()
	p.Refused = j.refused
	if j.unknown != "" {
		p.Unknown = j.unknown
		d.Take(d.Len(), "checkpoint properties")
		return p
	}
	p.interpret(object)
	if p.Unknown == "" && j.foreign != "" {
		p.Unknown = "the class " + quote(j.foreign)
	}
	if d.OK() {
		p.Behind = d.Len()
		d.Take(p.Behind, "bytes behind the checkpoint properties")
	}
	return p
}

// interpret fills the fields from the Java object.
func (p *Properties) interpret(object any) {
	if object == nil {
		p.Null = true
		return
	}
	o, ok := object.(*javaObject)
	if !ok || o.class != classProperties {
		p.Unknown = "an object of another class"
		return
	}
	for _, f := range p.flags() {
		*f.value, _ = o.fields[f.name].(bool)
	}
	t, ok := o.fields["checkpointType"].(*javaObject)
	if !ok {
		p.Unknown = "no checkpoint type"
		return
	}
	p.Name, _ = t.fields["name"].(string)
	switch t.class {
	case classCheckpoint:
		p.Kind = KindCheckpoint
		p.Sharing = t.enum("sharingFilesStrategy")
	case classSavepoint:
		p.Kind = KindSavepoint
		p.Format = t.enum("formatType")
		p.PostAction = t.enum("postCheckpointAction")
	default:
		p.Unknown = "checkpoint type " + quote(t.class)
	}
}

// enum is the constant of an enum field, or empty.
func (o *javaObject) enum(field string) string {
	if e, ok := o.fields[field].(*javaObject); ok {
		return e.constant
	}
	return ""
}
