package explain

// What Flink Agents' store on Fluss says when it is opened, and what Fluss says
// of leaders, damage and connections.
func flussRunRules() []rule {
	return []rule{
		{
			id: "fluss-table-not-verified", source: agentsData, weight: context, wrapper: true, anchor: "Failed to create or verify Fluss database/table",
			pattern: p(`Failed to create or verify Fluss database/table(?:: (?P<table>[^ ]+))?`),
			cause:   "The job could not list or make its table when it started; the cause below it says why.",
			next:    []string{"recoverctl inspect fluss tables {fluss}"},
		},
		{
			id: "fluss-store-not-opened", source: agentsData, weight: context, wrapper: true, anchor: "Failed to initialize FlussActionStateStore",
			pattern: p(`Failed to initialize FlussActionStateStore`),
			cause:   "The job could not open its store; the cause below it says why.",
			next:    []string{"recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "topic-not-configured", source: agentsData, weight: condition, anchor: "flussActionStateTable must be explicitly configured",
			pattern: p(`flussActionStateTable must be explicitly configured`),
			cause:   "The action-state backend is Fluss, and no table is configured.",
			next:    []string{"Set flussActionStateTable in the job's options."},
		},
		{
			id: "fluss-key-not-parsed", source: agentsData, weight: condition, anchor: "Failed to parse state key: ",
			pattern: p(`Failed to parse state key: (?P<key>.{1,300}?)$`),
			cause:   "A key of the table could not be taken apart ({key}), as with a key that has an underscore in its text: what belongs to it is not pruned.",
			next:    []string{"recoverctl inspect calls --status open {job}"},
		},
		{
			id: "fluss-offset-out-of-range", source: fluss, weight: decides, anchor: "is out of range for table bucket",
			pattern: p(`The fetch offset (?P<requested>-?\d+) is out of range for table bucket (?P<table>TableBucket\{[^}]*\})`),
			cause:   "A reader asked for offset {requested} of {table}, where its log has no rows any more, or not yet.",
			next:    []string{"recoverctl inspect fluss buckets TABLE {fluss}"},
		},
		{
			id: "fluss-no-leader", source: fluss, weight: condition, anchor: "Leader not found after retry",
			pattern: p(`Leader not found after retry (?P<tries>\d+) times for table bucket: (?P<table>TableBucket\{[^}]*\})`),
			cause:   "{table} has no leader after {tries} tries: its tablet servers are down, or the coordinator does not elect one.",
			next:    []string{"recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "fluss-no-server", source: fluss, weight: condition, anchor: "fluss client connection to bootstrap server",
			pattern: p(`Failed to initialize fluss client connection to bootstrap servers?: (?P<address>.{1,300}?)\.?(?: Reason|$)`),
			cause:   "No Fluss server answers at {address}: it is down, the address is wrong, or the listener wants a login.",
			next:    []string{check},
		},
		{
			id: "fluss-no-server", source: fluss, weight: condition, anchor: "Failed to connect to bootstrap server",
			pattern: p(`Failed to connect to bootstrap server: (?P<address>.{1,300}?) \(retry \d+/\d+\)`),
			cause:   "No Fluss server answers at {address}: it is down, the address is wrong, or the listener wants a login.",
			next:    []string{check},
		},
		{
			id: "fluss-remote-segment", source: fluss, weight: decides, anchor: "Failed to download remote log segment file",
			pattern: p(`Failed to download remote log segment file (?P<file>[^ ]+?)\.?(?: |$)`),
			cause:   "A segment of the log in remote storage can't be read: {file}. A reader does not get past it.",
			next:    []string{"recoverctl inspect fluss buckets TABLE {fluss}", "Look whether the file is there, and whether this user may read it."},
		},
		{
			id: "fluss-batch-damaged", source: fluss, weight: decides, anchor: "Record batch for bucket ",
			pattern: p(`Record batch for bucket (?P<table>TableBucket\{[^}]*\}) at offset (?P<offset>\d+) is invalid, cause: (?P<what>.{0,200}?)(?: at |$)`),
			cause:   "The batch at offset {offset} of {table} is damaged, and every reader stops there: {what}",
			next:    []string{"recoverctl inspect fluss buckets TABLE {fluss}"},
		},
		{
			id: "fluss-producer-kept", source: fluss, weight: condition, anchor: "Producer snapshot already exists for producer",
			pattern: p(`Producer snapshot already exists for producer (?P<producer>[^ ]+) \(expires at (?P<expires>\d+)`),
			cause:   "Offsets are kept for producer {producer} already, and a registration leaves them as they are: a sink that starts anew under this id undoes what was written since them.",
			next:    []string{"recoverctl inspect fluss producer {producer} {fluss}"},
		},
		{
			id: "fluss-not-leader", source: fluss, weight: condition, anchor: "Leader not local for bucket",
			pattern: p(`Leader not local for bucket (?P<table>TableBucket\{[^}]*\}) on tabletServer (?P<server>\d+)`),
			cause:   "Server {server} does not lead {table} any more: leaders are moving, or the server that led it is down.",
			next:    []string{"recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "fluss-coordinator-starting", source: fluss, weight: condition, anchor: "already registered in Zookeeper. retrying",
			pattern: p(`Coordinator server already registered in Zookeeper\. retrying register after (?P<waited>\d+) ms`),
			cause:   "The coordinator was started again before ZooKeeper had let its old session go, and tries again each {waited} ms. It answers once that has expired.",
			next:    []string{"Wait for the session timeout (60 s by default), then: recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "fluss-server-registered", source: fluss, weight: condition, anchor: "Tablet server id ",
			pattern: p(`Tablet server id (?P<server>\d+) already registered`),
			cause:   "Tablet server {server} ended, because ZooKeeper still had its old registration, or another server has the same id.",
			next:    []string{"Start it again once the session timeout is over (60 s by default); each server needs an id of its own.", "recoverctl inspect fluss cluster {fluss}"},
		},
		{
			id: "fluss-producer-offsets-unread", source: fluss, weight: context, wrapper: true, anchor: "Failed to get producer offsets for producer",
			pattern: p(`Failed to get producer offsets for producer (?P<producer>[^ ]+)`),
			cause:   "The stored offsets of producer {producer} could not be read; the cause below it says why.",
			next:    []string{"recoverctl inspect fluss producer {producer} {fluss}"},
		},
		{
			id: "fluss-table-missing", source: fluss, weight: condition, anchor: "Failed to get tables '[",
			pattern: p(`Failed to get tables '\[(?P<table>[^\]']{1,300})\]'`),
			cause:   "{table} does not exist, or this user may not see it.",
			next:    []string{"recoverctl inspect fluss tables {fluss}"},
		},
		{
			id: "fluss-login-refused", source: fluss, weight: condition, anchor: "Authentication failed: Invalid username or password",
			pattern: p(`Authentication failed: Invalid username or password`),
			cause:   "Fluss refuses the login: the name or the password is wrong.",
			next:    []string{"recoverctl config check {job}"},
		},
	}
}
