package explain

// What Flink says of its checkpoints, its state and its files when a job is
// started, stopped or runs.
func flinkRunRules() []rule {
	return []rule{
		{
			id: "savepoint-and-failure", source: flink, weight: decides, anchor: "A savepoint has been created at:",
			pattern: p(`A savepoint has been created at: (?P<point>[^ ,]+), but the corresponding job (?P<flinkJob>[0-9a-f]{32}) (?:failed during stopping|didn't terminate successfully)`),
			cause:   "The savepoint {point} is complete, and job {flinkJob} failed while it was stopped with it: transactions of its sinks may be open. What the job did after the savepoint is done again by a restore from it.",
			next:    []string{"recoverctl inspect point {point} {profile}", validate, "Start the job from this savepoint: that commits its transactions."},
		},
		{
			id: "ha-checkpoint-unreadable", source: flink, weight: decides, anchor: "Could not retrieve checkpoint",
			pattern: p(`Could not retrieve checkpoint (?P<checkpoint>\d+) from state handle under (?P<handle>[^ ]+)\. This indicates that (?P<what>the retrieved state handle is broken|you are trying to recover from state written by an older Flink version)`),
			cause:   "Flink's high-availability store names checkpoint {checkpoint} under {handle}, and it can't be read: {what}. Every start of the job fails here, whatever other recovery points there are.",
			next:    []string{points, validate, "Start the job from an accepted recovery point under another cluster id or job id. Clean the entry only after one is chosen: what it names is then found no more."},
		},
		{
			id: "ha-store", source: flink, weight: context, wrapper: true, anchor: "high-availability completed checkpoint store",
			pattern: p(`Failed to initialize high-availability completed checkpoint store`),
			cause:   "Flink could not read its high-availability store of completed checkpoints; the cause below it says why.",
			next:    []string{points},
		},
		{
			id: "checkpoint-persistence-unknown", source: flink, weight: condition, anchor: "An error occurred while writing checkpoint",
			pattern: p(`An error occurred while writing checkpoint (?P<checkpoint>\d+) to the underlying metadata store\..{0,160}? The corresponding state located at '(?P<point>[^']+)' won't be discarded`),
			cause:   "Whether checkpoint {checkpoint} is on record in Flink's high-availability store is not known; its files stay at {point}.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "no-savepoint-folder", source: flink, weight: condition, anchor: "No savepoint directory configured",
			pattern: p(`No savepoint directory configured`),
			cause:   "No folder for savepoints is configured, and none was given.",
			next:    []string{"Give one with the command, or set execution.checkpointing.savepoint-dir (state.savepoints.dir in 1.x)."},
		},
		{
			id: "no-savepoint-folder", source: flink, weight: condition, anchor: "No savepoint location given",
			pattern: p(`No savepoint location given and no default location configured`),
			cause:   "No folder for savepoints is configured, and none was given.",
			next:    []string{"Give one with the command, or set execution.checkpointing.savepoint-dir (state.savepoints.dir in 1.x)."},
		},
		{
			id: "checkpoint-file-exists", source: flink, weight: decides, anchor: " already exists.",
			pattern: p(`Target file (?P<file>[^ ]+) already exists\.`),
			cause:   "{file} was there before this job wrote it: two jobs with one job id write into the same folder, or the job began to count its checkpoints anew over those of an earlier run.",
			next:    []string{"Make sure that only one of them runs.", points, "Give the job another checkpoint folder or another job id before it goes on."},
		},
		{
			id: "key-group-foreign", source: flink, weight: decides, anchor: "is not in KeyGroupRange",
			pattern: p(`Key group (?P<keyGroup>\d+) is not in (?P<range>KeyGroupRange\{[^}]*\})`),
			cause:   "A key came to a subtask that does not own its key group {keyGroup} ({range}): the key's hashCode is not the same in each process, or the key was changed after keyBy. State of such keys is not found again after a restore.",
			next:    []string{"recoverctl inspect point {point} --keys {profile}", "Give the key a stable hashCode and equals, as with a text or a number."},
		},
		{
			id: "key-group-foreign", source: flink, weight: decides, anchor: "doesn't belong to this backend with key group range",
			pattern: p(`Key group (?P<keyGroup>\d+) doesn't belong to this backend with key group range: (?P<range>KeyGroupRange\{[^}]*\})`),
			cause:   "The recovery point gives a subtask key group {keyGroup}, which is none of its own ({range}).",
			next:    []string{"recoverctl inspect point {point} {profile}"},
		},
		{
			id: "state-too-large-for-memory", source: flink, weight: condition, anchor: "maximum permitted memory-backed state",
			pattern: p(`Size of the state is larger than the maximum permitted memory-backed state\. Size=(?P<size>\d+), maxSize=(?P<most>\d+)`),
			cause:   "A state of {size} bytes does not fit into the JobManager's memory, where {most} are let in: no checkpoint of this job succeeds.",
			next:    []string{"Set execution.checkpointing.dir (state.checkpoints.dir in 1.x) to a shared file system or a bucket, so that checkpoints outlive the JobManager."},
		},
		{
			id: "checkpoint-not-written", source: flink, weight: context, wrapper: true, anchor: "in order to obtain the stream state handle",
			pattern: p(`Could not flush (?:to file )?and close the file system output stream to (?P<file>[^ ]+) in order to obtain the stream state handle`),
			cause:   "A file of a checkpoint could not be written: {file}; the cause below it says why.",
			next:    []string{inspectJob},
		},
		{
			id: "checkpoint-not-written", source: flink, weight: context, wrapper: true, anchor: "Could not open output stream for state backend",
			pattern: p(`Could not open output stream for state backend`),
			cause:   "A file of a checkpoint could not be begun; the cause below it says why.",
			next:    []string{inspectJob},
		},
		{
			id: "snapshot-of-operator-failed", source: flink, weight: context, wrapper: true, anchor: " for operator ",
			pattern: p(`Could not (?:complete snapshot|materialize checkpoint) (?P<checkpoint>\d+) for operator (?P<operator>.{1,200}? \(\d+/\d+\)(?:#\d+)?)\.`),
			cause:   "Checkpoint {checkpoint} failed at operator {operator}; the cause below it says why. The job goes on with its older recovery points.",
			next:    []string{"recoverctl inspect flink checkpoints {job}"},
		},
		{
			id: "checkpoint-failed", source: flink, weight: context, wrapper: true, anchor: "Asynchronous task checkpoint failed",
			pattern: p(`Asynchronous task checkpoint failed\.`),
			cause:   "A checkpoint failed while its files were written; the cause below it says why.",
			next:    []string{"recoverctl inspect flink checkpoints {job}"},
		},
		{
			id: "checkpoint-failed", source: flink, weight: context, wrapper: true, anchor: "Could not finalize the pending checkpoint",
			pattern: p(`Could not finalize the pending checkpoint (?P<checkpoint>\d+)\.`),
			cause:   "Checkpoint {checkpoint} was acknowledged by all subtasks, and its metadata could not be written; the cause below it says why. It can't be restored.",
			next:    []string{"recoverctl inspect flink checkpoints {job}"},
		},
		{
			id: "checkpoint-tasks-not-running", source: flink, weight: condition, anchor: "Not all required tasks are currently running",
			pattern: p(`Not all required tasks are currently running\.`),
			cause:   "No checkpoint or savepoint can be taken now: a subtask is not running, because the job is starting, restarting or partly finished.",
			next:    []string{"recoverctl inspect flink job {job}"},
		},
		{
			id: "class-missing", source: flink, weight: decides, anchor: "KryoException: Unable to find class",
			pattern: p(`KryoException: Unable to find class: (?P<class>[\w.$\[;]{1,300})`),
			cause:   "The recovery point's state names the class {class}, which the program that is started does not have.",
			next:    []string{"Start the program that took the recovery point, or one that has the class.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "class-missing", source: flink, weight: condition, anchor: "java.lang.ClassNotFoundException",
			pattern: p(`java\.lang\.ClassNotFoundException: (?P<class>[\w.$\[;]{1,300})`),
			cause:   "The program that is started lacks the class {class}: its jar is another one, or not whole.",
			next:    []string{"Compare the jar with that of the last good start."},
		},
		{
			id: "kryo-mismatch", source: flink, weight: decides, anchor: "Encountered unregistered class ID",
			pattern: p(`Encountered unregistered class ID: (?P<id>\d+)`),
			cause:   "State was read by another Kryo than wrote it, or with other registered types: class number {id} is not known. Kryo 2 data of Flink 1.x is not read by Flink 2.x.",
			next:    []string{"recoverctl inspect point {point} {profile}", "Restore it with the Flink version and the program that wrote it."},
		},
		{
			id: "kryo-mismatch", source: flink, weight: decides, anchor: "KryoException: Buffer underflow",
			pattern: p(`KryoException: Buffer underflow`),
			cause:   "State ended before the object that was read from it: it was written by another Kryo (Flink 1.x and 2.x differ) or for another type, or its file is damaged.",
			next:    []string{"recoverctl inspect point {point} {profile}", "Restore it with the Flink version and the program that wrote it."},
		},
		{
			id: "state-serializer-missing", source: flink, weight: decides, anchor: "of the operator state must be present",
			pattern: p(`Unable to restore operator state \[(?P<state>[^\]]{1,200})\]\. The previous typeSerializer of the operator state must be present`),
			cause:   "The type of operator state {state} can't be loaded: a class of it is missing from the program, or was changed.",
			next:    []string{"Start the program that took the recovery point.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "savepoint-too-old", source: flink, weight: decides, anchor: "Since 1.17 Flink doesn't support",
			pattern: p(`Since 1\.17 Flink doesn't support recovery from pre Flink 1\.8 savepoints`),
			cause:   "The recovery point was written by a Flink before 1.8, which this version does not read.",
			next:    []string{"Restore it with Flink 1.16, take a savepoint there, and go on from that one.", "recoverctl inspect point {point} {profile}"},
		},
		{
			id: "uid-not-unique", source: flink, weight: decides, anchor: "Hash collision on user-specified ID",
			pattern: p(`Hash collision on user-specified ID "(?P<uid>[^"]{1,300})"`),
			cause:   "Two operators of the program have the uid {uid}: their state could not be told apart, and the job does not start.",
			next:    []string{"Give each operator a uid of its own; the one whose state is wanted keeps {uid}."},
		},
		{
			id: "parallelism-above-max", source: flink, weight: decides, anchor: "is higher than the max parallelism",
			pattern: p(`Vertex (?P<task>.{1,200}?)'s parallelism \((?P<found>\d+)\) is higher than the max parallelism \((?P<expected>\d+)\)`),
			cause:   "The task {task} is started with {found} subtasks, and its max parallelism is {expected}.",
			next:    []string{"Start the job with a parallelism of at most {expected}."},
		},
		{
			id: "max-parallelism-mismatch", source: flink, weight: decides, anchor: "with which the latest checkpoint of the execution job vertex",
			pattern: p(`The maximum parallelism \((?P<found>\d+)\) with which the latest checkpoint of the execution job vertex (?P<task>.{1,300}?) has been taken and the current maximum parallelism \((?P<expected>\d+)\) changed`),
			cause:   "The task {task} had the max parallelism {found} when the recovery point was taken and has {expected} now; it can't be changed.",
			next:    []string{"Start the job with pipeline.max-parallelism: {found}", "recoverctl validate restore {point} --max-parallelism {expected} {job}"},
		},
		{
			id: "no-slots", source: flink, weight: condition, anchor: "Could not acquire the minimum required resources",
			pattern: p(`Could not acquire the minimum required resources\.`),
			cause:   "There are fewer free task slots than the job needs, so that it does not start. That says nothing about the recovery point.",
			next:    []string{"Look for TaskManagers that are missing or full.", "recoverctl inspect flink jobs {job}"},
		},
		{
			id: "job-ended-before", source: flink, weight: condition, anchor: "already reached a globally-terminal state",
			pattern: p(`Ignoring job submission '(?P<name>[^']{0,200})' \((?P<flinkJob>[0-9a-f]{32})\) because the job already reached a globally-terminal state \(i\.e\. (?P<state>\w+)\)`),
			cause:   "Job {flinkJob} ended as {state} before, and Flink starts no job of that id again: nothing runs now.",
			next:    []string{"Start it under another job id (or cluster id), from a recovery point that is accepted.", points},
		},
		{
			id: "job-submitted-twice", source: flink, weight: condition, anchor: " has already been submitted",
			pattern: p(`(?:Job|Application) has already been submitted\.`),
			cause:   "A job of this id runs already, and Flink starts no second one.",
			next:    []string{"recoverctl inspect flink jobs {job}"},
		},
		{
			id: "taskmanager-lost", source: flink, weight: condition, anchor: "of TaskManager with id ",
			pattern: p(`[Hh]eartbeat of TaskManager with id (?P<taskManager>[^ ]{1,300}) timed out`),
			cause:   "TaskManager {taskManager} answers no more, and the job restarts from its last checkpoint: it was killed (memory, a node), hangs, or the network is cut.",
			next:    []string{"Look for why it ended: kubectl describe pod, dmesg, its own log.", inspectJob},
		},
		{
			id: "taskmanager-lost", source: flink, weight: condition, anchor: "This might indicate that the remote task manager was lost",
			pattern: p(`Connection unexpectedly closed by remote task manager '(?P<taskManager>[^']{1,200}?) ?'\. This might indicate that the remote task manager was lost`),
			cause:   "The connection to TaskManager {taskManager} broke, and the job restarts from its last checkpoint: it was killed (memory, a node), or the network is cut.",
			next:    []string{"Look for why it ended: kubectl describe pod, dmesg, its own log.", inspectJob},
		},
		{
			id: "memory-exhausted", source: flink, weight: condition, anchor: "java.lang.OutOfMemoryError",
			pattern: p(`java\.lang\.OutOfMemoryError(?:: (?P<what>Java heap space|Direct buffer memory|Metaspace|GC overhead limit exceeded|unable to create[a-z ]{1,40}))?`),
			cause:   "A JVM of the job ran out of memory. A restore needs as much as the state takes, and restarts don't change that. {what}",
			next:    []string{"Give the process more memory, or the job more TaskManagers.", inspectJob},
		},
		{
			id: "disk-full", source: flink, weight: condition, anchor: "No space left on device",
			pattern: p(`No space left on device`),
			cause:   "A disk is full. A checkpoint that was being written there is not complete, and a file that was cut is no state.",
			next:    []string{"Make room, but not by deleting below the checkpoint folders: recoverctl inspect point {point} lists files that nothing references.", points},
		},
		{
			id: "state-file-missing", source: flink, weight: decides, anchor: "java.io.FileNotFoundException",
			pattern: p(`java\.io\.FileNotFoundException: (?:No such file or directory|File does not exist): (?P<file>(?:[a-z0-9]+:)?/[^ ]+)`),
			cause:   "A file that the recovery point references is gone: {file}.",
			next:    []string{"recoverctl inspect point {point} {profile}", points},
		},
		{
			id: "state-file-missing", source: flink, weight: decides, anchor: "The specified key does not exist.",
			pattern: p(`The specified key does not exist\. \(Service: (?:Amazon )?S3[;,] Status Code: 404[^)]{0,400}\)(?:, S3 Extended Request ID: [^ ]{1,200})?(?: \(Path: (?P<file>[^ )]+)\))?`),
			cause:   "A file that the recovery point references is not in its bucket any more. {file}",
			next:    []string{"recoverctl inspect point {point} {profile}", points, "Look whether a lifecycle rule of the bucket deletes objects below the checkpoint folder."},
		},
		{
			id: "s3-refused", source: flink, weight: condition, anchor: "S3; Status Code: ",
			pattern: p(`\(Service: Amazon S3; Status Code: (?P<status>\d{3}); Error Code: (?P<code>[\w. ]{1,80});`),
			cause:   "S3 answered the job with {status} {code}. 403: the job's role or key lacks a right; 301 or 400: wrong region or endpoint; 404: the bucket or object is not there; 503: too many requests.",
			next:    []string{"recoverctl inspect point {point} {profile}", check},
		},
		{
			id: "s3-refused", source: flink, weight: condition, anchor: "(Service: S3, Status Code: ",
			pattern: p(`\(Service: S3, Status Code: (?P<status>\d{3}), Request ID:`),
			cause:   "S3 answered the job with {status}. 403: the job's role or key lacks a right; 301 or 400: wrong region or endpoint; 404: the bucket or object is not there; 503: too many requests.",
			next:    []string{"recoverctl inspect point {point} {profile}", check},
		},
	}
}
