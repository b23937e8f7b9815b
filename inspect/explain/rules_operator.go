package explain

// What the Flink Kubernetes Operator says where it won't start a job.
func operatorRules() []rule {
	return []rule{
		{
			id: "operator-no-last-state", source: operator, weight: decides, anchor: "HA data is not available",
			pattern: p(`JobManager deployment is missing and HA data is not available(?: or usable)? to make stateful upgrades`),
			cause:   "The operator finds no running JobManager and nothing in Kubernetes that names the last checkpoint, and starts the job nowhere rather than empty. The recovery points themselves may all be there.",
			next:    []string{points, "recoverctl validate restore {point} {job}", "Put the address of an accepted one into spec.job.initialSavepointPath, and a new number into spec.job.savepointRedeployNonce."},
		},
		{
			id: "operator-no-last-state", source: operator, weight: decides, anchor: "HA metadata not available to restore",
			pattern: p(`HA metadata not available to restore from last state`),
			cause:   "The operator finds no running JobManager and nothing in Kubernetes that names the last checkpoint, and starts the job nowhere rather than empty. The recovery points themselves may all be there.",
			next:    []string{points, "recoverctl validate restore {point} {job}", "Put the address of an accepted one into spec.job.initialSavepointPath, and a new number into spec.job.savepointRedeployNonce."},
		},
		{
			id: "operator-no-last-state", source: operator, weight: decides, anchor: "HA metadata is not available",
			pattern: p(`HA metadata is not available`),
			cause:   "The operator finds no running JobManager and nothing in Kubernetes that names the last checkpoint, and starts the job nowhere rather than empty. The recovery points themselves may all be there.",
			next:    []string{points, "recoverctl validate restore {point} {job}", "Put the address of an accepted one into spec.job.initialSavepointPath, and a new number into spec.job.savepointRedeployNonce."},
		},
		{
			id: "operator-last-checkpoint", source: operator, weight: decides, anchor: "but last checkpoint is unknown",
			pattern: p(`Job is in terminal state but last checkpoint is unknown`),
			cause:   "The job ended and the operator could not ask it for its last checkpoint, often because its restore failed: it starts the job nowhere rather than from an older one.",
			next:    []string{points, "recoverctl validate restore {point} {job}", "Put the address of an accepted one into spec.job.initialSavepointPath, and a new number into spec.job.savepointRedeployNonce."},
		},
		{
			id: "operator-last-checkpoint", source: operator, weight: decides, anchor: "Latest checkpoint not externally addressable",
			pattern: p(`Latest checkpoint not externally addressable`),
			cause:   "The job's last checkpoint lies in the JobManager's memory alone, and is lost with it.",
			next:    []string{"Take a savepoint while the job runs.", points},
		},
		{
			id: "operator-savepoint-time", source: operator, weight: condition, anchor: "Timed out stopping the job",
			pattern: p(`Timed out stopping the job (?P<flinkJob>[0-9a-f]{32}) with savepoint, please configure a larger timeout via '(?P<option>[^']{1,200})'`),
			cause:   "The savepoint with which job {flinkJob} was to be stopped was not done in time. It may be complete a little later; the job may be running or stopped.",
			next:    []string{"recoverctl inspect flink job {job}", points, "Raise {option}, or find out which subtask is slow."},
		},
	}
}
