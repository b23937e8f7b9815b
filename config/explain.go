package config

import (
	"fmt"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/secret"
)

// Setting is one value as config show prints it.
type Setting struct {
	Key    string // as in kafka.brokers or jobs[order-agent].runtime
	Value  string // as written, so not yet safe for a terminal; secrets as ***
	Origin Origin // NotSet where there is no value
}

// Explain is every value of a selection and where it came from, always in the
// same order: this run's, the profile's, then those of the chosen job, or of
// every job where none is chosen.
func (l *Loaded) Explain(sel Selection) []Setting {
	e := explanation{origins: sel.origins, settings: append([]Setting(nil), sel.run...)}
	p := sel.Profile
	e.add("profile", "profile", p.Name)
	e.add("environment", "environment", p.Environment.String())
	e.add("access", "access", p.Access.String())
	e.kafka(p.Kafka)
	for i, o := range p.ObjectStores {
		e.objectStore(fmt.Sprintf("object-stores[%d]", i), o)
	}
	for i, m := range p.PathMappings {
		key := fmt.Sprintf("path-mappings[%d]", i)
		e.add(key, key, m.From+" = "+m.To)
	}
	for i := range p.Jobs {
		if sel.Job == nil || sel.Job == &p.Jobs[i] {
			e.job(fmt.Sprintf("jobs[%s].", p.Jobs[i].Name), fmt.Sprintf("jobs[%d].", i), p.Jobs[i])
		}
	}
	return e.settings
}

// runSettings are the values of this run that belong to no profile.
func (l *Loaded) runSettings(sel Selection) []Setting {
	e := explanation{origins: map[string]Origin{}}
	for _, flag := range []string{"config", "output", "timeout", "no-color", "job"} {
		if _, origin, ok := l.said(flag); ok {
			e.origins[flag] = origin
		}
	}
	if l.NoColor && e.origins["no-color"].Kind == NotSet {
		e.origins["no-color"] = Origin{Kind: Variable, Name: "NO_COLOR"}
	}
	e.add("config", "config", l.Path)
	e.add("output", "output", l.Output)
	e.add("timeout", "timeout", l.Timeout.String())
	e.add("no-color", "no-color", strconv.FormatBool(l.NoColor))
	job := ""
	if sel.Job != nil {
		job = sel.Job.Name
	}
	e.add("job", "job", job)
	return e.settings
}

// explanation collects settings. A value whose path has no origin is a
// default, and no value at all is not set.
type explanation struct {
	origins  map[string]Origin
	settings []Setting
}

func (e *explanation) add(key, path, value string) {
	origin, known := e.origins[path]
	if !known && value != "" {
		origin = Origin{Kind: Default}
	}
	e.settings = append(e.settings, Setting{Key: key, Value: shown(value), Origin: origin})
}

// addSecret adds where a secret comes from, never what it is.
func (e *explanation) addSecret(key, path string, source secret.Source) {
	value := ""
	if !source.IsZero() {
		value = "*** from " + source.String()
	}
	e.add(key, path, value)
}

// explain adds the keys of a tls section.
func (t *TLS) explain(add func(key, value string)) {
	add("tls.ca-file", t.CAFile)
	add("tls.cert-file", t.CertFile)
	add("tls.key-file", t.KeyFile)
	add("tls.server-name", t.ServerName)
}

func (e *explanation) kafka(k Kafka) {
	add := func(key, value string) { e.add("kafka."+key, "kafka."+key, value) }
	add("brokers", list(k.Brokers))
	if k.TLS == nil {
		add("tls", "off")
	} else {
		add("tls", "on")
		k.TLS.explain(add)
	}
	if k.SASL == nil {
		add("sasl", "off")
	} else {
		add("sasl.mechanism", k.SASL.Mechanism)
		add("sasl.username", k.SASL.Username)
		e.addSecret("kafka.sasl.password", "kafka.sasl.password", k.SASL.Password)
		if k.SASL.Mechanism == "aws-msk-iam" {
			e.addSecret("kafka.sasl.session-token", "kafka.sasl.session-token", k.SASL.SessionToken)
		}
	}
	add("timeouts.dial", k.Timeouts.Dial.String())
	add("timeouts.request", k.Timeouts.Request.String())
}

func (e *explanation) objectStore(at string, o ObjectStore) {
	add := func(key, value string) { e.add(at+"."+key, at+"."+key, value) }
	add("match", o.Match)
	add("endpoint", o.Endpoint)
	add("region", o.Region)
	add("path-style", strconv.FormatBool(o.PathStyle))
	if o.Credentials.AccessKey.IsZero() {
		add("credentials", "default")
		return
	}
	e.addSecret(at+".credentials.access-key", at+".credentials.access-key", o.Credentials.AccessKey)
	e.addSecret(at+".credentials.secret-key", at+".credentials.secret-key", o.Credentials.SecretKey)
	if !o.Credentials.SessionToken.IsZero() {
		e.addSecret(at+".credentials.session-token", at+".credentials.session-token", o.Credentials.SessionToken)
	}
}

func (e *explanation) job(shownAt, at string, j Job) {
	add := func(key, value string) { e.add(shownAt+key, at+key, value) }
	add("engine", j.Engine)
	add("runtime", j.Runtime)
	add("action-state.store", j.ActionState.Store)
	add("action-state.topic", j.ActionState.Topic)
	control := ""
	if j.ActionState.ControlTopic != nil {
		control = *j.ActionState.ControlTopic
	}
	add("action-state.control-topic", control)
	add("action-state.job-tombstones", strconv.FormatBool(j.ActionState.JobTombstones))
	parallelism := ""
	if j.MaxParallelism > 0 {
		parallelism = strconv.Itoa(j.MaxParallelism)
	}
	add("max-parallelism", parallelism)
	add("partitions", strconv.Itoa(j.Partitions))
	for i, text := range j.RecoveryPoints {
		add(fmt.Sprintf("recovery-points[%d]", i), text)
	}
	for i, text := range j.Pinned {
		add(fmt.Sprintf("pinned[%d]", i), text)
	}
	add("keep-recovery-points", strconv.Itoa(j.KeepRecoveryPoints))
	add("flink.rest", j.Flink.REST)
	add("flink.job", j.Flink.Job)
	add("flink.operator-uid", j.Flink.OperatorUID)
	e.addSecret(shownAt+"flink.token", at+"flink.token", j.Flink.Token)
	add("flink.username", j.Flink.Username)
	e.addSecret(shownAt+"flink.password", at+"flink.password", j.Flink.Password)
	if t := j.Flink.TLS; t != nil {
		t.explain(func(key, value string) { add("flink."+key, value) })
	}
	add("flink.jar", j.Flink.Jar)
	add("flink.entry-class", j.Flink.EntryClass)
	for i, text := range j.Flink.Arguments {
		add(fmt.Sprintf("flink.arguments[%d]", i), text)
	}
	add("fluss.servers", list(j.Fluss.Servers))
	add("fluss.table", j.Fluss.Table)
	add("fluss.username", j.Fluss.Username)
	e.addSecret(shownAt+"fluss.password", at+"fluss.password", j.Fluss.Password)
	add("fluss.zookeeper.servers", list(j.Fluss.ZooKeeper.Servers))
	add("fluss.zookeeper.path", j.Fluss.ZooKeeper.Path)
	if t := j.Fluss.ZooKeeper.TLS; t != nil {
		t.explain(func(key, value string) { add("fluss.zookeeper."+key, value) })
	}
	add("arkflow.hub", j.ArkFlow.Hub)
	add("arkflow.wal", j.ArkFlow.WAL)
	e.addSecret(shownAt+"arkflow.token", at+"arkflow.token", j.ArkFlow.Token)
}
