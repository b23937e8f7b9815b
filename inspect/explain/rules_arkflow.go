package explain

// What ArkFlow's engine and Hub say.
func arkflowRules() []rule {
	return []rule{
		{
			id: "arkflow-wal-locked", source: arkflow, weight: decides, anchor: "Database already open. Cannot acquire lock.",
			pattern: p(`Failed to open WAL database: Database already open\. Cannot acquire lock\.`),
			cause:   "Another process holds the write-ahead log: an engine that still runs, or two streams with the same path. The engine ends with all its streams because of it.",
			next:    []string{"Find the process that has the file open, and end one of the two."},
		},
		{
			id: "arkflow-wal-version", source: arkflow, weight: decides, anchor: "Manual upgrade required",
			pattern: p(`Failed to open WAL database: Manual upgrade required(?:\. Expected file format version (?P<expected>\d+), but file is version (?P<found>\d+))?`),
			cause:   "The write-ahead log was written by an older engine (file format {found}), and this one reads {expected} only. The engine ends with all its streams because of it.",
			next:    []string{"recoverctl inspect arkflow wal PATH", "Start the older engine until its window is empty, then the newer one on a new file. Don't delete the file while its window has entries: they were read and are delivered nowhere."},
		},
		{
			id: "arkflow-wal-unreadable", source: arkflow, weight: decides, anchor: "Failed to open WAL database:",
			pattern: p(`Failed to open WAL database: (?P<what>[^"\\)]{0,200})`),
			cause:   "A write-ahead log could not be opened ({what}), and the whole engine ends for it, with every stream of the node.",
			next:    []string{"recoverctl inspect arkflow wal PATH", "Don't delete the file: what lies in its window was read and is delivered nowhere."},
		},
		{
			id: "arkflow-wal-object-store-panic", source: arkflow, weight: decides, anchor: "Cannot start a runtime from within a runtime",
			pattern: p(`Cannot start a runtime from within a runtime`),
			cause:   "The object-store write-ahead log of this engine version ends the process at its start, always; validation passes all the same.",
			next:    []string{"Use the local write-ahead log, or a newer engine."},
		},
		{
			id: "arkflow-wal-replay", source: arkflow, weight: context, anchor: "WAL recovery: replaying",
			pattern: p(`WAL recovery: replaying (?P<entries>\d+) entries`),
			cause:   "The engine replays {entries} entries of its write-ahead log: what was delivered of them before the crash is delivered again.",
			next:    []string{"Expect duplicates downstream."},
		},
		{
			id: "arkflow-state-format", source: arkflow, weight: decides, anchor: "state_format_incompatible",
			pattern: p(`state_format_incompatible`),
			cause:   "The savepoint's state format is not that of the version that the job would be rolled back to.",
			next:    []string{"Choose a version with the same format.", "recoverctl inspect arkflow points ID {hub}"},
		},
		{
			id: "arkflow-orchestration", source: arkflow, weight: condition, anchor: "orchestration_in_progress",
			pattern: p(`orchestration_in_progress`),
			cause:   "An upgrade of the job is under way; until it is done or cancelled the Hub takes nothing else.",
			next:    []string{"Pause, cancel or roll back that upgrade first.", "recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-not-stopped", source: arkflow, weight: condition, anchor: "job_must_be_stopped",
			pattern: p(`job_must_be_stopped`),
			cause:   "The job is not stopped, as observed, which this change needs.",
			next:    []string{"Stop it and wait until the Hub has observed it as stopped.", "recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-no-previous-version", source: arkflow, weight: decides, anchor: "no_previous_job_version",
			pattern: p(`no_previous_job_version`),
			cause:   "The job has no earlier version to roll back to.",
			next:    []string{"recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-wal-entry", source: arkflow, weight: decides, anchor: "WAL entry has ",
			pattern: p(`WAL entry (?P<what>has invalid utf8 name|has no record batch)`),
			cause:   "An entry of the write-ahead log can't be decoded ({what}): the stream does not start, and what lies behind the entry is delivered nowhere.",
			next:    []string{"recoverctl inspect arkflow entries PATH", "Don't delete the file: it is the only copy of what was read and not delivered."},
		},
		{
			id: "arkflow-wal-entry", source: arkflow, weight: decides, anchor: "WAL entry truncated",
			pattern: p(`WAL entry (?P<what>truncated \([a-z ]{1,20}\))`),
			cause:   "An entry of the write-ahead log can't be decoded ({what}): the stream does not start, and what lies behind the entry is delivered nowhere.",
			next:    []string{"recoverctl inspect arkflow entries PATH", "Don't delete the file: it is the only copy of what was read and not delivered."},
		},
		{
			id: "arkflow-wal-not-written", source: arkflow, weight: decides, anchor: "Failed to persist message to WAL",
			pattern: p(`Failed to persist message to WAL: (?P<what>[^"\\]{1,200})`),
			cause:   "A message could not be written to the write-ahead log ({what}), and the stream reads no more. It was not acknowledged: its source still has it.",
			next:    []string{"Look for a full disk or another process on the file.", "recoverctl inspect arkflow wal PATH"},
		},
		{
			id: "arkflow-output-replays", source: arkflow, weight: condition, anchor: "abort (will replay)",
			pattern: p(`Kafka (?P<what>[a-z ]{1,60}?) requires abort \(will replay\)`),
			cause:   "The output's transaction was given up ({what}), and the batch is sent again in another one.",
			next:    []string{"Readers of the output must read committed records only, else they see it twice."},
		},
		{
			id: "arkflow-output-fenced", source: arkflow, weight: condition, anchor: "(producer must be discarded)",
			pattern: p(`Kafka (?P<what>[a-z ]{1,60}?) fatal \(producer must be discarded\)`),
			cause:   "The output's producer is of no use any more ({what}): another one with the same transactional id has begun.",
			next:    []string{"Make sure that the stream runs on one node only."},
		},
		{
			id: "arkflow-savepoint-not-ready", source: arkflow, weight: condition, anchor: "savepoint_not_ready",
			pattern: p(`savepoint_not_ready`),
			cause:   "The savepoint that the upgrade was to start from is not complete.",
			next:    []string{"recoverctl inspect arkflow points ID {hub}", "Wait until it is completed, or take another one."},
		},
		{
			id: "arkflow-not-running", source: arkflow, weight: condition, anchor: "job_must_be_running",
			pattern: p(`job_must_be_running`),
			cause:   "The job is not running, as observed, which this change needs.",
			next:    []string{"Start it and wait until the Hub has observed it as running.", "recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-generation", source: arkflow, weight: condition, anchor: "generation_conflict",
			pattern: p(`generation_conflict`),
			cause:   "The job or stream was changed since it was read: somebody else works on it, or a repeated request was late.",
			next:    []string{"recoverctl inspect arkflow job ID {hub}", "Look at what it is now before the request is made again."},
		},
		{
			id: "arkflow-upgrade-action", source: arkflow, weight: condition, anchor: "orchestration_conflict",
			pattern: p(`orchestration_conflict`),
			cause:   "The upgrade is not in a phase in which this action is taken.",
			next:    []string{"recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-hub-follows", source: arkflow, weight: condition, anchor: "hub_standby",
			pattern: p(`hub_standby`),
			cause:   "This Hub is a standby; the leader alone answers.",
			next:    []string{"Take the address in details.leader_url."},
		},
		{
			id: "arkflow-not-stopped", source: arkflow, weight: condition, anchor: "Stop and converge the current Job before upgrading",
			pattern: p(`Stop and converge the current Job before upgrading`),
			cause:   "The job is not stopped, as observed, which this change needs.",
			next:    []string{"Stop it and wait until the Hub has observed it as stopped.", "recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-savepoint-not-ready", source: arkflow, weight: condition, anchor: "The selected savepoint is not completed",
			pattern: p(`The selected savepoint is not completed`),
			cause:   "The savepoint that the upgrade was to start from is not complete.",
			next:    []string{"recoverctl inspect arkflow points ID {hub}", "Wait until it is completed, or take another one."},
		},
		{
			id: "arkflow-state-format", source: arkflow, weight: decides, anchor: "The savepoint state format is incompatible",
			pattern: p(`The savepoint state format is incompatible`),
			cause:   "The savepoint's state format is not that of the version that the job would be rolled back to.",
			next:    []string{"Choose a version with the same format.", "recoverctl inspect arkflow points ID {hub}"},
		},
		{
			id: "arkflow-no-previous-version", source: arkflow, weight: decides, anchor: "No previous Job version is available",
			pattern: p(`No previous Job version is available`),
			cause:   "The job has no earlier version to roll back to.",
			next:    []string{"recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-generation", source: arkflow, weight: condition, anchor: "Job changed while the upgrade was being prepared",
			pattern: p(`Job changed while the upgrade was being prepared`),
			cause:   "The job or stream was changed since it was read: somebody else works on it, or a repeated request was late.",
			next:    []string{"recoverctl inspect arkflow job ID {hub}", "Look at what it is now before the request is made again."},
		},
		{
			id: "arkflow-state-locked", source: arkflow, weight: decides, anchor: "open state database: Database already open",
			pattern: p(`open state database: Database already open\. Cannot acquire lock\.`),
			cause:   "Another engine on this host holds the job's state file: two Agents on one host share the folder of job state, and the start of the second fails.",
			next:    []string{"Give each Agent a host or a temporary folder of its own.", "recoverctl inspect arkflow job ID {hub}"},
		},
		{
			id: "arkflow-hub-storage", source: arkflow, weight: condition, anchor: "durable storage is unavailable",
			pattern: p(`durable storage is unavailable`),
			cause:   "The Hub has no database, or can't reach it: nothing that it is told is kept.",
			next:    []string{"Look at ARKFLOW_HUB_STORAGE and the disk that it names."},
		},
		{
			id: "arkflow-node-away", source: arkflow, weight: condition, anchor: "Target node is stale or offline",
			pattern: p(`Target node is stale or offline`),
			cause:   "The node that the request is for does not report to the Hub any more: its engine ended, or can't reach the Hub.",
			next:    []string{"recoverctl inspect arkflow jobs {hub}", "Look at the last lines of the engine's log: recoverctl explain engine.log"},
		},
		{
			id: "arkflow-wal-panic", source: arkflow, weight: decides, anchor: "left: RegionLayout {",
			pattern: p(`left: RegionLayout \{ num_pages: (?P<found>\d+)[^}]*\} right: RegionLayout \{ num_pages: (?P<expected>\d+)`),
			cause:   "The library under the write-ahead log ended the engine over the file's layout: the file is damaged, or was written by a newer engine.",
			next:    []string{"recoverctl inspect arkflow wal PATH", "Don't delete the file: what lies in its window was read and is delivered nowhere."},
		},
	}
}
