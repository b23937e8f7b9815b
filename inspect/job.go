package inspect

// Release is a Flink Agents release line, which decides what a restore really
// does. Next is the unreleased work whose rules this package follows; the empty
// release is not known.
type Release string

// The releases whose behaviour on a restore is known.
const (
	ReleaseUnknown Release = ""
	Release01      Release = "0.1"
	Release02      Release = "0.2"
	Release03      Release = "0.3"
	ReleaseNext    Release = "next"
)

// Job is what an operator's profile or flags say about one job. It is input to
// the rules: nothing of it was read from a cluster.
type Job struct {
	Profile            string
	Name               string
	Flags              string // what else a command is given to know the job by, as words of a shell; empty: nothing
	Runtime            Release
	Store              Store    // empty: Kafka
	Topic              string   // or table, as database.table
	BucketOf           BucketOf // of a Fluss table; nil: where a key's rows lie is not known
	ControlTopic       *string  // nil: not configured; blank: configured, and refused
	Tombstones         bool
	Partitions         int // partitions of a data topic that the job would create; 64 by default
	MaxParallelism     int // 0: not known
	Operator           ExpectedOperator
	FlinkVersion       string // of the Flink that would restore; empty: that of the running job, where it is read
	RecoveryPoints     []string
	Pinned             []string
	KeepRecoveryPoints int
	Flink              JobRef // of the running job; without REST its live state is not asked for
}
