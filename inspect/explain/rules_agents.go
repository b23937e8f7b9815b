package explain

// What the next version's restore says of the committed boundary.
func boundaryRules() []rule {
	return []rule{
		{
			id: "below-committed-boundary", source: agentsNext, weight: decides, anchor: "committed cleanup boundary is",
			pattern: p(`Cannot restore Kafka action state for (?P<topic>[^ ]+)-(?P<partition>\d+) from offset (?P<requested>-?\d+) because the committed cleanup boundary is (?P<boundary>\d+)`),
			cause:   "The recovery point is older than a cleanup: it reads partition {partition} of {topic} from {requested}, and everything below {boundary} was given up by a committed cleanup. No restart changes that.",
			next:    []string{"Stop the restarts of the job first.", validate, points, "Restore from a recovery point that is accepted; the one of the cleanup's plan and newer ones are."},
		},
		{
			id: "no-committed-boundary", source: agentsNext, weight: decides, anchor: "contains no committed boundary",
			pattern: p(`Kafka cleanup control topic contains no committed boundary`),
			cause:   "The job has a control topic configured on which no cleanup was committed yet. A job can only start with it once the first cleanup is committed.",
			next:    []string{"Take the control topic out of the job's options, or commit the first cleanup while the job is stopped.", "recoverctl plan cleanup --point {point} --out plan.json {job}"},
		},
		{
			id: "no-marker-while-boundary-committed", source: agentsNext, weight: decides, anchor: "without a recovery marker because cleanup boundary",
			pattern: p(`Cannot initialize Kafka action state without a recovery marker because cleanup boundary (?P<boundary>\{[^}]*\}) is committed`),
			cause:   "The job was started without a recovery point, and a cleanup is committed at {boundary}: a fresh start would not know what was done before.",
			next:    []string{points, "Start the job from a recovery point that is accepted, or give it a new action-state topic and a new control topic."},
		},
		{
			id: "control-topic-missing", source: agentsNext, weight: decides, control: true, anchor: "apply a cleanup plan before enabling",
			pattern: p(`Kafka cleanup control topic (?P<topic>[^ ]+) does not exist; apply a cleanup plan before enabling`),
			cause:   "The configured control topic {topic} does not exist. A restore never makes it: only the first cleanup does.",
			next:    []string{"Check the name. If there was a control topic before, its boundary is lost with it: find out who deleted it before anything is restored.", check},
		},
	}
}

// What the next version's restore says of recovery markers.
func markerRules() []rule {
	return []rule{
		{
			id: "offset-out-of-range", source: agentsNext, weight: decides, anchor: "outside the available range",
			pattern: p(`Cannot rebuild Kafka action state for (?P<topic>[^ ]+)-(?P<partition>\d+): requested offset (?P<requested>-?\d+) is outside the available range \[(?P<logStart>-?\d+), (?P<logEnd>-?\d+)\]`),
			cause:   "The recovery point reads partition {partition} of {topic} from {requested}, and the log has only {logStart} to {logEnd}. Below the start: records were deleted by retention, a cleanup or by hand. Past the end: the log was truncated, the topic recreated, or this is another cluster.",
			next:    []string{"Stop the restarts of the job first.", validate, points},
		},
		{
			id: "marker-topic-id-mismatch", source: agentsNext, weight: decides, anchor: "the recovery marker expects",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) has ID (?P<found>[^ ,]+), but the recovery marker expects (?P<expected>[^ ;]+);`),
			cause:   "The topic {topic} was recreated: it has the id {found}, and the recovery point was taken of {expected}. Its records are gone with the old topic.",
			next:    []string{"Check that the brokers are those of the job's own cluster.", validate, "No recovery point of the old topic can be restored; a job that starts without one repeats its calls."},
		},
		{
			id: "marker-of-other-topic", source: agentsNext, weight: decides, anchor: "recovery marker references topic",
			pattern: p(`recovery marker references topic (?P<marker>[^ ]+), but the configured topic is (?P<topic>[^ ]+)`),
			cause:   "The recovery point belongs to topic {marker}, and the job is configured with {topic}.",
			next:    []string{"Correct kafkaActionStateTopic of the job, or take a recovery point of this job.", points},
		},
		{
			id: "marker-partition-set-mismatch", source: agentsNext, weight: decides, anchor: "recovery marker contains partitions",
			pattern: p(`recovery marker contains partitions (?P<markerPartitions>\[[^\]]*\]), but topic (?P<topic>[^ ]+) currently has partitions (?P<topicPartitions>\[[^\]]*\])`),
			cause:   "The partitions of {topic} changed since the recovery point was taken: it has {markerPartitions}, the topic now {topicPartitions}. Partitions can't be taken away again.",
			next:    []string{validate, "Look for a recovery point that was taken after the change.", points},
		},
		{
			id: "marker-schema-unsupported", source: agentsNext, weight: decides, anchor: "recovery marker schema",
			pattern: p(`Unsupported Kafka (?:action-state )?recovery marker schema (?P<schemaVersion>-?\d+)`),
			cause:   "The recovery point was written by a version of Flink Agents that this one does not know: its marker has schema {schemaVersion}.",
			next:    []string{"Run the job with the version that wrote the recovery point.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "markers-mixed", source: agentsNext, weight: decides, anchor: "mixture of versioned and legacy",
			pattern: p(`Cannot restore from a mixture of versioned and legacy Kafka recovery markers`),
			cause:   "Some subtasks' markers are of releases 0.1 to 0.3 and some of a later version: the recovery point was taken while two versions ran, and no version restores it.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "legacy-marker-with-cleanup", source: agentsNext, weight: decides, anchor: "requires versioned Kafka recovery markers",
			pattern: p(`Checkpoint-aligned cleanup requires versioned Kafka recovery markers(?:; legacy or unsupported marker found: (?P<found>[^ ]+))?`),
			cause:   "The recovery point has a marker of releases 0.1 to 0.3, which does not say of which topic it is: with a control topic configured none of those is restored, and no cleanup is planned from one.",
			next:    []string{"Restore it without the control topic, let the job take a new recovery point, then configure the control topic.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "marker-type-unsupported", source: agentsNext, weight: decides, anchor: "Unsupported Kafka action-state recovery marker:",
			pattern: p(`Unsupported Kafka action-state recovery marker: (?P<found>[^ ]+)`),
			cause:   "An element of the recovery point's markers is a {found}, which is no marker: another operator's state, or another version's.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "marker-null", source: agentsNext, weight: decides, anchor: "recovery marker must not be null",
			pattern: p(`Kafka action-state recovery marker must not be null`),
			cause:   "A subtask's marker is null: the snapshot was taken while the store could not say where it was.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "legacy-marker-types", source: agentsNext, weight: decides, anchor: "must map Integer partitions to Long offsets",
			pattern: p(`Legacy Kafka action-state recovery markers must map Integer partitions to Long offsets`),
			cause:   "A marker is a map that is not one of partitions to offsets.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "legacy-marker-negative", source: agentsNext, weight: decides, anchor: "partitions and offsets must be non-negative",
			pattern: p(`Legacy Kafka action-state recovery marker partitions and offsets must be non-negative`),
			cause:   "A marker holds a partition or an offset below zero.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "topic-changed-while-running", source: agentsNext, weight: decides, anchor: "changed while the job was running",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) changed while the job was running; expected ID (?P<expected>[^ ]+) and partitions (?P<markerPartitions>\[[^\]]*\]) but found ID (?P<found>[^ ]+) and partitions (?P<topicPartitions>\[[^\]]*\])`),
			cause:   "The topic {topic} was recreated or given partitions while the job ran: it had the id {expected} and {markerPartitions}, and has {found} and {topicPartitions}. Until the job is restarted no snapshot of it succeeds.",
			next:    []string{"Find out who changed the topic before the job is restarted.", inspectJob, validate},
		},
		{
			id: "replay-stalled", source: agentsNext, weight: decides, anchor: "replay made no progress for",
			pattern: p(`Kafka action-state replay made no progress for (?P<time>[^ ;]+); current positions are (?P<positions>\{[^}]*\}) and target end offsets are (?P<ends>\{[^}]*\})`),
			cause:   "The restore read no record for {time}: it stands at {positions} and must reach {ends}. A broker does not answer, or an open transaction or a damaged batch lies there.",
			next:    []string{check, "recoverctl validate restore {point} --read-window {job}"},
		},
		{
			id: "offsets-not-returned", source: agentsNext, weight: condition, anchor: "Kafka did not return beginning and end offsets",
			pattern: p(`Kafka did not return beginning and end offsets for (?P<topic>[^ ]+)-(?P<partition>\d+)`),
			cause:   "Kafka did not say where the log of partition {partition} of {topic} begins and ends.",
			next:    []string{inspectJob},
		},
	}
}

// What the next version says of the control topic, on a restore and on a
// cleanup alike.
func controlRules() []rule {
	return []rule{
		{
			id: "control-tombstone", source: agentsNext, weight: decides, anchor: "contains a tombstone for plan",
			pattern: p(`Kafka cleanup control topic contains a tombstone for plan (?P<planId>[^ ;]+);`),
			cause:   "Somebody wrote a tombstone for plan {planId} to the control topic, which would erase its boundary. Every restore and every cleanup is refused while it is there; compaction will take it, and the boundary with it.",
			next:    []string{"Keep a copy of the control topic now, before compaction runs.", control},
		},
		{
			id: "control-status-regression", source: agentsNext, weight: decides, anchor: "regressed applied plan",
			pattern: p(`Cleanup control record regressed applied plan (?P<planId>[^ ]+)`),
			cause:   "Plan {planId} is recorded as APPLIED and then as COMMITTED again: two applies of one plan ran at the same time. Every restore and cleanup is refused.",
			next:    []string{control, "Make sure that no apply is running."},
		},
		{
			id: "control-plan-changed", source: agentsNext, weight: decides, anchor: "changed immutable plan",
			pattern: p(`Cleanup control record changed immutable plan (?P<planId>[^ ]+)`),
			cause:   "Two records of the control topic have the id {planId} and different plans.",
			next:    []string{control},
		},
		{
			id: "control-key-mismatch", source: agentsNext, weight: decides, anchor: "record key does not match its plan ID",
			pattern: p(`Cleanup control record key does not match its plan ID`),
			cause:   "A record of the control topic has another key than its plan's id: something else writes to that topic.",
			next:    []string{control},
		},
		{
			id: "control-key-null", source: agentsNext, weight: decides, anchor: "control record must have a plan ID key",
			pattern: p(`Kafka cleanup control record must have a plan ID key`),
			cause:   "A record of the control topic has no key: something else writes to that topic.",
			next:    []string{control},
		},
		{
			id: "control-field-set", source: agentsNext, weight: decides, anchor: "control record fields must be exactly",
			pattern: p(`Cleanup control record fields must be exactly (?:\[[^\]]*\]), but were (?P<found>\[[^\]]*\])`),
			cause:   "A record of the control topic has the fields {found}: something else writes to that topic, or a version that this one does not know.",
			next:    []string{control},
		},
		{
			id: "incomparable-boundaries", source: agentsNext, weight: decides, anchor: "contains incomparable boundaries",
			pattern: p(`Cleanup control topic contains incomparable boundaries (?P<planId>[^ ]+) and (?P<other>[0-9a-f]+)`),
			cause:   "The plans {planId} and {other} were both committed, and neither is past the other on every partition. No plan can advance this history, and no restore is accepted.",
			next:    []string{control, "The job needs a new control topic: recoverctl guide new-control-topic {job}"},
		},
		{
			id: "boundary-of-other-topic", source: agentsNext, weight: decides, anchor: "a boundary for a different Kafka topic",
			pattern: p(`Cleanup control topic contains a boundary for a different Kafka topic`),
			cause:   "The control topic belongs to another action-state topic, or to one of this name that was recreated since.",
			next:    []string{control},
		},
		{
			id: "boundary-of-other-topic", source: agentsNext, weight: decides, anchor: "not dedicated to one Kafka action-state history",
			pattern: p(`Cleanup control topic is not dedicated to one Kafka action-state history`),
			cause:   "The control topic holds plans of another topic, or of one of this name that was recreated since.",
			next:    []string{control},
		},
		{
			id: "boundary-of-other-partition-set", source: agentsNext, weight: decides, anchor: "Kafka partition set",
			pattern: p(`Cleanup control topic contains (?:a different|incompatible) Kafka partition sets?`),
			cause:   "The control topic's plans have other partitions than the topic: partitions were added. No plan can advance this history.",
			next:    []string{control, "The job needs a new control topic: recoverctl guide new-control-topic {job}"},
		},
		{
			id: "control-topic-partitions", source: agentsNext, weight: decides, control: true, anchor: "must have exactly one partition",
			pattern: p(`Kafka cleanup control topic (?P<topic>[^ ]+) must have exactly one partition`),
			cause:   "The control topic {topic} has more than one partition: the order of its records would not be known.",
			next:    []string{"Make another control topic; the partitions of a topic can't be taken away."},
		},
		{
			id: "control-topic-policy", source: agentsNext, weight: decides, control: true, anchor: "without delete retention",
			pattern: p(`Kafka cleanup control topic (?P<topic>[^ ]+) must use cleanup\.policy=compact without delete retention`),
			cause:   "The control topic {topic} has another cleanup.policy than compact: its boundary could be deleted by time.",
			next:    []string{"kafka-configs --bootstrap-server HOST:PORT --alter --entity-type topics --entity-name {topic} --add-config cleanup.policy=compact", control},
		},
		{
			id: "control-topic-timeout", source: agentsNext, weight: condition, control: true, anchor: "Timed out reading Kafka cleanup control topic",
			pattern: p(`Timed out reading Kafka cleanup control topic (?P<topic>[^ ]+)`),
			cause:   "The control topic {topic} was not read to its end in 30 seconds: a broker is slow, or an open transaction lies on it and hides what follows.",
			next:    []string{control},
		},
		{
			id: "control-topic-same-as-data", source: agentsNext, weight: decides, anchor: "must differ from the data topic",
			pattern: p(`cleanup control topic must differ from the data topic`),
			cause:   "The job's control topic is the action-state topic itself.",
			next:    []string{"Give kafkaActionStateCleanupControlTopic a topic of its own."},
		},
		{
			id: "tombstones-on", source: agentsNext, weight: decides, anchor: "tombstones cannot be enabled with",
			pattern: p(`Per-key Kafka tombstones cannot be enabled with checkpoint-aligned cleanup`),
			cause:   "The job has both tombstones and a control topic configured; the two ways of deleting exclude each other.",
			next:    []string{"Leave one of them: recoverctl guide leave-tombstones {job}"},
		},
		{
			id: "control-topic-invalid", source: agentsNext, weight: context, wrapper: true, control: true, anchor: "create or validate Kafka cleanup control topic",
			pattern: p(`Failed to create or validate Kafka cleanup control topic (?P<topic>[^ ]+)`),
			cause:   "The control topic {topic} could not be made or checked; the cause below it says why.",
			next:    []string{check},
		},
	}
}

// What a cleanup by the Java tool says.
func cleanupRules() []rule {
	return []rule{
		{
			id: "data-topic-config-unsafe", source: agentsNext, weight: decides, anchor: "before checkpoint-aligned cleanup can be committed",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) must use cleanup\.policy=compact,delete with retention\.ms=-1 and retention\.bytes=-1 before checkpoint-aligned cleanup can be committed`),
			cause:   "The settings of {topic} don't permit a cleanup: either nothing may be deleted at all, or retention deletes by itself.",
			next:    []string{inspectJob, "recoverctl plan settings --out settings.json {job}"},
		},
		{
			id: "plan-topic-id-mismatch", source: agentsNext, weight: decides, anchor: "but cleanup plan",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) has ID (?P<found>[^ ,]+), but cleanup plan (?P<planId>[^ ]+) expects (?P<expected>[^ ]+)`),
			cause:   "The plan {planId} was made for the topic with id {expected}; {topic} now has {found}: it was recreated, or this is another cluster.",
			next:    []string{"The plan can't be used any more. Make a new one from a recovery point of the topic as it is.", control},
		},
		{
			id: "plan-partition-set-mismatch", source: agentsNext, weight: decides, anchor: "but cleanup plan",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) has partitions (?P<topicPartitions>\[[^\]]*\]), but cleanup plan (?P<planId>[^ ]+) expects (?P<planPartitions>\[[^\]]*\])`),
			cause:   "The plan {planId} has the partitions {planPartitions}, and {topic} has {topicPartitions}.",
			next:    []string{"The plan can't be used any more. Make a new one from a recovery point that was taken since."},
		},
		{
			id: "topic-id-changed-during-cleanup", source: agentsNext, weight: decides, anchor: "changed during cleanup",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) changed during cleanup; expected ID (?P<expected>[^ ]+) but found (?P<found>[^ ]+)`),
			cause:   "The topic {topic} was recreated while it was cleaned up: its id was {expected} and is {found}. Records of the new topic may have been deleted.",
			next:    []string{"Stop the job, and find out who recreates the topic.", control, inspectJob},
		},
		{
			id: "partition-set-changed-during-cleanup", source: agentsNext, weight: decides, anchor: "changed partitions during cleanup",
			pattern: p(`Kafka action-state topic (?P<topic>[^ ]+) changed partitions during cleanup; expected (?P<planPartitions>\[[^\]]*\]) but found (?P<topicPartitions>\[[^\]]*\])`),
			cause:   "Partitions were added to {topic} while it was cleaned up: {planPartitions} became {topicPartitions}.",
			next:    []string{control, "The job needs a new control topic: recoverctl guide new-control-topic {job}"},
		},
		{
			id: "boundary-not-advanced", source: agentsNext, weight: decides, anchor: "does not advance the committed boundary",
			pattern: p(`Cleanup plan (?P<planId>[^ ]+) does not advance the committed boundary (?P<boundary>\{[^}]*\})`),
			cause:   "The plan {planId} lies below the boundary {boundary}, which is in force already.",
			next:    []string{control, "Make a plan from a newer recovery point."},
		},
		{
			id: "offset-unavailable", source: agentsNext, weight: decides, anchor: "Cannot commit Kafka cleanup boundary",
			pattern: p(`Cannot commit Kafka cleanup boundary for (?P<topic>[^ ]+)-(?P<partition>\d+) at offset (?P<requested>-?\d+) because the available range is \[(?P<logStart>-?\d+), (?P<logEnd>-?\d+)\]`),
			cause:   "The plan would cut partition {partition} of {topic} at {requested}, and its log has {logStart} to {logEnd}.",
			next:    []string{inspectJob, "Make a plan from another recovery point; one below the log start can't be restored any more."},
		},
		{
			id: "log-start-below-target", source: agentsNext, weight: decides, anchor: "but beginning offset is",
			pattern: p(`Kafka cleanup for (?P<topic>[^ ]+)-(?P<partition>\d+) requested offset (?P<requested>-?\d+) but beginning offset is (?P<logStart>-?\d+|null)`),
			cause:   "After the deletion the log of partition {partition} of {topic} still begins at {logStart}, and not at {requested}. The boundary is in force; the plan is unfinished.",
			next:    []string{"The same plan finishes it once the cause is gone.", control},
		},
		{
			id: "replication-factor-range", source: agentsNext, weight: decides, anchor: "replication factor must be between",
			pattern: p(`Kafka cleanup control topic replication factor must be between 1 and \d+, but was (?P<found>-?\d+)`),
			cause:   "The replication factor {found} for the control topic is none.",
			next:    []string{"Give 1 to 32767, and not more than there are brokers."},
		},
	}
}

// What a restore says of a record, and what goes wrong while records are
// written.
func recordRules() []rule {
	return []rule{
		{
			id: "record-value-undecodable", source: agents, weight: decides, anchor: "Error deserializing",
			pattern: p(`Error deserializing (?:key/value|KEY|VALUE|key|value) for partition (?P<topic>[^ ]+)-(?P<partition>\d+) at offset (?P<offset>\d+)`),
			cause:   "The record at offset {offset} of partition {partition} of {topic} can't be decoded, and a restore that reads it stops there.",
			next:    []string{"recoverctl inspect records --partition {partition} --from {offset} --to {offset} {job}", "recoverctl validate restore {point} --read-window {job}"},
		},
		{
			id: "record-value-unknown-field", source: agents, weight: decides, anchor: "not marked as ignorable",
			pattern: p(`Unrecognized field "(?P<field>[^"\\]{1,200})(?:"|\\") \(class (?P<class>[\w.$]+)\), not marked as ignorable`),
			cause:   "A record was written by another version of Flink Agents: it has the field {field}, which {class} does not know.",
			next:    []string{"recoverctl validate restore {point} --read-window {job}", "Run the version that wrote the record, or one that knows the field."},
		},
		{
			id: "record-memory-value", source: agents, weight: decides, anchor: "MemoryUpdate value",
			pattern: p(`(?:Expected a Kryo-envelope MemoryUpdate value but found: |Unsupported MemoryUpdate value envelope version: )(?P<found>[^ ]{1,200})`),
			cause:   "A record's memory value has a form that this version does not take: {found}.",
			next:    []string{"recoverctl validate restore {point} --read-window {job}"},
		},
		{
			id: "action-state-not-written", source: agents, weight: context, wrapper: true, anchor: "Failed to persist ActionState",
			pattern: p(`Failed to persist ActionState`),
			cause:   "An action's state could not be written to its store; the cause below it says why. A call that was made just before may be missing on record.",
			next:    []string{"recoverctl inspect calls {job}"},
		},
		{
			id: "action-state-not-written", source: agents, weight: context, wrapper: true, anchor: "Failed to send action state to Kafka",
			pattern: p(`Failed to send action state to Kafka`),
			cause:   "An action's state could not be written to Kafka; the cause below it says why. A call that was made just before may be missing on record.",
			next:    []string{"recoverctl inspect calls {job}"},
		},
		{
			id: "restore-failed", source: agents, weight: context, wrapper: true, anchor: "Failed to rebuild state from Kafka",
			pattern: p(`Failed to rebuild state from Kafka`),
			cause:   "The restore of the action state failed; the cause below it, which is not in this text, says why.",
			next:    []string{"Paste the whole exception, down to its last \"Caused by\".", validate},
		},
		{
			id: "snapshot-failed", source: agents, weight: context, wrapper: true, anchor: "Failed to verify Kafka topic",
			pattern: p(`Failed to verify Kafka topic(?:: (?P<topic>[^ ]+))?`),
			cause:   "A snapshot failed because the action-state topic could not be described; the cause below it says why.",
			next:    []string{check},
		},
		{
			id: "topic-not-verified", source: agents, weight: context, wrapper: true, anchor: "Failed to create or verify Kafka topic",
			pattern: p(`Failed to create or verify Kafka topic(?:: (?P<topic>[^ ]+))?`),
			cause:   "The job could not list or make its topic when it started. It waits no longer than 100 ms for the list of topics in releases 0.1 to 0.3: a slow cluster looks like a broken one.",
			next:    []string{"Start the job again; if it fails again, look at the cause below it.", check},
		},
		{
			id: "topic-not-configured", source: agents, weight: condition, anchor: "Kafka action state topic must be configured",
			pattern: p(`Kafka action state topic must be configured`),
			cause:   "The action-state backend is Kafka, and no topic is configured.",
			next:    []string{"Set kafkaActionStateTopic in the job's options."},
		},
	}
}

// What only releases 0.1 to 0.3 say.
func releasedRules() []rule {
	return []rule{
		{
			id: "released-key-format", source: agents03, weight: decides, anchor: "Invalid key format.",
			pattern: p(`Invalid key format\.`),
			cause:   "A key of the job has an underscore in its text, which these releases can't take apart again. The job fails each time that it looks such a key up.",
			next:    []string{"recoverctl inspect calls --status open {job}", "Keep underscores out of the keys, or run the next version, whose records hold a digest in place of the key."},
		},
		{
			id: "released-key-empty", source: agents03, weight: decides, anchor: "First part of the key cannot be empty",
			pattern: p(`First part of the key cannot be empty`),
			cause:   "A key of the job has an empty text, or one that begins with an underscore: these releases refuse to write its action state.",
			next:    []string{"Keep such keys out of the stream, or run the next version."},
		},
		{
			id: "action-state-undecodable", source: agents03, weight: context, wrapper: true, anchor: "Failed to deserialize ActionState",
			pattern: p(`Failed to deserialize ActionState(?: for topic: (?P<topic>[^ ]+))?`),
			cause:   "A record's value is no action state of this release; the cause below it says what is wrong with it.",
			next:    []string{"recoverctl validate restore {point} --read-window {job}"},
		},
		{
			id: "marker-ignored", source: agents03, weight: decides, anchor: "Ignoring unrecognized recovery marker type",
			pattern: p(`Ignoring unrecognized recovery marker type: (?P<found>[^ ]+)`),
			cause:   "A marker of class {found} was passed over: it was written by another version, and what it stands for is not replayed. Calls that are on record run again.",
			next:    []string{"Stop the job before it goes on.", "recoverctl inspect point {point} {profile}", validate},
		},
	}
}
