package explain

// What Kafka's brokers and its Java client say.
func kafkaRules() []rule {
	return []rule{
		{
			id: "kafka-position-out-of-range", source: kafka, weight: decides, anchor: "is out of range for partition",
			pattern: p(`Fetch position FetchPosition\{offset=(?P<requested>-?\d+),.{0,300}? is out of range for partition (?P<topic>[^ ]+)-(?P<partition>\d+)`),
			cause:   "A reader stood at offset {requested} of partition {partition} of {topic}, where the log has no records: they were deleted meanwhile, or the log was cut.",
			next:    []string{inspectJob},
		},
		{
			id: "kafka-offsets-out-of-range", source: kafka, weight: decides, anchor: "out of range with no configured reset policy",
			pattern: p(`Offsets out of range with no configured reset policy for partitions: (?P<positions>\{[^}]*\})`),
			cause:   "A reader stood at {positions}, where the log has no records: they were deleted meanwhile, or the log was cut.",
			next:    []string{inspectJob},
		},
		{
			id: "kafka-no-position", source: kafka, weight: condition, anchor: "Undefined offset with no reset policy",
			pattern: p(`Undefined offset with no reset policy for partitions: (?P<positions>\[[^\]]*\])`),
			cause:   "A reader had no place to begin at on {positions}: its group has no committed offset, or that expired.",
			next:    []string{"A source whose offsets are gone begins where its settings say: look at them before the job is started."},
		},
		{
			id: "broker-offset-out-of-range", source: kafka, weight: decides, anchor: "is not within the range of offsets maintained by the server",
			pattern: p(`The requested offset is not within the range of offsets maintained by the server`),
			cause:   "A broker was asked for, or told to delete up to, an offset that its log does not have. Of a deletion, other partitions may have been cut all the same: it is not all or nothing.",
			next:    []string{inspectJob, control},
		},
		{
			id: "kafka-log-truncated", source: kafka, weight: decides, anchor: "LogTruncationException",
			pattern: p(`LogTruncationException(?:: (?P<what>[^\n]{0,200}))?`),
			cause:   "A leader was elected without all records: records that were acknowledged are lost.",
			next:    []string{"Compare the replicas before anything is cleaned up.", inspectJob},
		},
		{
			id: "broker-unknown-topic", source: kafka, weight: condition, anchor: "This server does not host this topic-partition",
			pattern: p(`This server does not host this topic-partition`),
			cause:   "The topic or partition does not exist on this cluster, or this user may not see it; just after it was made a broker may not know it yet.",
			next:    []string{check},
		},
		{
			id: "kafka-topic-not-in-metadata", source: kafka, weight: condition, anchor: "not present in metadata after",
			pattern: p(`Topic (?P<topic>[^ ]+) not present in metadata after (?P<waited>\d+) ms`),
			cause:   "In {waited} ms the client did not learn of topic {topic}: it does not exist, or no broker answers.",
			next:    []string{check},
		},
		{
			id: "kafka-no-broker", source: kafka, weight: condition, anchor: "Timed out waiting for a node assignment",
			pattern: p(`Timed out waiting for a node assignment\.(?: Call: (?P<call>\w+))?`),
			cause:   "No broker answered: the addresses are wrong, the brokers are down, or the listener wants TLS or a login.",
			next:    []string{check},
		},
		{
			id: "kafka-offsets-timeout", source: kafka, weight: condition, anchor: "Failed to get offsets by times in",
			pattern: p(`Failed to get offsets by times in (?P<waited>\d+)ms`),
			cause:   "In {waited} ms no leader said where its log begins or ends: the topic does not exist, or a partition has no leader.",
			next:    []string{inspectJob},
		},
		{
			id: "kafka-policy-violation", source: kafka, weight: decides, anchor: "do not satisfy the configured policy",
			pattern: p(`Request parameters do not satisfy the configured policy`),
			cause:   "The broker refused by policy. Of a deletion of records: the topic's cleanup.policy has no delete in it, as the released jobs make it. Of a new topic or a setting: the cluster's own policy.",
			next:    []string{inspectJob, "recoverctl plan settings --out settings.json {job}"},
		},
		{
			id: "kafka-topic-exists", source: kafka, weight: condition, anchor: "TopicExistsException",
			pattern: p(`TopicExistsException: Topic '(?P<topic>[^']+)' already exists`),
			cause:   "Two subtasks made the topic {topic} at the same time, and the slower one failed the job. Releases 0.1 to 0.3 do that with a parallelism of two or more.",
			next:    []string{"Start the job again: the topic is there now."},
		},
		{
			id: "broker-invalid-replication-factor", source: kafka, weight: condition, anchor: "InvalidReplicationFactorException",
			pattern: p(`InvalidReplicationFactorException: .{0,120}?replication factor of (?P<found>\d+) cannot be reached because only (?P<brokers>\d+) broker`),
			cause:   "The topic can't be made with {found} replicas: there are {brokers} brokers.",
			next:    []string{"Take a smaller replication factor, or wait until the other brokers are back."},
		},
		{
			id: "kafka-key-missing", source: kafka, weight: condition, anchor: "Compacted topic cannot accept message without key",
			pattern: p(`Compacted topic cannot accept message without key in topic partition (?P<topic>[^ ]+)-(?P<partition>\d+)`),
			cause:   "Something other than a Flink Agents job writes to {topic}: it sent a record without a key, which was refused.",
			next:    []string{"Find out who else writes to the topic.", "recoverctl inspect calls --status all {job}"},
		},
		{
			id: "kafka-record-too-large", source: kafka, weight: condition, anchor: "RecordTooLargeException",
			pattern: p(`RecordTooLargeException: (?P<what>[^:]{0,200}?(?:will accept|configuration)[^ ]*)`),
			cause:   "An action state is larger than the topic or the producer takes, so that its calls are not on record.",
			next:    []string{"Raise max.message.bytes of the topic and max.request.size of the producer, or make results smaller.", "recoverctl inspect calls --status open {job}"},
		},
		{
			id: "kafka-login-refused", source: kafka, weight: condition, anchor: "SaslAuthenticationException",
			pattern: p(`SaslAuthenticationException: (?P<what>.{0,200}?)(?: Caused by| at |$)`),
			cause:   "The brokers refuse the login: {what}",
			next:    []string{check},
		},
		{
			id: "kafka-not-authorized", source: kafka, weight: condition, anchor: "Not authorized to access topics",
			pattern: p(`Not authorized to access topics: \[(?P<topic>[^\], ]+)[^\]]*\]`),
			cause:   "The job's user may not read, write or describe {topic}.",
			next:    []string{"kafka-acls --bootstrap-server HOST:PORT --list --topic {topic}", check},
		},
		{
			id: "kafka-not-authorized", source: kafka, weight: condition, anchor: "opic authorization failed",
			pattern: p(`Topic authorization failed(?: for topics \[(?P<topic>[^\], ]+)[^\]]*\])?`),
			cause:   "The job's user lacks a right on a topic.",
			next:    []string{check},
		},
		{
			id: "kafka-tls", source: kafka, weight: condition, anchor: "SSL handshake failed",
			pattern: p(`SSL handshake failed`),
			cause:   "Client and broker do not agree on TLS: the broker's certificate is not trusted, a client certificate is missing, or the listener is another one.",
			next:    []string{check},
		},
		{
			id: "kafka-old-producer", source: kafka, weight: condition, anchor: "with an old epoch",
			pattern: p(`Producer attempted to produce with an old epoch`),
			cause:   "Another producer with the same transactional id has begun since: two jobs, or an old and a new attempt of one, write at the same time.",
			next:    []string{"Make sure that only one of them runs before anything is restored.", inspectJob},
		},
	}
}
