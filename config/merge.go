package config

import (
	"strconv"
	"strings"

	"github.com/spf13/viper"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// merge lays defaults, the file's values, variables and flags over each other.
//
// Every layer holds texts, so that a value is read in one way wherever it was
// written. Keys are the flags' names: viper puts keys in lower case and splits
// them at dots, so no text of the operator's is ever a key.
func (l *Loaded) merge(file map[string]string) (*viper.Viper, error) {
	v := viper.New()
	v.SetDefault("output", outputs[0])
	v.SetDefault("timeout", DefaultTimeout)
	v.SetDefault("partitions", DefaultPartitions)
	variables := map[string]string{}
	for _, s := range settings {
		if s.kind == manySetting {
			continue // they add and do not override
		}
		if g, ok := l.variables[s.flag]; ok {
			variables[s.flag] = g.text
		}
		if _, ok := l.flagged[s.flag]; ok {
			if err := v.BindPFlag(s.flag, l.flags.Lookup(s.flag)); err != nil {
				return nil, fault.Wrap(fault.Bug, "merge settings", err, "--%s can't be bound", s.flag)
			}
		}
	}
	for _, layer := range []map[string]string{file, variables} {
		if err := v.MergeConfigMap(anyValues(layer)); err != nil {
			return nil, fault.Wrap(fault.Bug, "merge settings", err, "settings can't be merged")
		}
	}
	return v, nil
}

func anyValues(texts map[string]string) map[string]any {
	values := make(map[string]any, len(texts))
	for key, text := range texts {
		values[key] = text
	}
	return values
}

// link ties a setting to the file's value that it overrides.
type link struct {
	flag string
	path string // below the profile or the job
	// read is the file's value as the flag would say it.
	read func(p *Profile, j *Job) string
	// write puts the merged value in its place.
	write func(p *Profile, j *Job, v *viper.Viper)
}

func list(texts []string) string { return strings.Join(texts, ",") }

// links are the settings that override a value of the profile in use ...
var profileLinks = []link{
	{
		"brokers", "kafka.brokers",
		func(p *Profile, _ *Job) string { return list(p.Kafka.Brokers) },
		func(p *Profile, _ *Job, v *viper.Viper) { p.Kafka.Brokers = splitList(v.GetString("brokers")) },
	},
}

// ... or of the job in use.
var jobLinks = []link{
	{
		"topic", "action-state.topic",
		func(_ *Profile, j *Job) string { return j.ActionState.Topic },
		func(_ *Profile, j *Job, v *viper.Viper) { j.ActionState.Topic = v.GetString("topic") },
	},
	{
		"control-topic", "action-state.control-topic",
		func(_ *Profile, j *Job) string { return *j.ActionState.ControlTopic },
		func(_ *Profile, j *Job, v *viper.Viper) {
			text := v.GetString("control-topic")
			j.ActionState.ControlTopic = &text
		},
	},
	{
		"tombstones", "action-state.job-tombstones",
		func(_ *Profile, j *Job) string { return strconv.FormatBool(j.ActionState.JobTombstones) },
		func(_ *Profile, j *Job, v *viper.Viper) { j.ActionState.JobTombstones = v.GetBool("tombstones") },
	},
	{
		"max-parallelism", "max-parallelism",
		func(_ *Profile, j *Job) string { return strconv.Itoa(j.MaxParallelism) },
		func(_ *Profile, j *Job, v *viper.Viper) { j.MaxParallelism = v.GetInt("max-parallelism") },
	},
	{
		"partitions", "partitions",
		func(_ *Profile, j *Job) string { return strconv.Itoa(j.Partitions) },
		func(_ *Profile, j *Job, v *viper.Viper) { j.Partitions = v.GetInt("partitions") },
	},
	{
		"runtime", "runtime",
		func(_ *Profile, j *Job) string { return j.Runtime },
		func(_ *Profile, j *Job, v *viper.Viper) { j.Runtime = v.GetString("runtime") },
	},
	{
		"flink-rest", "flink.rest",
		func(_ *Profile, j *Job) string { return j.Flink.REST },
		func(_ *Profile, j *Job, v *viper.Viper) { j.Flink.REST = v.GetString("flink-rest") },
	},
	{
		"flink-job", "flink.job",
		func(_ *Profile, j *Job) string { return j.Flink.Job },
		func(_ *Profile, j *Job, v *viper.Viper) { j.Flink.Job = v.GetString("flink-job") },
	},
	{
		"fluss", "fluss.servers",
		func(_ *Profile, j *Job) string { return list(j.Fluss.Servers) },
		func(_ *Profile, j *Job, v *viper.Viper) { j.Fluss.Servers = splitList(v.GetString("fluss")) },
	},
	{
		"table", "fluss.table",
		func(_ *Profile, j *Job) string { return j.Fluss.Table },
		func(_ *Profile, j *Job, v *viper.Viper) { j.Fluss.Table = v.GetString("table") },
	},
	{
		"hub", "arkflow.hub",
		func(_ *Profile, j *Job) string { return j.ArkFlow.Hub },
		func(_ *Profile, j *Job, v *viper.Viper) { j.ArkFlow.Hub = v.GetString("hub") },
	},
	{
		"wal", "arkflow.wal",
		func(_ *Profile, j *Job) string { return j.ArkFlow.WAL },
		func(_ *Profile, j *Job, v *viper.Viper) { j.ArkFlow.WAL = v.GetString("wal") },
	},
}
