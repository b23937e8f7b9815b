package inspect

// PartitionOverview is one partition of the data topic beside the boundary in
// force; Boundary is nil where there is none. LogStart and LogEnd are nil when
// the partition's offsets could not be read.
type PartitionOverview struct {
	Partition int32  `json:"partition"`
	Leader    int32  `json:"leader"`
	LogStart  *int64 `json:"logStart"`
	LogEnd    *int64 `json:"logEnd"`
	Boundary  *int64 `json:"boundary"`
}

// BoundaryState is what a restore makes of the job's control topic.
type BoundaryState string

// The states of a boundary. Refused: no restore is accepted. Unread: it could
// not be read, which says nothing about what is in force.
const (
	BoundaryNotConfigured BoundaryState = "not-configured"
	BoundaryInForce       BoundaryState = "in-force"
	BoundaryRefused       BoundaryState = "refused"
	BoundaryUnread        BoundaryState = "unread"
)

// PointSummary is a recovery point with its verdict now. Reason is the code of
// the first reason, nil when there is none; RunsAgain is nil until scanned.
type PointSummary struct {
	URI          string      `json:"uri"`
	Kind         PointKind   `json:"kind"`
	CheckpointID int64       `json:"checkpointId"`
	Taken        Taken       `json:"taken"`
	Verdict      Verdict     `json:"verdict"`
	Reason       *string     `json:"reason"`
	Message      string      `json:"message"` // the reason as a sentence; empty when accepted
	Offsets      Offsets     `json:"offsets"` // merged marker
	Span         int64       `json:"span"`    // offset span that a restore reads again; 0 when not accepted
	Pinned       bool        `json:"pinned"`
	Unchecked    []string    `json:"unchecked"`
	RunsAgain    *int64      `json:"runsAgain"`
	Calls        *CallCounts `json:"calls"`     // what a restore does to those at risk; nil until scanned
	Rewritten    *Rewritten  `json:"rewritten"` // what a Fluss store wrote anew for it; nil until scanned, and for other stores
	Severity     Severity    `json:"severity"`  // worst offline check; "" when none

	Validation RestoreValidation `json:"-"` // the whole answer behind the summary
}

// RecoveryPointList is what lies under a place, with verdicts where a cluster
// was asked.
type RecoveryPointList struct {
	Points []PointSummary `json:"points"`
}

// PendingCalls are open calls by call state.
type PendingCalls struct {
	Pending     int64 `json:"pending"`
	Overwritten int64 `json:"overwritten"`
	Unmatched   int64 `json:"unmatched"`
}

// Scan is how far a scan of the data topic has come, in offsets.
type Scan struct {
	Done    int64 `json:"done"`
	Total   int64 `json:"total"`
	Records int64 `json:"records"`
	Partial bool  `json:"partial"` // it has ended and not all was read: there are no numbers for the whole topic
}

// Connection says whether something was asked for what an answer holds of it.
type Connection string

// The connections. Unread: it was asked, and nothing could be read.
const (
	NotConnected Connection = "not-connected"
	Unread       Connection = "unread"
	Read         Connection = "read"
)

// JobOverview is the state of one job's recovery. Live, PendingCalls and Scan
// are nil until Flink was asked or the topic was scanned.
type JobOverview struct {
	Job           string              `json:"job"`
	Store         Store               `json:"store"`
	Topic         string              `json:"topic"` // or table
	TopicID       string              `json:"topicId"`
	ClusterID     string              `json:"clusterId"`
	ControlTopic  *string             `json:"controlTopic"`
	Boundary      BoundaryState       `json:"boundary"`
	Settings      []Setting           `json:"settings"`
	Partitions    []PartitionOverview `json:"partitions"`
	Points        []PointSummary      `json:"points"`
	Searched      []string            `json:"searched"` // places where recovery points were looked for
	LastOperation *Operation          `json:"lastOperation"`
	Live          *LiveState          `json:"live"`
	LiveSource    Connection          `json:"liveSource"`    // why Live is nil
	OnlyInHistory []string            `json:"onlyInHistory"` // completed ones of Flink's history that lie in none of the places searched
	PendingCalls  *PendingCalls       `json:"pendingCalls"`
	Scan          *Scan               `json:"scan"`
	Findings      []Finding           `json:"findings"`
}
