package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/growth"
)

func TestAWholeProfileIsRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, _, problems := decodeText(string(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	control := "action-state-control"
	want := Config{
		DefaultProfile: "orders",
		Profiles: []Profile{{
			Name: "orders", Environment: access.Production, Access: access.ReadOnly,
			Kafka: Kafka{
				Brokers: []string{"k1:9092", "k2:9092"},
				TLS: &TLS{
					CAFile: "/etc/recoverctl/ca.pem", CertFile: "/etc/recoverctl/c.pem",
					KeyFile: "/etc/recoverctl/k.pem", ServerName: "kafka",
				},
				SASL: &SASL{
					Mechanism: "scram-sha-512", Username: "ops",
					Password: secret.Source{For: "profile orders: sasl password", Env: "KAFKA_PASSWORD"},
				},
				Timeouts: Timeouts{Dial: 10 * time.Second, Request: 30 * time.Second},
			},
			ObjectStores: []ObjectStore{{Match: "s3://flink-state/", Endpoint: "https://s3.example", Region: "eu-west-1", PathStyle: true}},
			PathMappings: []PathMapping{{From: "file:/data/checkpoints", To: "/mnt/checkpoints"}},
			Jobs: []Job{{
				Name: "order-agent", Engine: "flink-agents", Runtime: "0.3",
				ActionState:        ActionState{Store: "kafka", Topic: "action-state", ControlTopic: &control},
				MaxParallelism:     128,
				Partitions:         64,
				RecoveryPoints:     []string{"s3://flink-state/checkpoints/4f3c", "s3://flink-state/savepoints"},
				Pinned:             []string{"s3://flink-state/savepoints/savepoint-4f3c-a1"},
				KeepRecoveryPoints: 2,
				Flink:              Flink{REST: "http://jobmanager:8081"},
			}},
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
}

func TestOnlyTheNameOfAProfileIsRequired(t *testing.T) {
	c, _, problems := decodeText("profiles:\n  - name: bare\n    jobs:\n      - {}\n      - action-state: {topic: calls}\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := c.Profiles[0]
	if p.Environment != access.Production || p.Access != access.ReadOnly {
		t.Errorf("a silent profile is %s and %s", p.Environment, p.Access)
	}
	if got := jobNames(p.Jobs); !reflect.DeepEqual(got, []string{"job-1", "calls"}) {
		t.Errorf("jobs without names are called %q", got)
	}
	if j := p.Jobs[0]; j.Engine != "flink-agents" || j.ActionState.Store != "kafka" || j.Partitions != 64 || j.KeepRecoveryPoints != 1 {
		t.Errorf("an empty job is %+v", j)
	}
}

// kafka and job put lines into a profile, beginning at line 4 and 5.
func kafkaOf(lines string) string {
	return "profiles:\n  - name: a\n    kafka:\n" + indent(lines, 6)
}

func jobOf(lines string) string {
	return "profiles:\n  - name: a\n    jobs:\n      - name: j\n" + indent(lines, 8)
}

func profileOf(lines string) string { return "profiles:\n  - name: a\n" + indent(lines, 4) }

func indent(lines string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(strings.Repeat(" ", by) + line)
	}
	b.WriteString("\n")
	return b.String()
}

func TestWhatIsWrongInAFileIsToldWithItsLine(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string // "line:column part of the message", all problems in order
	}{
		{"an unknown key, close to a known one", kafkaOf("brokrs: [k1]"), []string{`4:7: unknown key "brokrs" in kafka; did you mean brokers?`}},
		{"an unknown key, close to none", kafkaOf("zookeeper: z1"), []string{`4:7: unknown key "zookeeper" in kafka; known: brokers, tls, sasl, timeouts`}},
		{"an unknown key at the top", "profile: []\n", []string{`1:1: unknown key "profile" in the configuration; did you mean profiles?`}},
		{"a key with an underscore", jobOf("action_state: {topic: t}"), []string{`5:9: unknown key "action_state" in job; did you mean action-state?`}},
		{"a key in capitals", profileOf("Kafka: {}"), []string{`3:5: unknown key "Kafka" in profile; did you mean kafka?`}},
		{"a merge key", profileOf("<<: {access: operate}"), []string{`3:5: unknown key "<<" in profile`}},
		{"a key given twice", kafkaOf("brokers: [k1]\nbrokers: [k2]"), []string{`5:7: "brokers" is given twice in kafka, first in line 4`}},
		{"a key without a value", kafkaOf("brokers:"), []string{"4:7: brokers has no value; give it one or remove the line"}},
		{"a control topic without a value", jobOf("action-state:\n  control-topic:"), []string{"6:11: control-topic has no value"}},
		{"a key that is a list", "[a, b]: c\n", []string{"1:1: a key of the configuration is a list; keys are words"}},

		{"text where a mapping belongs", profileOf("kafka: k1:9092"), []string{"3:12: kafka is text; it must be a mapping"}},
		{"text where a list belongs", kafkaOf("brokers: k1:9092"), []string{"4:16: brokers is text; it must be a list"}},
		{"a mapping where a list belongs", "profiles:\n  orders: {}\n", []string{"2:3: profiles is a mapping; it must be a list"}},
		{"a list where text belongs", jobOf("engine: [arkflow]"), []string{"5:17: engine is a list; it must be text"}},
		{"a number where text belongs", jobOf("action-state: {topic: 17}"), []string{"5:31: topic is a number; it must be text; put it in quotes"}},
		{"text where true or false belongs", jobOf("action-state: {job-tombstones: 'yes'}"), []string{"5:40: job-tombstones is text; it must be true or false"}},
		{"text where a number belongs", jobOf("max-parallelism: many"), []string{"5:26: max-parallelism is text; it must be a whole number"}},
		{"a file that is only text", "hello\n", []string{"1:1: the configuration is text; it must be a mapping"}},
		{"a file that is a list", "- name: a\n", []string{"1:1: the configuration is a list; it must be a mapping"}},

		{"an engine that nobody knows", jobOf("engine: flink"), []string{`5:17: engine: "flink" is not one of flink-agents, fluss-sink, arkflow`}},
		{"an engine with a slip", jobOf("engine: flink-agent"), []string{`did you mean flink-agents?`}},
		{"an environment in capitals", profileOf("environment: Production"), []string{`3:18: environment: "Production" is not one of production, staging, development; did you mean production?`}},
		{"an access that nobody knows", profileOf("access: write"), []string{`3:13: access: "write" is not one of read-only, operate`}},
		{"a release that nobody knows", jobOf("runtime: '0.4'"), []string{`5:18: runtime: "0.4" is not one of 0.1, 0.2, 0.3, next`}},
		{"a store that nobody knows", jobOf("action-state: {store: pulsar}"), []string{`5:31: store: "pulsar" is not one of kafka, fluss`}},
		{"a mechanism that nobody knows", kafkaOf("sasl: {mechanism: gssapi}"), []string{`4:25: mechanism: "gssapi" is not one of plain, scram-sha-256, scram-sha-512, oauthbearer, aws-msk-iam`}},
		{"a blank topic", jobOf("action-state: {topic: ' '}"), []string{`5:31: topic: " " is blank`}},

		{"a duration without a unit", kafkaOf("timeouts: {dial: 10}"), []string{"4:24: dial is a number; it must be a duration with its unit, such as 10s"}},
		{"a duration that is none", kafkaOf("timeouts: {dial: soon}"), []string{`4:24: dial: "soon" is not a duration; write one with its unit`}},
		{"a duration below zero", kafkaOf("timeouts: {request: -1s}"), []string{`4:27: request: "-1s" is not from 1ms to 24h`}},
		{"too much parallelism", jobOf("max-parallelism: 32769"), []string{`5:26: max-parallelism: "32769" is not a whole number from 1 to 32768`}},
		{"no partitions", jobOf("partitions: 0"), []string{`5:21: partitions: "0" is not a whole number from 1 to 100000`}},
		{"an octal number", jobOf("partitions: 010"), []string{`5:21: partitions: "010" is not a whole number from 1 to 100000`}},
		{"fewer than no recovery points", jobOf("keep-recovery-points: -1"), []string{`5:31: keep-recovery-points: "-1" is not a whole number from 0 to 1000`}},

		{"a broker with a scheme", kafkaOf("brokers: ['kafka://k1:9092']"), []string{`4:17: an element of brokers: "kafka://k1:9092" is not an address; write host:port, without a scheme`}},
		{"a broker with an impossible port", kafkaOf("brokers: ['k1:99999']"), []string{`4:17: an element of brokers: "k1:99999" has no port from 1 to 65535`}},
		{"brokers in one text", kafkaOf("brokers: ['k1:9092,k2:9092']"), []string{`4:17: an element of brokers: "k1:9092,k2:9092" is not an address; write host:port, without a scheme, one address each`}},
		{"a JobManager without a scheme", jobOf("flink: {rest: 'jobmanager:8081'}"), []string{`5:23: rest: "jobmanager:8081" is not an address; write http://host:port`}},
		{"a job of no name in Flink", jobOf("flink: {rest: 'http://jm:8081', job: ' '}"), []string{`5:46: job: " " is blank`}},
		{"an id in Flink that YAML takes for a number", jobOf("flink: {job: 00000000000000000000000000000042}"), []string{`5:22: job is a number; it must be text; put it in quotes`}},
		{"a password in an address", jobOf("flink: {rest: 'http://ops:hunter2@jm:8081'}"), []string{`5:23: rest: "http://***@jm:8081" holds a user or password; an address may not`}},
		{"a home folder", jobOf("recovery-points: ['~/points']"), []string{`5:27: an element of recovery-points: "~/points" begins with ~, which is not expanded`}},
		{"a store that matches a path", profileOf("object-stores: [{match: flink-state}]"), []string{`3:29: match: "flink-state" is not the beginning of a URI`}},
		{"a store that matches nothing", profileOf("object-stores: [{region: eu}]"), []string{`3:21: object store has no match`}},
		{"credentials that nobody knows", profileOf("object-stores: [{match: 's3://b/', credentials: none}]"), []string{`3:53: credentials: "none" is not default`}},
		{"half of the credentials", profileOf("object-stores: [{match: 's3://b/', credentials: {access-key: {env: A}}}]"), []string{`3:53: credentials has no secret-key`}},

		{"half of a temporary key", profileOf("object-stores: [{match: 's3://b/', credentials: {session-token: {env: A}}}]"), []string{`credentials has no access-key`, `credentials has no secret-key`}},
		{"a store of Google's", profileOf("object-stores: [{match: 'gs://b/'}]"), []string{`3:29: match: "gs://b/" is of a store that is not read; s3://, s3a:// and s3p:// are`}},
		{"a region that is none", profileOf("object-stores: [{match: 's3://b/', region: 'eu west'}]"), []string{`region: "eu west" is not a region; write one such as eu-west-1`}},
		{"two stores that Flink takes for one", profileOf("object-stores:\n  - {match: 's3://b/'}\n  - {match: 's3a://b/', region: eu}"), []string{`5:9: a second object store matches "s3a://b/"; the first is in line 4`}},
		{"two stores that match alike", profileOf("object-stores:\n  - {match: 's3://b/'}\n  - {match: 's3://b/', region: eu}"), []string{`5:9: a second object store matches "s3://b/"; the first is in line 4`}},
		{"a place with a password", profileOf("object-stores: [{match: 's3://key:hunter2@b/'}]"), []string{`3:29: match: "s3://***@b/" holds a user or password; a place may not`}},
		{"a place that moves the cursor", jobOf("pinned: [\"/a\\e[2J\"]"), []string{`5:18: an element of pinned: "/a\x1b[2J" holds a control character`}},
		{"a JobManager with a query", jobOf("flink: {rest: 'http://jm:8081/?token=hunter'}"), []string{`holds a query or fragment; write the address alone`}},
		{"a broker with a bare IPv6 address", kafkaOf("brokers: ['::1']"), []string{`an element of brokers: "::1" is not an address; write host:port, IPv6 as [address]:port`}},
		{"a broker with a blank in it", kafkaOf("brokers: ['k1 :9092']"), []string{`an element of brokers: "k1 :9092" is not an address; write host:port`}},
		{"a Fluss user without a password", jobOf("fluss: {username: u}"), []string{"5:16: fluss has no password"}},
		{"a Fluss password without a user", jobOf("fluss: {password: {prompt: true}}"), []string{"5:16: fluss has no username"}},
		{"ZooKeeper without a server", jobOf("fluss: {zookeeper: {path: /fluss}}"), []string{"zookeeper has no servers"}},
		{"ZooKeeper with an empty list of servers", jobOf("fluss: {zookeeper: {servers: []}}"), []string{"zookeeper names no server"}},
		{"a ZooKeeper server with a path", jobOf("fluss: {zookeeper: {servers: ['zk:2181/fluss']}}"), []string{`"zk:2181/fluss" is not an address`}},
		{"a path of a node without its root", jobOf("fluss: {zookeeper: {servers: [zk], path: fluss}}"), []string{`path: "fluss" is no path of a node; write one as /fluss`}},
		{"a path of a node that ends with a slash", jobOf("fluss: {zookeeper: {servers: [zk], path: /fluss/}}"), []string{`path: "/fluss/" is no path of a node`}},
		{"a path of a node that leads elsewhere", jobOf("fluss: {zookeeper: {servers: [zk], path: /a/../b}}"), []string{`path: "/a/../b" is no path of a node`}},
		{"a login at ZooKeeper", jobOf("fluss: {zookeeper: {servers: [zk], username: u}}"), []string{`unknown key "username" in zookeeper`}},
		{"a Flink user without a password", jobOf("flink: {username: u}"), []string{"5:16: flink has no password"}},
		{"a Flink password without a user", jobOf("flink: {password: {env: P}}"), []string{"5:16: flink has no username"}},
		{"a Flink token and a user", jobOf("flink: {token: {env: T}, username: u, password: {env: P}}"), []string{"flink has a token and a username; it must be one of them"}},
		{"a Flink token written down", jobOf("flink: {token: hunter2}"), []string{"token is text; secrets are not written into this file"}},
		{"a Flink key without its certificate", jobOf("flink: {tls: {key-file: k.pem}}"), []string{"tls has no cert-file"}},
		{"arguments in one text", jobOf("flink: {arguments: --name orders}"), []string{"arguments is text; it must be a list"}},
		{"a token without a token", kafkaOf("sasl: {mechanism: oauthbearer}"), []string{"4:13: sasl has no password"}},
		{"a date where text belongs", jobOf("action-state: {topic: 2026-01-02}"), []string{"topic is a date; it must be text; put it in quotes"}},
		{"true where text belongs", jobOf("engine: true"), []string{"engine is true or false; it must be text; put it in quotes"}},
		{"an empty element", jobOf("pinned: [~]"), []string{"5:18: an element of pinned has no value; it must be text"}},
		{"a name of 101 characters", "profiles: [{name: " + strings.Repeat("é", 101) + "}]\n", []string{"is too long; a name has 1 to 100 characters"}},
		{"a name that ends with a blank", "profiles: [{name: 'a '}]\n", []string{`name: "a " begins or ends with a blank`}},
		{"a value that is very long", jobOf("engine: " + strings.Repeat("x", 5000)), []string{strings.Repeat("x", 120) + `…" is not one of`}},
		{"a mapping to nowhere", profileOf("path-mappings: [{from: 'file:/a'}]"), []string{"3:21: path mapping has no to"}},
		{"a mapping from nowhere", profileOf("path-mappings: [{from: '', to: /b}]"), []string{`3:28: from: "" is blank; write a URI or a path`}},
		{"a mapping to itself", profileOf("path-mappings: [{from: /a, to: /a}]"), []string{"3:21: path mapping maps a place to itself"}},
		{"a place mapped twice", profileOf("path-mappings:\n  - {from: /a, to: /b}\n  - {from: /a, to: /c}"), []string{`5:9: "/a" is mapped twice, first in line 4`}},

		{"a key file without its certificate", kafkaOf("tls: {key-file: k.pem}"), []string{"4:12: tls has no cert-file"}},
		{"SASL without a mechanism", kafkaOf("sasl: {username: ops}"), []string{"4:13: sasl has no mechanism"}},
		{"SCRAM without a password", kafkaOf("sasl: {mechanism: SCRAM-SHA-256, username: ops}"), []string{"4:13: sasl has no password"}},
		{"a token for somebody", kafkaOf("sasl: {mechanism: oauthbearer, username: ops, password: {env: A}}"), []string{"4:38: username has no meaning for oauthbearer, because the token names the user"}},
		{"an access key without its secret", kafkaOf("tls: {}\nsasl: {mechanism: aws-msk-iam, username: AKIA}"), []string{"5:13: sasl has no password"}},
		{"a session token without a key", kafkaOf("tls: {}\nsasl: {mechanism: aws-msk-iam, session-token: {env: A}}"), []string{"5:13: sasl has no username", "5:13: sasl has no password"}},
		{"a session token for SCRAM", kafkaOf("sasl: {mechanism: scram-sha-256, username: ops, password: {env: A}, session-token: {env: B}}"), []string{"4:75: session-token has a meaning for aws-msk-iam only"}},
		{"IAM without TLS", kafkaOf("sasl: {mechanism: AWS-MSK-IAM}"), []string{"4:13: aws-msk-iam needs tls, and kafka has none"}},
		{"a password written down", kafkaOf("sasl: {mechanism: plain, username: ops, password: hunter2}"), []string{"4:57: password is text; secrets are not written into this file: write {env: NAME}"}},
		{"a password from two places", kafkaOf("sasl: {mechanism: plain, username: ops, password: {env: A, file: b}}"), []string{"4:57: password names 2 sources; it must be one of env, file, command and prompt"}},
		{"a password from nowhere", kafkaOf("sasl: {mechanism: plain, username: ops, password: {}}"), []string{"4:57: password names 0 sources"}},
		{"a prompt that is off", kafkaOf("sasl: {mechanism: plain, username: ops, password: {prompt: false}}"), []string{"4:57: password names no source"}},
		{"a command without a program", kafkaOf("sasl: {mechanism: plain, username: ops, password: {command: []}}"), []string{"4:57: password names no source"}},
		{"a command in one text", kafkaOf("sasl: {mechanism: plain, username: ops, password: {command: pass show kafka}}"), []string{"4:67: command is text; it must be a list"}},
		{"a secret of an unknown kind", kafkaOf("sasl: {mechanism: plain, username: ops, password: {envv: A}}"), []string{`4:58: unknown key in password; did you mean env?`}},

		{"a profile without a name", "profiles:\n  - access: operate\n", []string{"2:5: profile has no name"}},
		{"a profile with a blank name", "profiles:\n  - name: ''\n", []string{`2:11: name: "" is blank`}},
		{"a profile with a name that moves the cursor", "profiles:\n  - name: \"a\\e[2Jb\"\n", []string{`2:11: name: "a\x1b[2Jb" holds a character that can't be seen`}},
		{"a profile with the name of no profile", "profiles:\n  - name: adhoc\n", []string{`2:11: name: "adhoc" is the name of what flags and variables make`}},
		{"two profiles of one name", "profiles:\n  - name: a\n  - access: operate\n    name: a\n", []string{`4:11: a second profile named "a"; the first is in line 2`}},
		{"two jobs of one name", jobOf("engine: arkflow\n") + "      - name: j\n", []string{`7:15: a second job named "j"; the first is in line 4`}},
		{"two jobs without names on one topic", "profiles:\n  - name: a\n    jobs:\n      - action-state: {topic: t}\n      - action-state: {topic: t}\n", []string{`5:9: a second job named "t"; the first is in line 4`}},
		{"a default profile that is not there", "default-profile: ordres\nprofiles:\n  - name: orders\n", []string{`1:18: default-profile: there is no profile "ordres"; did you mean "orders"?; known: orders`}},
		{"a default profile and no profiles", "default-profile: a\n", []string{`1:18: default-profile: there is no profile "a"; there are none`}},

		{
			"several problems, the first one first",
			"default-profile: b\nprofiles:\n  - name: a\n    acess: operate\n    jobs:\n      - engine: spark\n        partitions: -4\n",
			[]string{`1:18: default-profile`, `4:5: unknown key "acess"`, `6:17: engine`, `7:21: partitions`},
		},

		{"an alias", "profiles:\n  - &a {name: a}\n  - *a\n", []string{"2:5: anchors and aliases", "3:5: anchors and aliases"}},
		{"a tag", profileOf("access: !!str operate"), []string{"3:13: tags (!…) are not allowed"}},
		{"a second document", "profiles: []\n---\nprofiles: []\n", []string{"2:1: a second document begins here; one file holds one"}},
		{"text that is not YAML", "profiles:\n  - name: a\n   kafka: {}\n", []string{"3: this is not YAML: did not find expected '-' indicator"}},
		{"a list that nobody closed", "profiles:\n  - name: a\n    kafka: {brokers: [k1\n    access: operate\n", []string{"3: this is not YAML: did not find expected ',' or ']'"}},
		{"a text that nobody closed", "profiles:\n  - name: \"a\n    access: operate\n", []string{"2: this is not YAML: found unexpected end of stream"}},
		{"two colons", "# a comment\n\nprofiles:\n  - name: a: b\n", []string{"4: this is not YAML: mapping values are not allowed in this context"}},
		{"a bell", "profiles:\n  - name: \"\a\"\n", []string{"2: this is not YAML: control characters are not allowed"}},
		{"a tab", "profiles:\n\t- name: a\n", []string{"2: this is not YAML: found character that cannot start any token"}},
		{"bytes that are not UTF-8", "profiles:\n  - name: \"\xff\"\n", []string{"2: the text is not UTF-8"}},
		{"a deep mapping", "a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {}}}}}}}}}}}}}}}}}}}}}}}}\n", []string{"1:93: nested deeper than 24 levels", "1:96: nested deeper than 24 levels"}},
		{"a very deep list", "a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), []string{"1: more than 256 brackets are open here"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, problems := decodeText(tt.text)
			if len(problems) != len(tt.want) {
				t.Fatalf("%d problems, want %d:\n%v\nin\n%s", len(problems), len(tt.want), problems, tt.text)
			}
			for i, want := range tt.want {
				if got := strings.TrimPrefix(problems[i].String(), "config.yaml:"); !strings.Contains(got, want) {
					t.Errorf("problem %d\n got %s\nwant %s", i, got, want)
				}
			}
			if strings.Contains(problems.Error(), "hunter2") {
				t.Errorf("the password is told: %v", problems)
			}
		})
	}
}

// A password without quotes can be what YAML calls an alias, an anchor or a
// tag. No error repeats it.
func TestAnUnquotedPasswordIsNeverTold(t *testing.T) {
	for _, password := range []string{"*hunter2", "&hunter2", "!hunter2", "!<hunter2>", "!h!hunter2", "@hunter2", "%hunter2", "`hunter2", "hunter2: x", "[hunter2", "'hunter2", "\"hunter2\\q\"", "|hunter2", "{hunter2", "- hunter2", "{hunter2}", "{hunter2, hunter2}", "{hunter2: }", "{? [hunter2] : x}", "[hunter2]", "{env: {hunter2: x}}", "2026-01-01 #hunter2", "{prompt: hunter2}"} {
		text := "profiles:\n  - name: a\n    kafka:\n      sasl:\n        mechanism: plain\n        username: ops\n        password: " + password + "\n"
		_, _, problems := decodeText(text)
		if len(problems) == 0 {
			t.Errorf("%s is accepted", password)
		}
		if strings.Contains(problems.Error(), "hunter2") {
			t.Errorf("%s is told: %v", password, problems)
		}
	}
}

// A bomb of aliases that goes off takes longer than any test may, and more memory
// than there is.
func TestABombOfAliasesIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	_, _, problems := decodeText(b.String())
	if len(problems) == 0 || !strings.Contains(problems[0].Message, "anchors and aliases") {
		t.Errorf("problems %v", problems)
	}
}

func TestWhatCanBeWrittenInMoreThanOneWay(t *testing.T) {
	job := func(t *testing.T, lines string) Job {
		t.Helper()
		c, _, problems := decodeText(jobOf(lines))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return c.Profiles[0].Jobs[0]
	}
	t.Run("a release without quotes", func(t *testing.T) {
		if got := job(t, "runtime: 0.3").Runtime; got != "0.3" {
			t.Errorf("runtime %q", got)
		}
	})
	t.Run("no control topic", func(t *testing.T) {
		if got := job(t, "action-state: {topic: t}").ActionState.ControlTopic; got != nil {
			t.Errorf("control topic %q is configured", *got)
		}
	})
	for _, blank := range []string{"", " ", "\t"} {
		t.Run(fmt.Sprintf("a control topic of %q is configured", blank), func(t *testing.T) {
			got := job(t, fmt.Sprintf("action-state: {topic: t, control-topic: %q}", blank)).ActionState.ControlTopic
			if got == nil || *got != blank {
				t.Errorf("control topic %v", got)
			}
		})
	}
	t.Run("names and topics keep their case and dots", func(t *testing.T) {
		c, _, problems := decodeText("default-profile: A.b\nprofiles:\n  - name: a.B\n  - name: A.b\n    jobs: [{name: X.y, action-state: {topic: My.Topic}}]\n")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if p := c.Profiles[1]; p.Name != "A.b" || p.Jobs[0].Name != "X.y" || p.Jobs[0].ActionState.Topic != "My.Topic" {
			t.Errorf("read %+v", p)
		}
	})
	t.Run("a mechanism in any case", func(t *testing.T) {
		c, _, problems := decodeText(kafkaOf("sasl: {mechanism: Scram-SHA-512, username: u, password: {prompt: true}}"))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := c.Profiles[0].Kafka.SASL.Mechanism; got != "scram-sha-512" {
			t.Errorf("mechanism %q", got)
		}
	})
	t.Run("a key for IAM, given, printed by a command, or left to the variables", func(t *testing.T) {
		for text, want := range map[string]SASL{
			"username: AKIA, password: {env: S}, session-token: {env: T}": {
				Username:     "AKIA",
				Password:     secret.Source{For: "profile a: sasl password", Env: "S"},
				SessionToken: secret.Source{For: "profile a: sasl session-token", Env: "T"},
			},
			"password: {command: [aws, configure, export-credentials]}": {
				Password: secret.Source{For: "profile a: sasl password", Command: []string{"aws", "configure", "export-credentials"}},
			},
			"mechanism: aws-msk-iam": {},
		} {
			if !strings.HasPrefix(text, "mechanism") {
				text = "mechanism: aws-msk-iam, " + text
			}
			want.Mechanism = "aws-msk-iam"
			c, _, problems := decodeText(kafkaOf("tls: {}\nsasl: {" + text + "}"))
			if len(problems) > 0 || !reflect.DeepEqual(*c.Profiles[0].Kafka.SASL, want) {
				t.Errorf("%s: %v, %+v", text, problems, c.Profiles[0].Kafka.SASL)
			}
		}
	})
	t.Run("an IPv6 broker, and one without a port", func(t *testing.T) {
		c, _, problems := decodeText(kafkaOf("brokers: ['[::1]:9092', k1]"))
		if len(problems) > 0 || !reflect.DeepEqual(c.Profiles[0].Kafka.Brokers, []string{"[::1]:9092", "k1"}) {
			t.Errorf("%v, %+v", problems, c)
		}
	})
	t.Run("where a Fluss cluster keeps its nodes", func(t *testing.T) {
		for lines, want := range map[string]ZooKeeper{
			"fluss: {table: d.t}":                                              {},
			"fluss: {zookeeper: {servers: [zk1, 'zk2:2182']}}":                 {Servers: []string{"zk1", "zk2:2182"}, Path: "/fluss"},
			"fluss: {zookeeper: {servers: [zk1], path: /prod/fluss, tls: {}}}": {Servers: []string{"zk1"}, Path: "/prod/fluss", TLS: &TLS{}},
			"fluss: {zookeeper: {servers: [zk1], path: /}}":                    {Servers: []string{"zk1"}, Path: "/"},
		} {
			if got := job(t, lines).Fluss.ZooKeeper; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v", lines, got)
			}
		}
	})
	t.Run("what follows from the rest of a job", func(t *testing.T) {
		for lines, want := range map[string]string{
			"arkflow: {wal: /w}": "arkflow kafka",
			"arkflow: {hub: 'http://h'}\naction-state: {topic: t}": "flink-agents kafka",
			"fluss: {table: d.t}":                           "flink-agents fluss",
			"engine: fluss-sink\nfluss: {table: d.t}":       "fluss-sink fluss",
			"fluss: {table: d.t}\naction-state: {topic: t}": "flink-agents kafka",
		} {
			if j := job(t, lines); j.Engine+" "+j.ActionState.Store != want {
				t.Errorf("%s is %s %s, want %s", lines, j.Engine, j.ActionState.Store, want)
			}
		}
	})
	t.Run("a job by its name or its id in Flink", func(t *testing.T) {
		for lines, want := range map[string]Flink{
			"flink: {rest: 'http://jm:8081', job: 'Orders (v2)'}": {REST: "http://jm:8081", Job: "Orders (v2)"},
			"flink: {job: 4f3c92d07be1458a96c0d1e2f3a4b5c6}":      {Job: "4f3c92d07be1458a96c0d1e2f3a4b5c6"},
			"flink: {rest: 'https://jm/flink/a/'}":                {REST: "https://jm/flink/a/"},
		} {
			if got := job(t, lines).Flink; !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %+v, want %+v", lines, got, want)
			}
		}
	})
	t.Run("how a job is logged in to Flink, and started there", func(t *testing.T) {
		got := job(t, "flink: {rest: 'https://jm', username: ops, password: {env: P}, tls: {server-name: flink}, jar: orders.jar, entry-class: a.B, arguments: [--name, 'two words', '']}").Flink
		if got.Username != "ops" || got.Password.Env != "P" || got.TLS == nil || got.TLS.ServerName != "flink" || !got.Token.IsZero() ||
			got.Jar != "orders.jar" || got.EntryClass != "a.B" || !slices.Equal(got.Arguments, []string{"--name", "two words", ""}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("TLS without any file", func(t *testing.T) {
		c, _, problems := decodeText(kafkaOf("tls: {}"))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := c.Profiles[0].Kafka.TLS; got == nil || *got != (TLS{}) {
			t.Errorf("tls %+v", got)
		}
	})
	t.Run("relative paths begin at the file's folder", func(t *testing.T) {
		c, _, problems := decodeText(profileOf("path-mappings: [{from: 'file:/a', to: copies}]\njobs: [{recovery-points: [points, '/abs', 's3://b/x', 'file:/y'], pinned: ['points/chk-1'], arkflow: {wal: wal.redb, token: {command: [bin/token, x]}}}]"))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p := c.Profiles[0]
		j := p.Jobs[0]
		got := append([]string{p.PathMappings[0].To, j.Pinned[0], j.ArkFlow.WAL, j.ArkFlow.Token.Command[0], j.ArkFlow.Token.Command[1]}, j.RecoveryPoints...)
		want := []string{
			"/etc/recoverctl/copies", "/etc/recoverctl/points/chk-1", "/etc/recoverctl/wal.redb", "/etc/recoverctl/bin/token", "x",
			"/etc/recoverctl/points", "/abs", "s3://b/x", "file:/y",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read %q, want %q", got, want)
		}
	})
	for name, text := range map[string]string{"an empty file": "", "comments only": "# nothing\n", "an empty document": "---\n", "no profiles": "profiles: []\n"} {
		t.Run(name, func(t *testing.T) {
			c, _, problems := decodeText(text)
			if len(problems) > 0 || len(c.Profiles) > 0 {
				t.Errorf("%v, %+v", problems, c)
			}
		})
	}
}

// Large files of the worst kinds: a cost that grows with the square of the
// size would take minutes.
// Whatever a large file holds, four times as much takes about four times as long.
func TestLargeFilesAreAnsweredQuickly(t *testing.T) {
	type text func(size int) string
	fill := func(begin, line, end string) text {
		return func(size int) string { return begin + strings.Repeat(line, size/len(line)) + end }
	}
	for name, text := range map[string]text{
		"unknown keys":             fill("", "- {a: b}\n", ""),
		"one wrong profile each":   fill("profiles:\n", "- {nam: b}\n", ""),
		"secrets that are none":    fill("profiles: [{name: a, kafka: {sasl: {password: {x: [", "{env: }, ", "]}}}}]"),
		"wrong secrets":            fill("profiles:\n- name: a\n  object-stores:\n", "  - {credentials: {access-key: {}}}\n", ""),
		"a mistake at the end":     fill("", "- a: b\n", "x"),
		"a mistake at the start":   fill("a: b: c\n", "- a: b\n", ""),
		"one text":                 fill("", "x", ""),
		"many brackets, closed":    fill("", "[]", ""),
		"brackets in brackets":     fill("a: "+strings.Repeat("[", 255), "{a,b},", ""),
		"question marks":           fill("", "? ", ""),
		"dashes":                   fill("", "- ", ""),
		"colons":                   fill("", ": ", ""),
		"quotes":                   fill("", "\"\" ", ""),
		"lines in a literal":       fill("a: |\n", " x\n", ""),
		"comments":                 fill("", "#\n", ""),
		"ever deeper":              deeper,
		"keys of one mapping":      keys,
		"one key again and again":  fill("", "k: v\n", ""),
		"names alike":              fill("profiles:\n", "- name: a\n", ""),
		"anchors":                  fill("", "- &a b\n", ""),
		"documents":                fill("", "---\n", ""),
		"profiles without a fault": func(size int) string { return "profiles:\n" + profiles(size) },
	} {
		t.Run(name, func(t *testing.T) {
			growth.InProportion(t, largeBytes, func(size int) {
				_, _, problems := decodeText(text(size))
				_ = problems.Error()
			})
		})
	}
}

const largeBytes = maxFileBytes / 8

func deeper(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func keys(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "key-%d: v\n", i)
	}
	return b.String()
}

func profiles(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "- name: p%d\n", i)
	}
	return b.String()
}
