package explain

// What Flink Agents says of durable calls while a job runs, and of the state that
// it keeps in recovery points.
func callRules() []rule {
	return []rule{
		{
			id: "call-sequence-changed", source: agents, weight: decides, anchor: "Non-deterministic call detected at index",
			pattern: p(`Non-deterministic call detected at index (?P<index>\d+): expected functionId=(?P<expected>[^,]{0,300}), argsDigest=(?P<expectedDigest>[^,]{0,200}), but got functionId=(?P<found>[^,]{0,300}), argsDigest=(?P<foundDigest>[^ ]{0,200})\. Clearing`),
			cause:   "The action made another call at place {index} than the one on record: {found} in place of {expected}, or the same with other arguments. The recorded results from there on were thrown away, and those calls are made again.",
			next:    []string{"recoverctl inspect calls --status open {job}", "Find out whether the program changed since the recovery point, or its calls depend on time or chance. What was paid by the recorded calls has to be checked at the other side."},
		},
		{
			id: "call-slot", source: agents, weight: decides, anchor: " call at index ",
			pattern: p(`Cannot (?:append pending|finalize current) call at index (?P<index>\d+) (?:when|because) (?P<what>(?:a|no|the) persisted slot (?:already exists|exists|is not pending|does not match functionId=[^,]{0,300}, argsDigest=[^ ]{0,200}))`),
			cause:   "The record of durable call {index} is not as the running action expects it: {what}. Two attempts of the action write it, or its code makes other calls than those on record.",
			next:    []string{"recoverctl inspect calls --status open {job}", "Make sure that only one job writes to the topic."},
		},
		{
			id: "call-not-terminal", source: agents, weight: decides, anchor: "Expected a terminal durable call result",
			pattern: p(`Expected a terminal durable call result at index (?P<index>\d+) for functionId=(?P<function>[^,]{0,300}), argsDigest=(?P<digest>[^ ]{0,200})`),
			cause:   "Durable call {index} of {function} was started, and no outcome is on record: it may or may not have been made.",
			next:    []string{"recoverctl inspect calls --status pending {job}", "Ask the other side whether the call was made before the action runs again."},
		},
		{
			id: "action-state-not-kept", source: agents, weight: decides, anchor: "Producer is null, cannot put action state to Kafka",
			pattern: p(`Producer is null, cannot put action state to Kafka`),
			cause:   "The store was closed, and an action went on: its state, with the calls that it made, is not on record.",
			next:    []string{"recoverctl inspect calls --status open {job}", "What that action called has to be checked at the other side."},
		},
		{
			id: "record-skipped", source: agents, weight: decides, anchor: "Failed to deserialize action state record",
			pattern: p(`Failed to deserialize action state record`),
			cause:   "A restore passed over a record of the topic that it could not take: what was done in that action is forgotten, and its calls are made again.",
			next:    []string{"Stop the job before it goes on.", "recoverctl validate restore {point} --read-window {job}"},
		},
		{
			id: "key-not-parsed", source: agents, weight: condition, anchor: "from state key: ",
			pattern: p(`Failed to parse sequence number from state key: (?P<key>.{1,300}?)$`),
			cause:   "A key of the topic could not be taken apart ({key}), as with a key that has an underscore in its text: what belongs to it is not pruned, and a restore may not find it again.",
			next:    []string{"recoverctl inspect calls --status open {job}"},
		},
		{
			id: "identifier-differs", source: agents, weight: decides, anchor: "Values in list state are not the same",
			pattern: p(`Values in list state are not the same\. This is unexpected\.`),
			cause:   "The subtasks' identifier_state differs: the recovery point holds the state of two jobs. Flink Agents restores none of it.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "state-not-fresh", source: agents, weight: decides, anchor: "value for a fresh state but found",
			pattern: p(`Expecting 0 value for a fresh state but found (?P<found>\d+)\.`),
			cause:   "A state that is empty at a first start has {found} values: the recovery point is not one of this job.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "processing-keys", source: agents, weight: decides, anchor: "Current processing key count for key",
			pattern: p(`Current processing key count for key (?P<key>.{1,300}?) should be 1, but got (?P<found>\d+)`),
			cause:   "The key {key} is {found} times among those that were being processed: after a restore the key is not found again under its own hash, or is there twice. The job fails each time that it comes to this key.",
			next:    []string{"recoverctl inspect point {point} --keys {profile}", "Give the key a stable hashCode and equals, as with a text or a number."},
		},
		{
			id: "processing-keys", source: agents, weight: decides, anchor: "is missing from the segmentedQueue",
			pattern: p(`Current key ?(?P<key>.{1,300}?) is missing from the segmentedQueue`),
			cause:   "The key {key} is not among those that were being processed: it is not found again under its own hash.",
			next:    []string{"recoverctl inspect point {point} --keys {profile}", "Give the key a stable hashCode and equals, as with a text or a number."},
		},
		{
			id: "action-failed", source: agents, weight: context, wrapper: true, anchor: "Failed to execute action task",
			pattern: p(`Failed to execute action task`),
			cause:   "An action failed, and the job with it; the cause below it says why. Its calls that are on record are not made again.",
			next:    []string{"recoverctl inspect calls --status open {job}"},
		},
		{
			id: "action-state-not-written", source: agents, weight: condition, wrapper: true, anchor: "Failed to serialize ActionState",
			pattern: p(`Failed to serialize ActionState(?: for topic: (?P<topic>[^ ]+))?`),
			cause:   "An action's state could not be made into a record, so that its calls are not on record: a result or an event has a type that JSON can't hold.",
			next:    []string{"recoverctl inspect calls --status open {job}"},
		},
	}
}
