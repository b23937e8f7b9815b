package explain

// What Flink Agents says on Fluss, and what Fluss says.
func flussRules() []rule {
	return []rule{
		{
			id: "fluss-bucket-set", source: agentsData, weight: decides, anchor: "Recovery marker bucket set",
			pattern: p(`Recovery marker bucket set (?P<marker>\[[^\]]*\]) does not match the current table bucket set (?P<table>\[[^\]]*\])`),
			cause:   "The buckets of the table changed since the recovery point was taken: it has {marker}, the table {table}. The table was recreated, or its number of buckets was changed.",
			next:    []string{validate, "Only a start without recovery markers is accepted, and then calls run again."},
		},
		{
			id: "fluss-bucket-missing", source: agentsData, weight: decides, anchor: "Recovery marker references bucket",
			pattern: p(`Recovery marker references bucket (?P<bucket>\d+) which does not exist in the current table`),
			cause:   "The recovery point has a marker for bucket {bucket}, which the table does not have: it was recreated, or its number of buckets was changed.",
			next:    []string{validate},
		},
		{
			id: "fluss-data-loss", source: agentsData, weight: decides, anchor: "Data loss detected for bucket",
			pattern: p(`Data loss detected for bucket (?P<bucket>\d+): required data is no longer available in the log \(startOffset=(?P<requested>-?\d+), endOffset=(?P<logEnd>-?\d+), earliestOffset=(?P<logStart>-?\d+)\)`),
			cause:   "The recovery point reads bucket {bucket} from {requested}, and its log has {logStart} to {logEnd}. Below the start: table.log.ttl removed the rows. Past the end: the table was recreated or the log was reset.",
			next:    []string{"Stop the restarts of the job first.", validate, points},
		},
		{
			id: "fluss-replay-time", source: agentsData, weight: decides, anchor: "State rebuild timed out after",
			pattern: p(`State rebuild timed out after (?P<time>[^ ]+?)\. Remaining buckets not fully consumed: (?P<buckets>\[[^\]]*\])`),
			cause:   "The restore did not read its window in {time}; the buckets {buckets} are not done. A window that is too large for that time can never be restored, and a tail of empty batches looks the same.",
			next:    []string{validate, "Take a newer recovery point, with a smaller window.", points},
		},
		{
			id: "fluss-offsets-unread", source: agentsData, weight: context, wrapper: true, anchor: "Failed to get offsets for Fluss table",
			pattern: p(`Failed to get offsets for Fluss table: (?P<table>[^ ]+)`),
			cause:   "Where the log of {table} begins and ends could not be read: no leader, no right, or no connection; the cause below it says which.",
			next:    []string{"recoverctl inspect fluss table {table} {fluss}"},
		},
		{
			id: "fluss-restore-failed", source: agentsData, weight: context, wrapper: true, anchor: "Failed to rebuild state from Fluss log table",
			pattern: p(`Failed to rebuild state from Fluss log table`),
			cause:   "The restore of the action state failed; the cause below it, which is not in this text, says why.",
			next:    []string{"Paste the whole exception, down to its last \"Caused by\".", validate},
		},
		{
			id: "fluss-offset-out-of-range", source: fluss, weight: decides, anchor: "The fetching offset",
			pattern: p(`The fetching offset (?P<requested>-?\d+) is out of range`),
			cause:   "A reader asked for offset {requested}, where the bucket's log has no rows any more, or not yet.",
			next:    []string{"recoverctl inspect fluss buckets TABLE {fluss}"},
		},
		{
			id: "fluss-offset-out-of-range", source: fluss, weight: decides, anchor: "but we only have log segments from offset",
			pattern: p(`Received request for offset (?P<requested>-?\d+) for table bucket (?P<table>TableBucket\{[^}]*\}), but we only have log segments from offset (?P<logStart>-?\d+) up to (?P<logEnd>-?\d+)`),
			cause:   "A reader asked for offset {requested} of {table}; on this server the log has {logStart} to {logEnd}. Those are the segments on its disk: older ones may lie in remote storage.",
			next:    []string{"recoverctl inspect fluss buckets TABLE {fluss}"},
		},
		{
			id: "fluss-not-leader", source: fluss, weight: condition, anchor: "is not leader or follower",
			pattern: p(`server (?P<server>\d+) is not leader or follower`),
			cause:   "Server {server} does not hold the bucket: leaders are moving, or the bucket has none. Several new tables like that at once: the coordinator is wedged and needs a restart.",
			next:    []string{"recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "fluss-coordinator-starting", source: fluss, weight: condition, anchor: "CoordinatorEventProcessor is not initialized yet",
			pattern: p(`CoordinatorEventProcessor is not initialized yet`),
			cause:   "The coordinator was started again before ZooKeeper had let its old session go. It answers once that has expired.",
			next:    []string{"Wait for the session timeout (60 s by default), then: recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "fluss-producer-offsets-file", source: fluss, weight: decides, anchor: "Offsets file not found",
			pattern: p(`Offsets file not found: (?P<file>[^ ]+)`),
			cause:   "The stored offsets of a producer point to the file {file}, which is gone: they can't be read, and a new registration says that they exist. Only their expiry ends it.",
			next:    []string{"recoverctl inspect fluss producers {fluss}"},
		},
		{
			id: "fluss-producer-id", source: fluss, weight: condition, anchor: "Invalid producer ID",
			pattern: p(`Invalid producer ID '(?P<producer>[^']*)'`),
			cause:   "{producer} is no id of a producer that the server takes.",
			next:    []string{"recoverctl inspect fluss producers {fluss}"},
		},
	}
}
