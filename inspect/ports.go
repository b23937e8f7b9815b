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
