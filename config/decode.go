package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// decode takes a whole configuration out of a tree. Without a root it is
// empty.
func (d *decoder) decode(root *yaml.Node) Config {
	var c Config
	if root == nil || isNull(root) {
		return c
	}
	top := d.section(root, "the configuration", "")
	c.DefaultProfile = top.text("default-profile", notBlank)
	first := map[string]*yaml.Node{}
	top.each("profiles", func(n *yaml.Node, path string) {
		p := d.profile(n, path)
		d.once(first, "profile", p.Name, valueNode(n, "name"))
		c.Profiles = append(c.Profiles, p)
	})
	top.close()
	if n := top.value["default-profile"]; c.DefaultProfile != "" && first[c.DefaultProfile] == nil {
		d.problem(n, "default-profile: %s", unknownName("profile", c.DefaultProfile, profileNames(c.Profiles)))
	}
	return c
}

// once reports a name that was there before.
func (d *decoder) once(first map[string]*yaml.Node, kind, name string, n *yaml.Node) {
	if name == "" || n == nil {
		return
	}
	if before, twice := first[name]; twice {
		d.problem(n, "a second %s named %s; the first is in line %d", kind, quoted(name), before.Line)
		return
	}
	first[name] = n
}

// valueNode is the value of a mapping's key, or the node itself.
func valueNode(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return n
}

// unknownName is the sentence about a name that nothing has.
func unknownName(kind, name string, known []string) string {
	sentence := fmt.Sprintf("there is no %s %s", kind, quoted(name))
	if len(known) == 0 {
		return sentence + "; there are none"
	}
	if near := nearest(name, known); near != "" {
		sentence += fmt.Sprintf("; did you mean %s?", quoted(near))
	}
	const maxListed = 20
	shown := make([]string, 0, maxListed+1)
	for i, k := range known {
		if i == maxListed {
			shown = append(shown, fmt.Sprintf("and %d more", len(known)-maxListed))
			break
		}
		shown = append(shown, printable(k))
	}
	return sentence + "; known: " + strings.Join(shown, ", ")
}

func (d *decoder) profile(n *yaml.Node, path string) Profile {
	s := d.section(n, "profile", path)
	p := Profile{Environment: access.Production, Access: access.ReadOnly}
	s.need("name")
	p.Name = s.text("name", named)
	d.owner = "profile " + p.Name
	if text := s.text("environment", environmentWord); text != "" {
		p.Environment, _ = access.ParseEnvironment(text)
	}
	if text := s.text("access", levelWord); text != "" {
		p.Access, _ = access.ParseLevel(text)
	}
	p.Kafka = d.kafka(s.child("kafka"))
	matched := map[string]*yaml.Node{}
	s.each("object-stores", func(n *yaml.Node, path string) {
		o := d.objectStore(n, path)
		same := s3Scheme.ReplaceAllString(o.Match, "s3://")
		if before, twice := matched[same]; twice && o.Match != "" {
			d.problem(n, "a second object store matches %s; the first is in line %d", quoted(o.Match), before.Line)
		}
		matched[same] = n
		p.ObjectStores = append(p.ObjectStores, o)
	})
	mapped := map[string]*yaml.Node{}
	s.each("path-mappings", func(n *yaml.Node, path string) {
		m := d.pathMapping(n, path)
		if before, twice := mapped[m.From]; twice {
			d.problem(n, "%s is mapped twice, first in line %d", quoted(m.From), before.Line)
		} else if m.From != "" {
			mapped[m.From] = n
		}
		p.PathMappings = append(p.PathMappings, m)
	})
	first := map[string]*yaml.Node{}
	s.each("jobs", func(n *yaml.Node, path string) {
		j := d.job(n, path, len(p.Jobs)+1)
		d.once(first, "job", j.Name, valueNode(n, "name"))
		p.Jobs = append(p.Jobs, j)
	})
	s.close()
	return p
}

// tls is the section of that name; nil where it is absent.
func (d *decoder) tls(s *section) *TLS {
	tls := s.child("tls")
	if tls == nil {
		return nil
	}
	t := &TLS{
		CAFile: d.filePath(tls, "ca-file"), CertFile: d.filePath(tls, "cert-file"), KeyFile: d.filePath(tls, "key-file"),
		ServerName: tls.text("server-name", notBlank),
	}
	if tls.value["cert-file"] != nil {
		tls.need("key-file")
	}
	if tls.value["key-file"] != nil {
		tls.need("cert-file")
	}
	tls.close()
	return t
}

func (d *decoder) kafka(s *section) Kafka {
	k := Kafka{Timeouts: Timeouts{Dial: DefaultDialTimeout, Request: DefaultTimeout}}
	if s == nil {
		return k
	}
	k.Brokers = s.texts("brokers", serverAddress)
	k.TLS = d.tls(s)
	if sasl := s.child("sasl"); sasl != nil {
		k.SASL = d.sasl(sasl)
		if k.SASL.Mechanism == "aws-msk-iam" && s.value["tls"] == nil {
			d.problem(sasl.node, "aws-msk-iam needs tls, and kafka has none; tls: {} trusts the system's authorities")
		}
	}
	if t := s.child("timeouts"); t != nil {
		k.Timeouts.Dial = t.duration("dial", k.Timeouts.Dial)
		k.Timeouts.Request = t.duration("request", k.Timeouts.Request)
		t.close()
	}
	s.close()
	return k
}

func (d *decoder) sasl(s *section) *SASL {
	known := oneOf(mechanisms...)
	sasl := &SASL{
		Mechanism: strings.ToLower(s.text("mechanism", func(text string) string { return known(strings.ToLower(text)) })),
		Username:  s.text("username", notBlank),
		Password:  d.secret(s, "password"),

		SessionToken: d.secret(s, "session-token"),
	}
	s.need("mechanism")
	switch sasl.Mechanism {
	case "plain", "scram-sha-256", "scram-sha-512":
		s.need("username")
		s.need("password")
	case "oauthbearer":
		s.need("password")
		if n := s.keys["username"]; n != nil {
			d.problem(n, "username has no meaning for oauthbearer, because the token names the user; remove it")
		}
	case "aws-msk-iam":
		if s.keys["username"] != nil {
			s.need("password")
		}
		if s.keys["session-token"] != nil {
			s.need("username")
			s.need("password")
		}
	}
	if n := s.keys["session-token"]; n != nil && sasl.Mechanism != "" && sasl.Mechanism != "aws-msk-iam" {
		d.problem(n, "session-token has a meaning for aws-msk-iam only; remove it")
	}
	s.close()
	return sasl
}

func (d *decoder) objectStore(n *yaml.Node, path string) ObjectStore {
	s := d.section(n, "object store", path)
	s.need("match")
	o := ObjectStore{
		Match:     s.text("match", storePrefix),
		Endpoint:  s.text("endpoint", httpURL),
		Region:    s.text("region", region),
		PathStyle: s.truth("path-style"),
	}
	if given := s.get("credentials"); given != nil && given.Kind == yaml.ScalarNode {
		d.scalar(given, "credentials", "!!str", `default, or access-key and secret-key`, func(text string) string {
			if text == "default" {
				return ""
			}
			return "is not default; write default, or access-key and secret-key"
		})
	} else if given != nil {
		c := d.section(given, "credentials", s.at("credentials"))
		c.need("access-key")
		c.need("secret-key")
		o.Credentials.AccessKey = d.secret(c, "access-key")
		o.Credentials.SecretKey = d.secret(c, "secret-key")
		o.Credentials.SessionToken = d.secret(c, "session-token")
		c.close()
	}
	s.close()
	return o
}

func (d *decoder) pathMapping(n *yaml.Node, path string) PathMapping {
	s := d.section(n, "path mapping", path)
	s.need("from")
	s.need("to")
	m := PathMapping{From: s.text("from", place), To: s.text("to", place)}
	if m.From != "" && m.To != "" {
		if why := m.problem(); why != "" {
			d.problem(n, "path mapping %s", why)
		}
	}
	m.To = d.absolute(m.To)
	s.close()
	return m
}

func (d *decoder) job(n *yaml.Node, path string, number int) Job {
	s := d.section(n, "job", path)
	j := Job{
		Name:               s.text("name", named),
		Engine:             s.text("engine", oneOf(engines...)),
		Runtime:            s.word("runtime", oneOf(runtimes...)),
		MaxParallelism:     s.count("max-parallelism", 0, parallelismRange),
		Partitions:         s.count("partitions", DefaultPartitions, partitionsRange),
		RecoveryPoints:     d.places(s, "recovery-points"),
		Pinned:             d.places(s, "pinned"),
		KeepRecoveryPoints: s.count("keep-recovery-points", DefaultKeepRecoveryPoints, keepRange),
	}
	if a := s.child("action-state"); a != nil {
		j.ActionState.Store = a.text("store", oneOf(stores...))
		j.ActionState.Topic = a.text("topic", notBlank)
		if a.get("control-topic") != nil {
			if text, ok := d.scalar(a.value["control-topic"], "control-topic", "!!str", "text; put it in quotes"); ok {
				j.ActionState.ControlTopic = &text
			}
		}
		j.ActionState.JobTombstones = a.truth("job-tombstones")
		a.close()
	}
	if f := s.child("flink"); f != nil {
		j.Flink.REST = f.text("rest", httpURL)
		j.Flink.Job = f.text("job", notBlank)
		j.Flink.OperatorUID = f.text("operator-uid", notBlank)
		d.flinkLogin(f, &j.Flink)
		j.Flink.Jar, j.Flink.EntryClass, j.Flink.Arguments = f.text("jar", notBlank), f.text("entry-class", notBlank), f.texts("arguments")
		f.close()
	}
	if f := s.child("fluss"); f != nil {
		j.Fluss = Fluss{
			Servers: f.texts("servers", serverAddress), Table: f.text("table", notBlank),
			Username: f.text("username", notBlank), Password: d.secret(f, "password"), ZooKeeper: d.zooKeeper(f),
		}
		if f.value["username"] != nil {
			f.need("password")
		}
		if f.value["password"] != nil {
			f.need("username")
		}
		f.close()
	}
	if a := s.child("arkflow"); a != nil {
		j.ArkFlow = ArkFlow{Hub: a.text("hub", httpURL), WAL: d.absolute(a.text("wal", place)), Token: d.secret(a, "token")}
		a.close()
	}
	s.close()
	j.settle(number)
	return j
}

// zooKeeper is where a Fluss cluster keeps its nodes.
func (d *decoder) zooKeeper(s *section) ZooKeeper {
	z := s.child("zookeeper")
	if z == nil {
		return ZooKeeper{}
	}
	z.need("servers")
	out := ZooKeeper{Servers: z.texts("servers", serverAddress), Path: z.text("path", nodePath), TLS: d.tls(z)}
	if n := z.value["servers"]; n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.problem(n, "zookeeper names no server; give one, or leave zookeeper out")
	}
	if out.Path == "" {
		out.Path = DefaultZooKeeperPath
	}
	z.close()
	return out
}

// settle gives a job what follows from the rest of it: a name, an engine and a
// store.
func (j *Job) settle(number int) {
	if j.Engine == "" {
		j.Engine = "flink-agents"
		if (j.ArkFlow.Hub != "" || j.ArkFlow.WAL != "") && j.ActionState.Topic == "" {
			j.Engine = "arkflow"
		}
	}
	if j.ActionState.Store == "" {
		j.ActionState.Store = "kafka"
		if j.Fluss.Table != "" && j.ActionState.Topic == "" {
			j.ActionState.Store = "fluss"
		}
	}
	switch {
	case j.Name != "":
	case j.ActionState.Topic != "":
		j.Name = j.ActionState.Topic
	case j.Fluss.Table != "":
		j.Name = j.Fluss.Table
	default:
		j.Name = fmt.Sprintf("job-%d", number)
	}
}

// flinkLogin is how we identify ourselves to a JobManager.
func (d *decoder) flinkLogin(s *section, f *Flink) {
	f.Token, f.Username, f.Password, f.TLS = d.secret(s, "token"), s.text("username", notBlank), d.secret(s, "password"), d.tls(s)
	if s.value["username"] != nil {
		s.need("password")
	}
	if s.value["password"] != nil {
		s.need("username")
	}
	if n := s.value["token"]; n != nil && s.value["username"] != nil {
		d.problem(n, "flink has a token and a username; it must be one of them")
	}
}

// secret is where the secret of a key is found; the zero Source where the key
// is absent. No problem ever repeats what stands there: it may be the secret.
func (d *decoder) secret(s *section, key string) secret.Source {
	n := s.get(key)
	if n == nil {
		return secret.Source{}
	}
	if n.Kind != yaml.MappingNode {
		d.problem(n, "%s %s; secrets are not written into this file: write {env: NAME}, {file: PATH}, {command: [PROGRAM, ARGUMENT]} or {prompt: true}", key, described(n))
		return secret.Source{}
	}
	before := len(d.problems)
	c := d.secretSection(n, key, s.at(key))
	source := secret.Source{
		For:     d.owner + ": " + s.name + " " + key,
		Env:     c.text("env", notBlank),
		File:    d.filePath(c, "file"),
		Command: c.texts("command"),
		Prompt:  c.truth("prompt"),
	}
	c.close()
	if command := source.Command; len(command) > 0 && strings.ContainsRune(command[0], filepath.Separator) {
		command[0] = d.absolute(command[0])
	}
	if len(c.value) != 1 {
		d.problem(n, "%s names %d sources; it must be one of env, file, command and prompt", key, len(c.value))
	} else if source.Validate() != nil && len(d.problems) == before {
		d.problem(n, "%s names no source; it must be one of env, file, command and prompt", key)
	}
	return source
}

// filePath is the file of a key, made absolute.
func (d *decoder) filePath(s *section, key string) string { return d.absolute(s.text(key, place)) }

// places are the URIs and paths of a key, paths made absolute.
func (d *decoder) places(s *section, key string) []string {
	list := s.texts(key, place)
	for i, text := range list {
		list[i] = d.absolute(text)
	}
	return list
}

// absolute is a path as seen from the configuration file's folder. URIs and
// absolute paths stay as they are.
func (d *decoder) absolute(text string) string {
	if text == "" || uriScheme.MatchString(text) || filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(d.dir, text)
}

func profileNames(profiles []Profile) []string {
	names := make([]string, 0, len(profiles))
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	return slices.Clip(names)
}

func jobNames(jobs []Job) []string {
	names := make([]string, 0, len(jobs))
	for _, j := range jobs {
		names = append(names, j.Name)
	}
	return slices.Clip(names)
}
