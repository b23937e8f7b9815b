package flinkcases

import (
	"bytes"
	"encoding/json"
)

// Case is an expected.json: what Flink read back from the snapshots of one job.
type Case struct {
	Name      string     `json:"case"`
	Flink     string     `json:"flink"`    // version of the writer, as in "2.3.0"
	ReadWith  string     `json:"readWith"` // the Java classes that produced these values
	Snapshots []Snapshot `json:"snapshots"`
}

// Snapshot is one checkpoint or savepoint.
type Snapshot struct {
	Path                 string     `json:"path"` // folder that holds _metadata, relative to the case
	MetadataBytes        int64      `json:"metadataBytes"`
	CheckpointID         int64      `json:"checkpointId"`
	Savepoint            bool       `json:"savepoint"`
	Kind                 string     `json:"kind"`                 // Checkpoint, Savepoint
	SharingFilesStrategy string     `json:"sharingFilesStrategy"` // FORWARD_BACKWARD, NO_SHARING
	MasterStates         int        `json:"masterStates"`
	Operators            []Operator `json:"operators"`
}

// Operator is one operator of a snapshot. Name and UID are nil where the file
// does not hold them.
type Operator struct {
	ID                    string           `json:"operatorId"` // 32 hex digits
	Name                  *string          `json:"name"`
	UID                   *string          `json:"uid"`
	Parallelism           int              `json:"parallelism"`
	MaxParallelism        int              `json:"maxParallelism"`
	FullyFinished         bool             `json:"fullyFinished"`
	CoordinatorStateBytes *int64           `json:"coordinatorStateBytes"`
	StateSize             int64            `json:"stateSize"`
	Subtasks              []Subtask        `json:"subtasks"`
	StateProcessorMarkers Values[Marker]   `json:"stateProcessorMarkers"` // all subtasks, sorted as text
	KeyedSequences        []KeyedSequences `json:"keyedSequences"`
}

// Subtask is one parallel instance of an operator.
type Subtask struct {
	Index                    int            `json:"index"`
	StateSize                int64          `json:"stateSize"`
	ManagedOperatorState     *OperatorState `json:"managedOperatorState"`
	ManagedKeyedState        *KeyedState    `json:"managedKeyedState"`
	Markers                  Values[Marker] `json:"markers"` // recoveryMarker, in list order
	CurrentProcessingKeys    Values[string] `json:"currentProcessingKeys"`
	IdentifierState          Values[string] `json:"identifier_state"`
	InputChannelStates       int            `json:"inputChannelStates"`
	ResultSubpartitionStates int            `json:"resultSubpartitionStates"`
}

// OperatorState is an operator state handle. Handle is the simple name of
// Flink's class for the delegate.
type OperatorState struct {
	Handle string                 `json:"handle"`
	Size   int64                  `json:"size"`
	States map[string]StateLayout `json:"states"`
}

// StateLayout says where the elements of one state are.
type StateLayout struct {
	Mode    string  `json:"mode"` // UNION, SPLIT_DISTRIBUTE, BROADCAST
	Offsets []int64 `json:"offsets"`
}

// KeyedState is a keyed state handle. Handle is the simple name of Flink's
// class. The last three fields belong to incremental handles only.
type KeyedState struct {
	Handle        string `json:"handle"`
	StartKeyGroup int    `json:"startKeyGroup"`
	EndKeyGroup   int    `json:"endKeyGroup"` // inclusive
	Size          int64  `json:"size"`
	SharedFiles   int    `json:"sharedFiles"`
	PrivateFiles  int    `json:"privateFiles"`
	BackendID     string `json:"backendId"`
}

// Marker is one element of the recoveryMarker list as Flink returned it. Fields
// that the element does not have, or that were null in it, are nil.
type Marker struct {
	Kind          string           `json:"kind"` // legacy, versioned, other
	Class         string           `json:"class"`
	SchemaVersion *int             `json:"schemaVersion"`
	Topic         *string          `json:"topic"`
	TopicID       *string          `json:"topicId"`
	Offsets       map[string]int64 `json:"offsets"` // partition in decimal → offset
	Text          *string          `json:"text"`    // of an "other" element
}

// KeyedSequences are the two sequence numbers that an agent keeps for a key.
type KeyedSequences struct {
	KeyType                     string `json:"keyType"` // String, Long
	Key                         string `json:"key"`
	KeyGroup                    int    `json:"keyGroup"`
	Subtask                     int    `json:"subtask"`
	MessageSequenceNumber       *int64 `json:"messageSequenceNumber"`
	LastCompletedSequenceNumber *int64 `json:"lastCompletedSequenceNumber"`
}

// Values is a list that Flink read back, or the error with which Flink itself
// could not read it. Present says whether expected.json names the list at all.
type Values[T any] struct {
	Present bool
	List    []T
	Error   string // Java exception and message; empty where the list could be read
}

// UnmarshalJSON accepts a list, or an object with the error.
func (v *Values[T]) UnmarshalJSON(data []byte) error {
	v.Present = true
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var failed struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(data, &failed); err != nil {
			return err
		}
		v.Error = failed.Error
		return nil
	}
	return json.Unmarshal(data, &v.List)
}
