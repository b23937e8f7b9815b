package inspect

import "context"

// PointStore reads recovery points. inspect/flink implements it.
type PointStore interface {
	// Point reads the recovery point at uri. When it exists and is damaged, the
	// point is returned with its failing checks beside a fault of kind Corrupt or
	// Unsupported; absent is NotFound.
	Point(ctx context.Context, uri string) (RecoveryPoint, error)

	// Points reads every recovery point at or under uri, newest first. Damaged
	// ones are in the list with their failing checks, and those that can't be read
	// from here with their Err. The error says all that could not be listed or
	// read, beside the points that could; errors.Join of several.
	Points(ctx context.Context, uri string) ([]RecoveryPoint, error)
}

// LogStore reads the topics of a job. inspect/kafka implements it.
type LogStore interface {
	// DataTopic describes a topic now. A topic that does not exist is a value
	// with Exists false and no error. Partitions whose offsets could not be read
	// carry their own errors.
	DataTopic(ctx context.Context, name string) (DataTopic, error)

	// ControlTopic reads a control topic from its beginning to the end captured
	// first, as a read_committed reader sees it. A topic that does not exist is a
	// value with Exists false and no error. Records are read only where the shape
	// (one partition, policy compact) permits it.
	ControlTopic(ctx context.Context, name string) (ControlTopic, error)
}

// WindowReader is a LogStore that can also read the records of a replay window.
type WindowReader interface {
	// ReadWindow reads the records of [From, To) on each partition of a topic that
	// was described before, as a read_uncommitted reader sees them: records of
	// aborted and of open transactions are among them. The partitions come in
	// ascending order, and the records of one in the order of their offsets. visit
	// must not keep key or value; a nil one is null, which is not the same as empty.
	// progress may be nil.
	//
	// It returns when every window is read to its end, or with the error that
	// stopped it: Drift when the topic is no longer the one that was described, or
	// when its log was cut meanwhile.
	ReadWindow(ctx context.Context, topic DataTopic, windows []Window,
		visit func(partition int32, offset int64, key, value []byte), progress func(WindowProgress)) error
}
