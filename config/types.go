package config

import (
	"time"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// AdHoc is the name of the profile that flags and variables make when no
// profile of a file is used, and of the job that they make when no job of a
// profile is chosen. No profile or job of a file may have it.
const AdHoc = "adhoc"

// What a value is when nobody says otherwise.
const (
	DefaultPartitions         = 64               // a Flink Agents job's own default for a topic not yet made
	DefaultKeepRecoveryPoints = 1                // others that must stay restorable beside a plan's own point
	DefaultDialTimeout        = 10 * time.Second // per connection attempt
	DefaultTimeout            = 30 * time.Second // per network step
	DefaultZooKeeperPath      = "/fluss"         // Fluss's own default of zookeeper.path.root
)

// Config is a configuration file, checked.
type Config struct {
	DefaultProfile string // may be empty
	Profiles       []Profile
}

// Profile is a named set of connections and jobs.
type Profile struct {
	Name         string
	Environment  access.Environment // production unless said otherwise
	Access       access.Level       // read-only unless said otherwise
	Kafka        Kafka
	ObjectStores []ObjectStore
	PathMappings []PathMapping
	Jobs         []Job
}

// Secrets are all that the profile and its jobs have, and zero ones for those that
// are not set.
func (p Profile) Secrets() []secret.Source {
	var out []secret.Source
	if login := p.Kafka.SASL; login != nil {
		out = append(out, login.Password, login.SessionToken)
	}
	for _, o := range p.ObjectStores {
		out = append(out, o.Credentials.AccessKey, o.Credentials.SecretKey, o.Credentials.SessionToken)
	}
	for _, j := range p.Jobs {
		out = append(out, j.Flink.Token, j.Flink.Password, j.Fluss.Password, j.ArkFlow.Token)
	}
	return out
}

// Kafka says how the brokers of a profile are reached.
type Kafka struct {
	Brokers  []string // host or host:port
	TLS      *TLS     // nil: no TLS
	SASL     *SASL    // nil: no SASL
	Timeouts Timeouts
}

// TLS says how servers are checked and how we identify ourselves. All fields
// may be empty: then the system's certificate authorities decide. Files are
// absolute, or relative to the configuration file's folder made so.
type TLS struct {
	CAFile     string
	CertFile   string // given together with KeyFile or not at all
	KeyFile    string
	ServerName string // expected in the certificate instead of the broker's host
}

// SASL is how we authenticate to Kafka.
type SASL struct {
	Mechanism string        // plain, scram-sha-256, scram-sha-512, oauthbearer or aws-msk-iam
	Username  string        // the access key's id for aws-msk-iam; empty for oauthbearer
	Password  secret.Source // the token itself for oauthbearer, the secret key for aws-msk-iam; zero: none

	SessionToken secret.Source // of a temporary key for aws-msk-iam; zero: none
}

// Timeouts bound one network step each.
type Timeouts struct {
	Dial    time.Duration
	Request time.Duration
}

// ObjectStore says how objects whose URI begins with Match are read; the longest
// Match that fits decides.
type ObjectStore struct {
	Match       string // a URI prefix, as in s3://flink-state/; s3a and s3p match as s3 does
	Endpoint    string // empty: the region's own
	Region      string
	PathStyle   bool
	Credentials Credentials
}

// Credentials of an object store. Without an access key they come from where
// the cloud's own tools look.
type Credentials struct {
	AccessKey secret.Source // zero together with SecretKey
	SecretKey secret.Source

	SessionToken secret.Source // of a temporary key; zero: none
}

// PathMapping says that what a job calls From is read here under To. From is a
// URI prefix or path; To is a folder or another URI.
type PathMapping struct {
	From string
	To   string
}

// Job is one stream job whose recovery is looked at.
type Job struct {
	Name               string
	Engine             string // flink-agents, fluss-sink or arkflow
	Runtime            string // 0.1, 0.2, 0.3 or next; empty: not known
	ActionState        ActionState
	MaxParallelism     int      // 1 to 32768; 0: not known
	Partitions         int      // of a data topic not yet made
	RecoveryPoints     []string // places to search, as URIs or paths
	Pinned             []string // recovery points that something depends on
	KeepRecoveryPoints int      // others that a cleanup must leave restorable
	Flink              Flink
	Fluss              Fluss
	ArkFlow            ArkFlow
}

// ActionState is where a Flink Agents job keeps what its agents did.
type ActionState struct {
	Store         string  // kafka or fluss
	Topic         string  // empty: not said
	ControlTopic  *string // nil: not configured; blank text is configured, and a rule refuses it
	JobTombstones bool    // whether the job itself writes tombstones
}

// Flink is where a job's JobManager answers and how we identify ourselves there,
// what it calls the job and its agent operator, and how the job is started.
type Flink struct {
	REST        string // http or https; empty: not said
	Job         string // name or id; empty: the job's own name is its name in Flink too
	OperatorUID string // that the job's code sets for its agent operator; empty: not said

	Token    secret.Source // bearer token; not together with Username
	Username string        // basic authentication, together with Password
	Password secret.Source
	TLS      *TLS // of an https address; nil: the system's authorities

	// How the job is started again, which Flink does not tell.
	Jar        string   // id or name of the uploaded jar; empty: the only one
	EntryClass string   // empty: the one of the jar's manifest
	Arguments  []string // of the program
}

// Fluss is where a job's Fluss tables are.
type Fluss struct {
	Servers  []string // host or host:port
	Table    string
	Username string        // empty: no authentication
	Password secret.Source // zero without Username

	ZooKeeper ZooKeeper
}

// ZooKeeper is where a Fluss cluster keeps its nodes. They are read for what no
// call of Fluss tells.
type ZooKeeper struct {
	Servers []string // host or host:port; empty: ZooKeeper is not read
	Path    string   // the cluster's zookeeper.path.root; empty without Servers
	TLS     *TLS     // nil: no TLS
}

// ArkFlow is where a job's hub and write-ahead log are.
type ArkFlow struct {
	Hub   string        // http or https; empty: not said
	WAL   string        // a file, folder or URI; empty: not said
	Token secret.Source // zero: none
}

// The words that the file, variables and flags accept. Mechanisms are accepted
// in any case.
var (
	engines    = []string{"flink-agents", "fluss-sink", "arkflow"}
	stores     = []string{"kafka", "fluss"}
	runtimes   = []string{"0.1", "0.2", "0.3", "next"}
	mechanisms = []string{"plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "aws-msk-iam"}
	outputs    = []string{"text", "json"}
)
