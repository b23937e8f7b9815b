package inspect

import (
	"context"
	"time"
)

// LogRecord is one record as it lies on a partition. A nil Key or Value is a
// null one, which is not the same as empty. Nothing of it has been judged.
type LogRecord struct {
	Partition int32
	Offset    int64
	Timestamp time.Time
	Appended  bool // the timestamp is the broker's, of when it was appended; else the writer's own
	Key       []byte
	Value     []byte
	Headers   []RecordHeader

	// Producer is the id under which a transaction wrote the record; -1 where none
	// did. What became of the transaction is said by the next Control record of the
	// same producer: until there is one, it is open.
	Producer int64

	// Control is set on the records with which the broker ends a transaction. A
	// restore and a scan never see those; they use an offset.
	Control TransactionEnd
}

// TransactionEnd is how a control record ends a transaction.
type TransactionEnd string

// The ends. Of control records of any other type nothing is known here.
const (
	NotControl           TransactionEnd = ""
	TransactionCommitted TransactionEnd = "commit"
	TransactionAborted   TransactionEnd = "abort"
	ControlUnknown       TransactionEnd = "unknown"
)

// RecordHeader is one header of a record.
type RecordHeader struct {
	Key   string
	Value []byte
}

// recordOverhead is about what a record costs beside its key, value and headers.
const recordOverhead = 128

// Size is about how many bytes of memory the record takes.
func (r LogRecord) Size() int {
	n := recordOverhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// RecordQuestion asks for the records of one partition from Offset on, or with
// Back for those right before it. Count and Bytes bound the answer: one record is
// given however large it is. Both are positive.
type RecordQuestion struct {
	Partition int32
	Offset    int64
	Back      bool
	Count     int
	Bytes     int // of keys, values and headers, about
}

// RecordPage is what lies on a stretch of a partition: every record with an
// offset in [From, Next), in order. Offsets without a record between them were
// compacted away, or never held one. From is the log start, or Next the log end,
// where the partition has no more on that side; both are those of the topic's
// description.
type RecordPage struct {
	Partition int32
	From      int64
	Next      int64
	Records   []LogRecord

	bytes int // of the records that were added
}

// RecordReader is a LogStore whose records can be looked at page by page.
type RecordReader interface {
	// ReadRecords reads one page of a topic that was described before, as a
	// read_uncommitted reader sees it, with the control records of transactions. An
	// offset before the log start is taken for the log start, one past the log end
	// for the log end. The records are the caller's.
	//
	// It is Drift when the topic is no longer the one that was described, or when
	// its log was cut meanwhile.
	ReadRecords(ctx context.Context, topic DataTopic, q RecordQuestion) (RecordPage, error)

	// OffsetsAt finds, on each partition whose log range is known, the first record
	// whose timestamp is not before at; the log end where there is none. An error
	// names the partitions that could not be asked, beside the others' answers.
	OffsetsAt(ctx context.Context, topic DataTopic, at time.Time) (Offsets, error)
}
