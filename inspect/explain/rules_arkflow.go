package explain

// What ArkFlow's engine and Hub say.
var arkflowRules = []rule{
	{
		id: "arkflow-wal-locked", source: arkflow, weight: decides, anchor: "Database already open. Cannot acquire lock.",
		pattern: p(`Failed to open WAL database: Database already open\. Cannot acquire lock\.`),
		cause:   "Another process holds the write-ahead log: an engine that still runs, or two streams with the same path. The engine ends with all its streams because of it.",
		next:    []string{"Find the process that has the file open, and end one of the two."},
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
		next:    []string{"Choose a version with the same format.", "recoverctl inspect arkflow points ID"},
	},
	{
		id: "arkflow-orchestration", source: arkflow, weight: condition, anchor: "orchestration_in_progress",
		pattern: p(`orchestration_in_progress`),
		cause:   "An upgrade of the job is under way; until it is done or cancelled the Hub takes nothing else.",
		next:    []string{"Pause, cancel or roll back that upgrade first.", "recoverctl inspect arkflow job ID"},
	},
	{
		id: "arkflow-not-stopped", source: arkflow, weight: condition, anchor: "job_must_be_stopped",
		pattern: p(`job_must_be_stopped`),
		cause:   "The job is not stopped, as observed, which this change needs.",
		next:    []string{"Stop it and wait until the Hub has observed it as stopped.", "recoverctl inspect arkflow job ID"},
	},
	{
		id: "arkflow-no-previous-version", source: arkflow, weight: decides, anchor: "no_previous_job_version",
		pattern: p(`no_previous_job_version`),
		cause:   "The job has no earlier version to roll back to.",
		next:    []string{"recoverctl inspect arkflow job ID"},
	},
}
