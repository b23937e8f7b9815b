package inspect

import (
	"encoding/base64"
	"time"
	"unicode/utf8"
)

// DecodedRecord is a record as far as its bytes tell what it is. Texts are as
// they were written where they are UTF-8; where not, the field whose name ends in
// Base64 has the bytes and the text is nil.
type DecodedRecord struct {
	RecordPosition
	Timestamp time.Time      `json:"timestamp"`
	Appended  bool           `json:"appended"` // the timestamp is the broker's
	Producer  *int64         `json:"producer"` // of the transaction that wrote it; nil: none
	Control   TransactionEnd `json:"control"`  // set: a control record, which no job sees

	Headers []HeaderText `json:"headers"`

	Key         *string `json:"key"`
	KeyBase64   string  `json:"keyBase64,omitempty"`
	Value       *string `json:"value"`
	ValueBase64 string  `json:"valueBase64,omitempty"`
	ValueBytes  *int64  `json:"valueBytes"` // nil: the value is null

	Generation  KeyGeneration `json:"generation"` // 0: a key of no known layout
	BusinessKey *CallKey      `json:"businessKey"`
	KeyGroup    *int32        `json:"keyGroup"`
	Sequence    *int64        `json:"sequence"`
	EventUUID   string        `json:"eventUuid"`
	ActionUUID  string        `json:"actionUuid"`
	Elsewhere   *int32        `json:"elsewhere"` // the partition or bucket that the key computes to, where that is another one

	Removes bool         `json:"removes"` // a tombstone: the key is removed; never on Fluss
	State   *RecordState `json:"state"`   // nil: a tombstone, a control record, or no action state
	Problem string       `json:"problem"` // why the value is no action state

	// Refused is why a restore of the next version, or on Fluss of any, stops at the
	// record, where it lies in the replay window.
	Refused *Problem `json:"refused"`
}

// HeaderText is one header of a record, decoded.
type HeaderText struct {
	Key         string  `json:"key"`
	Value       *string `json:"value"`
	ValueBase64 string  `json:"valueBase64,omitempty"`
}

// RecordState is the action state in a record's value.
type RecordState struct {
	Completed bool         `json:"completed"`
	EventType string       `json:"eventType"`
	Calls     []RecordCall `json:"calls"`
}

// RecordCall is one call of an action state as its record has it.
type RecordCall struct {
	Index          int     `json:"index"`
	FunctionID     string  `json:"functionId"`
	ArgsDigest     string  `json:"argsDigest"`
	Status         *string `json:"status"` // the record's own word; nil: none
	ResultBytes    *int64  `json:"resultBytes"`
	ExceptionBytes *int64  `json:"exceptionBytes"`
}

// RecordContext is what decoding a record depends on beside its bytes. Zero
// values are not known.
type RecordContext struct {
	Partitions     int // of the topic, or buckets of the table
	MaxParallelism int
	Dictionary     KeyDictionary
	Store          Store
	BucketOf       BucketOf // of a Fluss table
}

// RecordContext is what decoding the records of the job's log depends on.
func (j Job) RecordContext() RecordContext {
	return RecordContext{MaxParallelism: j.MaxParallelism, Store: j.Store, BucketOf: j.BucketOf}
}

// DecodeRecord takes a record apart. It judges nothing away: what does not fit is
// told beside what does.
func DecodeRecord(r LogRecord, c RecordContext) DecodedRecord {
	d := DecodedRecord{
		RecordPosition: RecordPosition{r.Partition, r.Offset}, Timestamp: r.Timestamp.UTC(), Appended: r.Appended, Control: r.Control,
		Headers: []HeaderText{},
	}
	if r.Producer >= 0 {
		d.Producer = &r.Producer
	}
	for _, h := range r.Headers {
		header := HeaderText{Key: h.Key}
		header.Value, header.ValueBase64 = textOrBytes(h.Value)
		d.Headers = append(d.Headers, header)
	}
	d.Key, d.KeyBase64 = textOrBytes(r.Key)
	d.Value, d.ValueBase64 = textOrBytes(r.Value)
	if r.Value != nil {
		n := int64(len(r.Value))
		d.ValueBytes = &n
	}
	if r.Control != NotControl {
		return d
	}
	d.decodeKey(r.Key, c)
	d.named(c.Store, r.Headers)
	if r.Value == nil && c.Store == StoreFluss {
		d.Problem = noPayload
	} else {
		d.decodeValue(r.Value)
	}
	d.Refused = refusedBy(c.Store, r.Key, r.Value, c.MaxParallelism)
	return d
}

func (d *DecodedRecord) decodeKey(key []byte, c RecordContext) {
	k := ParseActionKey(key)
	d.Generation = k.Generation
	if k.Generation == KeyUnattributable {
		return
	}
	d.Sequence, d.EventUUID, d.ActionUUID = &k.Sequence, k.Event.String(), k.Action.String()
	d.BusinessKey = &CallKey{}
	if k.Generation == KeyGeneration3 {
		d.BusinessKey.Digest = string(k.Text)
		if c.Dictionary != nil {
			if known, ok := c.Dictionary.KeyText(d.BusinessKey.Digest); ok {
				d.BusinessKey.Text = &known
			}
		}
	} else {
		d.BusinessKey.Text, d.BusinessKey.TextBase64 = textOrBytes(k.Text)
	}
	if k.Generation != KeyGeneration1 {
		d.KeyGroup = &k.KeyGroup
	}
	if c.Partitions > 0 {
		if at, ok := (Job{Store: c.Store, BucketOf: c.BucketOf}).place(k, c.Partitions); ok && at != d.Partition {
			d.Elsewhere = &at
		}
	}
}

func (d *DecodedRecord) decodeValue(value []byte) {
	var reader stateReader
	view, failure := reader.read(value)
	switch {
	case failure != "":
		d.Problem = failure
		return
	case view.null:
		d.Removes = true
		return
	}
	d.State = &RecordState{Completed: view.completed, EventType: string(view.eventType), Calls: []RecordCall{}}
	for n, c := range view.calls {
		call := RecordCall{Index: n, FunctionID: string(c.function), ArgsDigest: string(c.args)}
		if c.status != nil {
			status := string(c.status)
			call.Status = &status
		}
		if c.result >= 0 {
			call.ResultBytes = &c.result
		}
		if c.exception >= 0 {
			call.ExceptionBytes = &c.exception
		}
		d.State.Calls = append(d.State.Calls, call)
	}
}

// textOrBytes is bytes as text where they are UTF-8, else as base64. Null bytes
// are neither.
func textOrBytes(data []byte) (text *string, encoded string) {
	switch {
	case data == nil:
		return nil, ""
	case !utf8.Valid(data):
		return nil, base64.StdEncoding.EncodeToString(data)
	}
	s := string(data)
	return &s, ""
}
