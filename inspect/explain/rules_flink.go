package explain

// What Flink says when a recovery point is loaded, restored or taken.
func flinkRules() []rule {
	return []rule{
		{
			id: "operator-not-in-program", source: flink, weight: decides, anchor: "Cannot map checkpoint/savepoint state for operator",
			pattern: p(`Failed to rollback to checkpoint/savepoint (?P<point>[^ ]+?)\.? Cannot map checkpoint/savepoint state for operator (?P<operator>[0-9a-f]+) to the new program`),
			cause:   "The recovery point holds state of operator {operator}, which the job as it is started now does not have: its graph changed, and an operator without a uid gets another id. Allowing non-restored state would start the job without that state; for the agent operator that is its recovery markers, and calls run again.",
			next:    []string{"recoverctl inspect point {point} {profile}", "Give the operator the uid or the uid hash that the recovery point has (setUidHash), or start the program that took it. --allowNonRestoredState throws the state away."},
		},
		{
			id: "max-parallelism-mismatch", source: flink, weight: decides, anchor: "Max parallelism mismatch between",
			pattern: p(`Failed to rollback to checkpoint/savepoint (?P<point>[^ ]+?)\.? Max parallelism mismatch between checkpoint/savepoint state and new program\. Cannot map operator (?P<operator>[0-9a-f]+) with max parallelism (?P<found>\d+) to new program with max parallelism (?P<expected>\d+)`),
			cause:   "Operator {operator} had the max parallelism {found} when the recovery point was taken and has {expected} now; it can't be changed.",
			next:    []string{"Start the job with pipeline.max-parallelism: {found}", "recoverctl validate restore {point} --max-parallelism {expected} {job}"},
		},
		{
			id: "max-parallelism-lower", source: flink, weight: decides, anchor: "is lower than the configured parallelism",
			pattern: p(`The state for task (?P<task>.{1,200}?) can not be restored\. The maximum parallelism \((?P<found>\d+)\) of the restored state is lower than the configured parallelism \((?P<expected>\d+)\)`),
			cause:   "The task {task} is started with {expected} subtasks, and its state can be spread over {found} at most.",
			next:    []string{"Start the job with a parallelism of at most {found}."},
		},
		{
			id: "point-missing", source: flink, weight: decides, anchor: "Cannot find checkpoint or savepoint file/directory",
			pattern: p(`Cannot find checkpoint or savepoint file/directory '(?P<point>[^']+)' on file system '(?P<system>[^']*)'`),
			cause:   "There is nothing at {point}, as seen from the machine that wrote this: it was discarded, moved, or lies on another machine's disk.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "metadata-missing", source: flink, weight: decides, anchor: "Cannot find meta data file '_metadata'",
			pattern: p(`Cannot find meta data file '_metadata' in directory '(?P<point>[^']+)'`),
			cause:   "The folder {point} has no _metadata: the checkpoint was never completed, is being deleted, or this is the folder above it.",
			next:    []string{points, "recoverctl inspect points {point} {profile}"},
		},
		{
			id: "metadata-magic", source: flink, weight: decides, anchor: "Unexpected magic number.",
			pattern: p(`Unexpected magic number\. This can have multiple reasons`),
			cause:   "The file does not begin as Flink's metadata does: it is another file, or it is damaged.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "metadata-version", source: flink, weight: decides, anchor: "Unrecognized checkpoint version number",
			pattern: p(`Unrecognized checkpoint version number: (?P<version>-?\d+)`),
			cause:   "The metadata has version {version}, which this Flink does not read: it was written by a newer Flink, or is damaged. Version 6 needs Flink 2.x; 1.20 writes version 4.",
			next:    []string{"recoverctl inspect point {point} {profile}", "Restore it with the Flink version that wrote it, or a newer one."},
		},
		{
			id: "metadata-truncated", source: flink, weight: decides, anchor: "java.io.EOFException",
			pattern: p(`java\.io\.EOFException(?: at [^ ]+(?: ~?\[[^\]]*\])?){1,8}? at org\.apache\.flink\.runtime\.checkpoint\.metadata\.`),
			cause:   "The metadata ends too early: the file was cut, by a copy that was not finished or by a full disk.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "point-not-a-path", source: flink, weight: decides, anchor: "is not a valid file URI",
			pattern: p(`Checkpoint/savepoint path '(?P<point>[^']+)' is not a valid file URI`),
			cause:   "{point} is no address of a recovery point.",
			next:    []string{"Give the whole address with its scheme, as in file:/… or s3://…", points},
		},
		{
			id: "file-system-unknown", source: flink, weight: condition, anchor: "Could not find a file system implementation for scheme",
			pattern: p(`Could not find a file system implementation for scheme '(?P<scheme>[^']+)'`),
			cause:   "This Flink has no plugin for {scheme}: addresses, the recovery point may be whole.",
			next:    []string{"Put the plugin for {scheme} into the plugins folder of the JobManager and of the TaskManagers.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "file-system-unreachable", source: flink, weight: context, wrapper: true, anchor: "Cannot access file system for checkpoint/savepoint path",
			pattern: p(`Cannot access file system for checkpoint/savepoint path '(?P<point>[^']+)'`),
			cause:   "The JobManager can't reach the file system of {point}; the cause below it says why.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "state-null-element", source: flink, weight: decides, anchor: "You cannot add null to a ListState",
			pattern: p(`You cannot add null to a ListState`),
			cause:   "A list state of the recovery point holds a null, which Flink writes and can't read back. With the agent operator it is a recovery marker: the store did not say where it was when the snapshot was taken.",
			next:    []string{"recoverctl inspect point {point} {profile}", "This recovery point can't be restored by any Flink. Take an older or a newer one.", points},
		},
		{
			id: "state-not-restored", source: flink, weight: context, wrapper: true, anchor: "provided restore options",
			pattern: p(`Could not restore (?P<backend>[a-z ]*state backend) for (?P<operator>\w+)_\((?P<subtask>\d+)/(?P<parallelism>\d+)\) from any of the (?P<options>\d+) provided restore options`),
			cause:   "The {backend} of subtask {subtask} of {parallelism} of {operator} could not be restored; the cause below it says why. Often a file that the recovery point references is gone.",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "state-serializer-incompatible", source: flink, weight: decides, anchor: "must not be incompatible",
			pattern: p(`(?:For heap backends, the new state serializer \((?P<now>[^)]{1,200})\) must not be incompatible with the old state serializer \((?P<then>[^)]{1,200})\)|[Tt]he new (?:key |value |state )?(?:typeSerializer|priority queue serializer|serializer)[^.]{0,80} must not be incompatible)`),
			cause:   "The type of a state changed between the recovery point and the job as it is started now.",
			next:    []string{"Start the program that took the recovery point, or give the state the type that it had.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "state-file-missing", source: flink, weight: decides, anchor: "java.io.FileNotFoundException",
			pattern: p(`java\.io\.FileNotFoundException: (?P<file>(?:[a-z0-9]+:)?/[^ ]+) \(No such file or directory\)`),
			cause:   "A file that the recovery point references is gone: {file}.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "unaligned-topology", source: flink, weight: decides, anchor: "Cannot recover from unaligned checkpoint when topology changes",
			pattern: p(`Cannot recover from unaligned checkpoint when topology changes`),
			cause:   "The recovery point is an unaligned checkpoint, and operators are chained differently now: the records in flight have no place to go.",
			next:    []string{"Start the program that took it, take a savepoint, and change the program from there."},
		},
		{
			id: "checkpoint-failures", source: flink, weight: condition, anchor: "Exceeded checkpoint tolerable failure threshold",
			pattern: p(`Exceeded checkpoint tolerable failure threshold\.(?: The latest checkpoint failed due to (?P<reason>[^,]{1,200}),)?`),
			cause:   "So many checkpoints failed one after another that Flink restarts the job. The newest recovery point is getting old meanwhile.",
			next:    []string{inspectJob, "recoverctl inspect flink checkpoints {job}"},
		},
		{
			id: "checkpoint-expired", source: flink, weight: condition, anchor: "Checkpoint expired before completing",
			pattern: p(`Checkpoint expired before completing`),
			cause:   "A checkpoint was not done in time: a subtask did not answer. On Java below 21 a durable call blocks its subtask, and no checkpoint completes meanwhile.",
			next:    []string{"recoverctl inspect calls --status pending {job}", "recoverctl inspect flink checkpoints {job}"},
		},
		{
			id: "restarts-exhausted", source: flink, weight: context, wrapper: true, anchor: "Recovery is suppressed by",
			pattern: p(`Recovery is suppressed by (?P<strategy>\w+Strategy)(?:\((?P<settings>[^)]{0,200})\))?`),
			cause:   "Flink gave the job up: {strategy} allows no more restarts. It stays failed until somebody starts it.",
			next:    []string{"The cause below it is why the job failed.", inspectJob, validate},
		},
		{
			id: "restore-not-found", source: flink, weight: condition, anchor: "No checkpoint found during restore",
			pattern: p(`No checkpoint found during restore`),
			cause:   "Flink found nothing to restore from and starts the job empty: calls on record run again.",
			next:    []string{"Stop the job before it goes on.", points},
		},
	}
}
