package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Answers are what a person says to config init. Empty answers are left out of
// the file.
type Answers struct {
	Profile     string
	Environment string
	Brokers     []string

	TLS    bool
	CAFile string

	Mechanism   string // of the login; empty: none
	Username    string
	PasswordEnv string // the variable that holds the password, never the password

	Job            string
	Topic          string
	ControlTopic   string
	Runtime        string
	RecoveryPoints []string
	FlinkREST      string
}

// Compose writes the configuration file that says what was answered: one profile
// with at most one job. Load judges it like any other file.
func Compose(a Answers) ([]byte, error) {
	profile := texts("name", a.Profile, "environment", a.Environment, "access", "read-only")
	if kafka := a.kafka(); len(kafka.Content) > 0 {
		add(profile, "kafka", kafka)
	}
	if job := a.job(); job != nil {
		add(profile, "jobs", listOf(job))
	}
	doc := &yaml.Node{Kind: yaml.MappingNode}
	add(doc, "profiles", listOf(profile))
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return text, nil
}

func (a Answers) kafka() *yaml.Node {
	kafka := &yaml.Node{Kind: yaml.MappingNode}
	addTexts(kafka, "brokers", a.Brokers)
	if a.TLS {
		add(kafka, "tls", texts("ca-file", a.CAFile))
	}
	if a.Mechanism != "" {
		login := texts("mechanism", a.Mechanism, "username", a.Username)
		if a.PasswordEnv != "" {
			add(login, "password", texts("env", a.PasswordEnv))
		}
		add(kafka, "sasl", login)
	}
	return kafka
}

func (a Answers) job() *yaml.Node {
	if a.Topic == "" && a.Job == "" && len(a.RecoveryPoints) == 0 && a.FlinkREST == "" {
		return nil
	}
	job := texts("name", a.Job, "engine", "flink-agents", "runtime", a.Runtime)
	if a.Topic != "" {
		add(job, "action-state", texts("store", "kafka", "topic", a.Topic, "control-topic", a.ControlTopic))
	}
	addTexts(job, "recovery-points", a.RecoveryPoints)
	if a.FlinkREST != "" {
		add(job, "flink", texts("rest", a.FlinkREST))
	}
	return job
}

// texts is a mapping of keys and texts, without those that are empty.
func texts(pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			add(n, pairs[i], textNode(pairs[i+1]))
		}
	}
	return n
}

// textNode is a text whatever it looks like: a topic may be called 007 or yes.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func listOf(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

func add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, textNode(key), value)
}

func addTexts(n *yaml.Node, key string, all []string) {
	if len(all) == 0 {
		return
	}
	list := listOf()
	for _, text := range all {
		list.Content = append(list.Content, textNode(text))
	}
	add(n, key, list)
}
