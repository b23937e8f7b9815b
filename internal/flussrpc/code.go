package flussrpc

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Code is an error code of Fluss.
type Code int32

// The codes that decide something here. Those of 64 and up are of the main branch
// only.
const (
	UnknownServerError       Code = -1
	None                     Code = 0
	Network                  Code = 1
	UnsupportedVersion       Code = 2
	CorruptMessage           Code = 3
	DatabaseNotExist         Code = 4
	TableNotExist            Code = 7
	SchemaNotExist           Code = 9
	LogStorage               Code = 10
	KvStorage                Code = 11
	NotLeaderOrFollower      Code = 12
	CorruptRecord            Code = 14
	LogOffsetOutOfRange      Code = 19
	NonPrimaryKeyTable       Code = 20
	UnknownTableOrBucket     Code = 21
	FencedLeaderEpoch        Code = 24
	RequestTimeOut           Code = 25
	Storage                  Code = 26
	InvalidColumnProjection  Code = 34
	PartitionNotExists       Code = 36
	TableNotPartitioned      Code = 37
	InvalidTimestamp         Code = 38
	LakeStorageNotConfigured Code = 40
	KvSnapshotNotExist       Code = 41
	LeaderNotAvailable       Code = 44
	Authenticate             Code = 46
	Authorization            Code = 48
	RetriableAuthenticate    Code = 51
	LakeSnapshotNotExist     Code = 53
	InvalidProducerID        Code = 63
	NotCoordinatorLeader     Code = 65
)

var codeNames = map[Code]string{
	UnknownServerError: "UNKNOWN_SERVER_ERROR", Network: "NETWORK", UnsupportedVersion: "UNSUPPORTED_VERSION", CorruptMessage: "CORRUPT_MESSAGE",
	DatabaseNotExist: "DATABASE_NOT_EXIST", TableNotExist: "TABLE_NOT_EXIST", SchemaNotExist: "SCHEMA_NOT_EXIST",
	LogStorage: "LOG_STORAGE", KvStorage: "KV_STORAGE", NotLeaderOrFollower: "NOT_LEADER_OR_FOLLOWER", CorruptRecord: "CORRUPT_RECORD",
	LogOffsetOutOfRange: "LOG_OFFSET_OUT_OF_RANGE", NonPrimaryKeyTable: "NON_PRIMARY_KEY_TABLE", UnknownTableOrBucket: "UNKNOWN_TABLE_OR_BUCKET",
	FencedLeaderEpoch: "FENCED_LEADER_EPOCH", RequestTimeOut: "REQUEST_TIME_OUT", Storage: "STORAGE",
	InvalidColumnProjection: "INVALID_COLUMN_PROJECTION", PartitionNotExists: "PARTITION_NOT_EXISTS", TableNotPartitioned: "TABLE_NOT_PARTITIONED",
	InvalidTimestamp: "INVALID_TIMESTAMP", LakeStorageNotConfigured: "LAKE_STORAGE_NOT_CONFIGURED", KvSnapshotNotExist: "KV_SNAPSHOT_NOT_EXIST",
	LeaderNotAvailable: "LEADER_NOT_AVAILABLE", Authenticate: "AUTHENTICATE", Authorization: "AUTHORIZATION",
	RetriableAuthenticate: "RETRIABLE_AUTHENTICATE", LakeSnapshotNotExist: "LAKE_SNAPSHOT_NOT_EXIST",
	InvalidProducerID: "INVALID_PRODUCER_ID", NotCoordinatorLeader: "NOT_COORDINATOR_LEADER",
}

// String is Fluss's name for the code, and its number where it has none here.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %d", int32(c))
}

// Moved reports whether somebody else may answer: the metadata that was asked by
// is stale.
func (c Code) Moved() bool {
	switch c {
	case Network, NotLeaderOrFollower, UnknownTableOrBucket, LeaderNotAvailable, FencedLeaderEpoch, NotCoordinatorLeader:
		return true
	}
	return false
}

// Passing reports whether the same server may answer a moment later.
func (c Code) Passing() bool {
	switch c {
	case CorruptMessage, SchemaNotExist, CorruptRecord, RequestTimeOut, Storage, LogStorage, KvStorage, RetriableAuthenticate:
		return true
	}
	return false
}

// elsewhere reports whether another server may answer what this one refused.
func (e *Error) elsewhere() bool {
	return e.Code.Moved() || e.Code.Passing() || e.starting()
}

// starting reports whether a coordinator says that it is not ready yet: it has a
// code of no meaning for that.
func (e *Error) starting() bool {
	return e.Code == UnknownServerError && strings.Contains(e.Message, "CoordinatorEventProcessor is not initialized")
}

// missingTable reports whether a name is of no table: GetMetadata has a code of
// no meaning for that.
func (e *Error) missingTable() bool {
	return e.Code == TableNotExist || e.Code == UnknownServerError && strings.Contains(e.Message, "TableNotExistException")
}

// missingOffsets reports whether the file of a producer's offsets is gone.
func (e *Error) missingOffsets() bool {
	return e.Code == UnknownServerError && strings.Contains(e.Message, "Offsets file not found")
}

// Error is a server's refusal. Message is the server's own text, as it came.
type Error struct {
	Code    Code
	Message string
}

// Error is the refusal on one line: of a Java stack trace the first line, and the
// last of its causes, which is where the reason stands.
func (e *Error) Error() string { return e.Code.String() + ": " + e.Reason() }

// Reason is the message without frames, safe to print.
func (e *Error) Reason() string {
	first, rest, _ := strings.Cut(e.Message, "\n")
	reason := strings.TrimSpace(first)
	for line := range strings.SplitSeq(rest, "\n") {
		if cause, ok := strings.CutPrefix(strings.TrimSpace(line), "Caused by: "); ok {
			reason = strings.TrimSpace(first) + "; caused by " + cause
		}
	}
	const most = 500
	return safetext.Of(reason).Truncate(most).String()
}
