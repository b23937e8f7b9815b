package explain

// What Kafka's brokers and its Java client say of writes, damage and connections.
func kafkaRunRules() []rule {
	return []rule{
		{
			id: "kafka-batch-expired", source: kafka, weight: condition, anchor: "ms has passed since batch creation",
			pattern: p(`Expiring (?P<records>\d+) record\(s\) for (?P<topic>[^ ]+)-(?P<partition>\d+):(?P<waited>\d+) ms has passed since batch creation`),
			cause:   "{records} records for partition {partition} of {topic} were given up after {waited} ms without an answer. They may or may not be in the log: an action whose state they are may have made its call already.",
			next:    []string{"recoverctl inspect calls --status open {job}", check},
		},
		{
			id: "kafka-replicas-missing", source: kafka, weight: condition, anchor: "fewer in-sync replicas than required",
			pattern: p(`Messages are (?P<what>rejected since there are|written to the log, but to) fewer in-sync replicas than required`),
			cause:   "A partition has fewer replicas in sync than min.insync.replicas asks for: brokers are down or behind. No action state is written there until they are back.",
			next:    []string{inspectJob, "Bring the brokers back; lowering min.insync.replicas risks the records that prove what was done."},
		},
		{
			id: "kafka-no-leader", source: kafka, weight: condition, anchor: "in the middle of a leadership election",
			pattern: p(`There is no leader for this topic-partition as we are in the middle of a leadership election`),
			cause:   "A partition has no leader: its brokers are down, or it is moving. Nothing is read from it or written to it.",
			next:    []string{inspectJob},
		},
		{
			id: "kafka-log-truncated", source: kafka, weight: decides, anchor: "Truncation detected for partition",
			pattern: p(`Truncation detected for partition (?P<topic>[^ ]+)-(?P<partition>\d+) at offset (?:FetchPosition\{offset=)?(?P<requested>\d+)`),
			cause:   "The log of partition {partition} of {topic} was cut below {requested}, where a reader stood: a leader was elected without all records, and records that were acknowledged are lost.",
			next:    []string{"Compare the replicas before anything is cleaned up.", inspectJob},
		},
		{
			id: "kafka-offset-reset", source: kafka, weight: condition, anchor: "Resetting offset for partition",
			pattern: p(`Resetting offset for partition (?P<topic>[^ ]+)-(?P<partition>\d+) to position FetchPosition\{offset=(?P<offset>\d+)`),
			cause:   "A reader of partition {partition} of {topic} went on at {offset}, by its reset policy and not by its own position: what lay between is not read, or is read again.",
			next:    []string{"Look at which source it was, and what lay between."},
		},
		{
			id: "kafka-topic-recreated", source: kafka, weight: decides, anchor: "This server does not host this topic ID",
			pattern: p(`This server does not host this topic ID`),
			cause:   "The topic was deleted or recreated while a client had it open: the id that it knew is none of this cluster any more.",
			next:    []string{inspectJob, "Find out who recreated the topic before the job is restarted."},
		},
		{
			id: "kafka-topic-recreated", source: kafka, weight: decides, anchor: "topic ID did not match the topic ID in the request",
			pattern: p(`The log's topic ID did not match the topic ID in the request`),
			cause:   "The topic was recreated while a client had it open.",
			next:    []string{inspectJob, "Find out who recreated the topic before the job is restarted."},
		},
		{
			id: "kafka-record-damaged", source: kafka, weight: decides, anchor: "is invalid, cause: ",
			pattern: p(`Record (?:batch )?for partition (?P<topic>[^ ]+)-(?P<partition>\d+) at offset (?P<offset>\d+) is invalid, cause: (?P<what>.{0,200}?)(?: at |$)`),
			cause:   "The record at offset {offset} of partition {partition} of {topic} is damaged, and every reader stops there: {what}",
			next:    []string{"recoverctl inspect records --partition {partition} --from {offset} --to {offset} {job}", "Look whether another replica has it whole before the leader is changed."},
		},
		{
			id: "kafka-record-damaged", source: kafka, weight: decides, anchor: "Encountered corrupt message when fetching offset",
			pattern: p(`Encountered corrupt message when fetching offset (?P<offset>\d+) for topic-partition (?P<topic>[^ ]+)-(?P<partition>\d+)`),
			cause:   "The record at offset {offset} of partition {partition} of {topic} is damaged on its broker, and every reader stops there.",
			next:    []string{"recoverctl inspect records --partition {partition} --from {offset} --to {offset} {job}", "Look whether another replica has it whole before the leader is changed."},
		},
		{
			id: "kafka-broker-disk", source: kafka, weight: condition, anchor: "Disk error when trying to access log file",
			pattern: p(`Disk error when trying to access log file on the disk`),
			cause:   "A broker's disk failed: partitions on it have no leader there.",
			next:    []string{inspectJob},
		},
		{
			id: "kafka-connection", source: kafka, weight: condition, anchor: ") could not be established",
			pattern: p(`Connection to node (?P<node>-?\d+) \((?P<address>[^)]{1,300})\) could not be established`),
			cause:   "Broker {node} at {address} takes no connection: it is down, the address is not reachable from there, or the listener wants TLS.",
			next:    []string{check},
		},
		{
			id: "kafka-bootstrap", source: kafka, weight: condition, anchor: "given in bootstrap.servers",
			pattern: p(`No resolvable bootstrap urls given in bootstrap\.servers`),
			cause:   "No name of the brokers' addresses is known to DNS there.",
			next:    []string{check},
		},
		{
			id: "kafka-producer-fenced", source: kafka, weight: condition, anchor: "There is a newer producer with the same transactionalId",
			pattern: p(`There is a newer producer with the same transactionalId which fences the current one`),
			cause:   "Another producer with the same transactional id has begun since: two jobs, or an old and a new attempt of one, write at the same time.",
			next:    []string{"Make sure that only one of them runs before anything is restored.", inspectJob},
		},
		{
			id: "kafka-transaction-time", source: kafka, weight: condition, anchor: "The transaction timeout is larger than the maximum value",
			pattern: p(`The transaction timeout is larger than the maximum value allowed by the broker`),
			cause:   "The sink's transaction.timeout.ms is above the brokers' transaction.max.timeout.ms (15 minutes by default), and the job does not start.",
			next:    []string{"Lower transaction.timeout.ms of the sink, but keep it above the longest time between two checkpoints, or raise the brokers' own."},
		},
		{
			id: "kafka-transaction-gone", source: kafka, weight: decides, anchor: "not currently assigned to its transactional id",
			pattern: p(`The producer attempted to use a producer id which is not currently assigned to its transactional id`),
			cause:   "A transaction that a recovery point was to commit is gone: it timed out at the brokers before the restore, and its records are lost.",
			next:    []string{"Find out which records of the sink are missing since that recovery point.", points},
		},
	}
}
