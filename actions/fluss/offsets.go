package fluss

import (
	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// FileLog is what an offsets file says of one table, or of one partition. One of
// ID and Table is there at least.
type FileLog struct {
	ID        *int64
	Table     string // as in database.table
	Partition *int64 // its id
	Buckets   []actions.BucketBaseline
}

// MaxOffsetsFile is how many bytes an offsets file may have.
const MaxOffsetsFile = 64 << 20

func show(text string) string { return safetext.Of(text).String() }

// ParseOffsets reads a file of offsets to register, in any of four forms:
//
//   - {"tables": [{"table": "db.t", "id": 3, "partition": 7, "buckets": [{"bucket":
//     0, "baseline": 12}]}]}, where id or table may be left out, and partition
//     where there is none; other members are ignored;
//   - the JSON output of recoverctl inspect fluss producer, which holds the same;
//   - a plan file of the kind producer-delete, whose offsets are registered again;
//   - the coordinator's own file of one table: {"version": 1, "table_id": 3,
//     "bucket_offsets": [12, -1]} or with "partition_offsets".
//
// A bucket that has no offset is left out. The error is a fault of kind Corrupt
// with the byte at which what is wrong begins, or Unsupported for a later version.
func ParseOffsets(data []byte) ([]FileLog, error) {
	if len(data) > MaxOffsetsFile {
		return nil, fault.New(fault.Corrupt, "read the offsets file", "it has %d bytes, and at most %d are read", len(data), MaxOffsetsFile)
	}
	if actions.IsDocument(data) {
		if d, p := actions.ParseDocument(data); p == nil && d.Kind == actions.KindProducerDelete {
			return logsOfPlan(d)
		}
	}
	doc, err := strictjson.Parse(data)
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, "read the offsets file", err, "the file is no JSON")
	}
	r := offsetsReader{}
	var out []FileLog
	if inner, found := doc.Get("data"); found && inner.Kind() == strictjson.Object {
		doc = inner // the envelope of a command's output
	}
	if _, own := doc.Get("table_id"); own {
		out = r.own(doc)
	} else {
		out = r.tables(doc)
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Corrupt, "read the offsets file", "the file names no bucket with an offset")
	}
	return out, nil
}

// logsOfPlan are the offsets of the entry that a plan deletes.
func logsOfPlan(d actions.Document) ([]FileLog, error) {
	var out []FileLog
	for _, l := range actions.ProducerPlanOf(d).Logs {
		log := FileLog{ID: &l.Table}
		if l.Partition != -1 {
			log.Partition = &l.Partition
		}
		for _, b := range l.Buckets {
			if b.Offset != nil {
				log.Buckets = append(log.Buckets, b)
			}
		}
		if log.Buckets != nil {
			out = append(out, log)
		}
	}
	if out == nil {
		return nil, fault.New(fault.Corrupt, "read the offsets file", "the plan deletes an entry whose offsets it does not know: there is nothing to register again")
	}
	return out, nil
}

// offsetsReader keeps the first error.
type offsetsReader struct{ err error }

func (r *offsetsReader) refuse(at strictjson.Value, format string, args ...any) {
	if r.err == nil {
		r.err = fault.New(fault.Corrupt, "read the offsets file", format+", at byte %d", append(args, at.Pos())...).
			WithHint("recoverctl inspect fluss producer ID -o json writes such a file; recoverctl plan producer-register --help says what it may be")
	}
}

func (r *offsetsReader) list(doc strictjson.Value, name string) []strictjson.Value {
	value, found := doc.Get(name)
	if !found || value.Kind() != strictjson.Array {
		r.refuse(doc, "there is no list %s", name)
		return nil
	}
	return value.Items()
}

// whole is a number from 0 on.
func (r *offsetsReader) whole(v strictjson.Value, what string) int64 {
	n, ok := v.Int64()
	if !ok || n < 0 {
		r.refuse(v, "%s is not a whole number from 0 on", what)
	}
	return n
}

// optional is a number from 0 on, or nil where it is null or not there.
func (r *offsetsReader) optional(doc strictjson.Value, name string) *int64 {
	v, found := doc.Get(name)
	if !found || v.Kind() == strictjson.Null {
		return nil
	}
	n := r.whole(v, name)
	return &n
}

func (r *offsetsReader) tables(doc strictjson.Value) []FileLog {
	var out []FileLog
	for _, item := range r.list(doc, "tables") {
		if r.err != nil {
			return nil
		}
		log := FileLog{ID: r.optional(item, "id"), Partition: r.optional(item, "partition")}
		if name, found := item.Get("table"); found && name.Kind() != strictjson.Null {
			if name.Kind() != strictjson.String {
				r.refuse(name, "table is not a name")
			}
			log.Table = name.Text()
		}
		if log.ID == nil && log.Table == "" {
			r.refuse(item, "there is neither the name of a table nor its id")
		}
		seen := map[int32]bool{}
		for _, b := range r.list(item, "buckets") {
			if r.err != nil {
				return nil
			}
			r.bucket(b, &log, seen)
		}
		if log.Buckets != nil {
			out = append(out, log)
		}
	}
	return out
}

func (r *offsetsReader) bucket(v strictjson.Value, log *FileLog, seen map[int32]bool) {
	number, _ := v.Get("bucket")
	id, ok := number.Int32()
	switch {
	case !ok || id < 0:
		r.refuse(v, "a bucket has no number from 0 on")
	case seen[id]:
		r.refuse(v, "bucket %d is named twice", id)
	}
	seen[id] = true
	if offset := r.optional(v, "baseline"); offset != nil {
		log.Buckets = append(log.Buckets, actions.BucketBaseline{Bucket: id, Offset: offset})
	}
}

// own is the coordinator's own file of one table. An offset of -1 is a bucket that
// is not there.
func (r *offsetsReader) own(doc strictjson.Value) []FileLog {
	if v, _ := doc.Get("version"); true {
		if n, ok := v.Int64(); !ok || n != 1 {
			r.err = fault.New(fault.Unsupported, "read the offsets file", "the file is of another version of the coordinator's format than 1")
			return nil
		}
	}
	id, _ := doc.Get("table_id")
	table := r.whole(id, "table_id")
	buckets := func(in strictjson.Value, partition *int64) (out []FileLog) {
		log := FileLog{ID: &table, Partition: partition}
		for i, v := range r.list(in, "bucket_offsets") {
			n, ok := v.Int64()
			if !ok || n < -1 {
				r.refuse(v, "the offset of bucket %d is not a whole number from -1 on", i)
				return nil
			}
			if n >= 0 {
				log.Buckets = append(log.Buckets, actions.BucketBaseline{Bucket: int32(i), Offset: &n})
			}
		}
		if log.Buckets != nil {
			out = append(out, log)
		}
		return out
	}
	if _, plain := doc.Get("bucket_offsets"); plain {
		return buckets(doc, nil)
	}
	var out []FileLog
	for _, p := range r.list(doc, "partition_offsets") {
		id, _ := p.Get("partition_id")
		partition := r.whole(id, "partition_id")
		out = append(out, buckets(p, &partition)...)
	}
	return out
}
