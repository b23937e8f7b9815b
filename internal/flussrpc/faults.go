package flussrpc

import "github.com/recoverctl/recoverctl/internal/fault"

// refusal makes the fault of what a server refused: its kind, and what to do
// next.
func refusal(op string, e *Error, format string, args ...any) *fault.Fault {
	kind, hint := advice(e)
	return fault.Wrap(kind, op, e, format, args...).WithHint("%s", hint)
}

// advice is what an operator does about a refusal.
func advice(e *Error) (fault.Kind, string) {
	switch {
	case e.starting():
		return fault.Unreachable, "the coordinator is starting: wait for the ZooKeeper session of the one before to end (60 s by default), and ask again"
	case e.missingTable():
		return fault.NotFound, "check the name, as in database.table; a table that this user may not see looks as if it were not there"
	case e.missingOffsets():
		return fault.Corrupt, "the file that held the producer's offsets is gone: only the entry's expiry, or without an authorizer a delete, frees the id; see whether remote.data.dir lacks a scheme (recoverctl inspect fluss cluster)"
	}
	switch e.Code {
	case Authorization:
		return fault.Denied, "give this user the right that the message names (READ on the tables, DESCRIBE on the cluster)"
	case Authenticate, RetriableAuthenticate:
		return fault.Denied, "the listener wants a login: set fluss.username and fluss.password of the job in the profile"
	case DatabaseNotExist, PartitionNotExists, SchemaNotExist, KvSnapshotNotExist, LakeSnapshotNotExist:
		return fault.NotFound, "check the name; what this user may not see looks as if it were not there"
	case TableNotPartitioned, NonPrimaryKeyTable, InvalidColumnProjection:
		return fault.Usage, "this is asked of tables of another kind: recoverctl inspect fluss table NAME shows what it is"
	case InvalidTimestamp:
		return fault.Usage, "the time lies after the server's clock: compare the clocks"
	case InvalidProducerID:
		return fault.Usage, "a producer id has ASCII letters, digits, _ and - only, at most 200"
	case UnsupportedVersion:
		return fault.Unsupported, "this release of Fluss has another version of the call"
	case LakeStorageNotConfigured:
		return fault.Unsupported, "the cluster has no lake storage"
	case LogOffsetOutOfRange:
		return fault.Drift, "the offset expired or was never written: recoverctl inspect fluss buckets shows where the log begins and ends"
	case NotLeaderOrFollower, LeaderNotAvailable, FencedLeaderEpoch:
		return fault.Unreachable, "nobody leads the bucket there: after a server's death a leader is elected when its ZooKeeper session ends (60 s by default); recoverctl inspect fluss buckets"
	case UnknownTableOrBucket:
		return fault.Unreachable, "the server does not know the table: it was dropped, or the server is still starting"
	case NotCoordinatorLeader:
		return fault.Unreachable, "another coordinator leads now: ask again"
	case Storage, LogStorage, KvStorage:
		return fault.Unreachable, "a disk of that server is offline or fails: look at its log"
	case CorruptMessage, CorruptRecord:
		return fault.Corrupt, "the server found damaged data: look at its log"
	}
	return fault.Unreachable, "look at the server's log"
}
