package flinkmeta

// The metadata format versions that are read and written here.
const (
	MinVersion int32 = 2 // Flink 1.3 to 1.10
	MaxVersion int32 = 6 // Flink 2.1, 2.2 and 2.3
)

// MaxParallelism is the largest maximum parallelism of any Flink operator, and
// so the largest number of its subtasks and key groups.
const MaxParallelism = 1 << 15

// Metadata is a parsed _metadata file. Its byte slices are part of the input of
// Decode: a caller must not write to them.
type Metadata struct {
	Version      int32 // format version, 2 to 6
	CheckpointID int64 // never negative; N of the folder chk-N
	MasterStates []MasterState
	Operators    []Operator // in the file's order, which means nothing
	Properties   Properties
}

// MasterState is what a hook of the job master stored.
type MasterState struct {
	Version int32
	Name    string
	Payload []byte
}

// Operator is one operator of the job.
type Operator struct {
	Name           string // empty before version 5
	UID            string // what the job's code set with uid(); empty if nothing, and before version 5
	ID             OperatorID
	Parallelism    int32
	MaxParallelism int32
	ChainLength    int32   // version 2 only, where it is 1 and means nothing
	Coordinator    *Stream // inline, or nil; from version 3
	FullyFinished  bool    // no subtask will ever run again; Subtasks is empty
	Subtasks       []Subtask
}

// Label names the operator in a message: its quoted name, else its id.
func (o *Operator) Label() string {
	if o.Name == "" {
		return o.ID.String()
	}
	return quote(o.Name)
}

// Subtask is one parallel instance of an operator. A subtask that is not listed
// had no state to report.
type Subtask struct {
	Index               int32
	Finished            bool // it has ended; there is no state (from version 3)
	Duration            int64
	ManagedOperator     *OperatorState // nil: none
	RawOperator         *OperatorState // nil: none
	ManagedKeyed        *KeyedState    // nil: none
	RawKeyed            *KeyedState    // nil: none
	InputChannels       []ChannelState // in-flight data of an unaligned checkpoint
	ResultSubpartitions []ChannelState
}
