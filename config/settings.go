package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/internal/access"
)

// settingKind says how a setting is written.
type settingKind uint8

const (
	textSetting  settingKind = iota
	truthSetting             // true or false; the flag alone means true
	countSetting             // a whole number
	spanSetting              // a duration
	manySetting              // repeatable: the flag again and again, the variable with one value a line
)

// level says what a setting belongs to.
type level uint8

const (
	ofRun     level = iota // this run of the program
	ofProfile              // the profile in use
	ofJob                  // the job in use
)

// setting is one thing that a flag and its variable say. The flag's name is
// also viper's key: lower case, no dots.
type setting struct {
	flag   string
	short  string
	kind   settingKind
	of     level
	check  check // nil: any text, even none
	usage  string
	silent bool // no RECOVERCTL_ variable
}

var environmentWord = oneOf(access.Production.String(), access.Staging.String(), access.Development.String())

var levelWord = oneOf(access.ReadOnly.String(), access.Operate.String())

// The settings, in the order of the help text. `control-topic` has no check: a
// blank one is configured, and the rules of a restore judge it.
var settings = []setting{
	{flag: "config", check: place, usage: "read this configuration `FILE`"},
	{flag: "profile", short: "p", check: notBlank, usage: "use the profile `NAME` (adhoc: none of the file)"},
	{flag: "job", short: "j", check: notBlank, usage: "use the job `NAME` of the profile"},
	{flag: "output", short: "o", check: oneOf(outputs...), usage: "print `text|json`"},
	{flag: "timeout", kind: spanSetting, check: duration, usage: "wait at most this `DURATION` for each network step"},
	{flag: "access", check: levelWord, usage: "`read-only|operate`; the stricter of file, variable and flag wins"},
	{flag: "environment", check: environmentWord, usage: "`production|staging|development`; the stricter of file and flag wins"},
	{flag: "no-color", kind: truthSetting, check: truth, silent: true, usage: "print without colours; NO_COLOR does the same"},

	{flag: "brokers", of: ofProfile, check: servers, usage: "Kafka brokers, as `HOST:PORT,...`"},
	{flag: "topic", of: ofJob, check: notBlank, usage: "the action-state `TOPIC`"},
	{flag: "control-topic", of: ofJob, usage: "the `TOPIC` that cleanups are recorded on"},
	{flag: "tombstones", kind: truthSetting, of: ofJob, check: truth, usage: "the job itself writes tombstones"},
	{flag: "points", kind: manySetting, of: ofJob, check: place, usage: "search this `URI` for recovery points too (repeatable)"},
	{flag: "map", kind: manySetting, of: ofProfile, check: mapping, usage: "read `FROM=TO`: what the job calls FROM is under the folder or URI TO (repeatable)"},
	{flag: "max-parallelism", kind: countSetting, of: ofJob, check: parallelismRange, usage: "the job's maximum parallelism, `1-32768`"},
	{flag: "partitions", kind: countSetting, of: ofJob, check: partitionsRange, usage: "`NUMBER` of partitions that the job gives a topic not yet made"},
	{flag: "runtime", of: ofJob, check: oneOf(runtimes...), usage: "the job's Flink Agents release, `0.1|0.2|0.3|next`"},
	{flag: "flink-rest", of: ofJob, check: httpURL, usage: "`URL` of the job's JobManager"},
	{flag: "flink-job", of: ofJob, check: notBlank, usage: "`NAME` or id of the job in Flink"},
	{flag: "fluss", of: ofJob, check: servers, usage: "Fluss servers, as `HOST:PORT,...`"},
	{flag: "table", of: ofJob, check: notBlank, usage: "the Fluss `TABLE`, as database.table"},
	{flag: "hub", of: ofJob, check: httpURL, usage: "`URL` of the ArkFlow hub"},
	{flag: "wal", of: ofJob, check: place, usage: "the ArkFlow write-ahead log, as a `PATH` or URI"},
}

// Flags registers every global and ad-hoc flag. A set of flags that was parsed
// is then given to Load.
func Flags(fs *pflag.FlagSet) {
	for _, s := range settings {
		switch s.kind {
		case truthSetting:
			fs.BoolP(s.flag, s.short, false, s.usage)
		case countSetting:
			fs.IntP(s.flag, s.short, s.defaultCount(), s.usage)
		case spanSetting:
			fs.DurationP(s.flag, s.short, DefaultTimeout, s.usage)
		case manySetting:
			fs.StringArrayP(s.flag, s.short, nil, s.usage)
		default:
			fs.StringP(s.flag, s.short, s.defaultText(), s.usage)
		}
	}
}

func (s setting) defaultCount() int {
	if s.flag == "partitions" {
		return DefaultPartitions
	}
	return 0
}

func (s setting) defaultText() string {
	if s.flag == "output" {
		return outputs[0]
	}
	return ""
}

// given is what was said for a setting in one place.
type given struct {
	text string   // of every kind but the repeatable
	many []string // of the repeatable
}

// wrong is what is wrong with a value, or nothing.
func (s setting) wrong(g given) string {
	if s.check == nil {
		return ""
	}
	values := g.many
	if s.kind != manySetting {
		values = []string{g.text}
	}
	for _, v := range values {
		if why := s.check(v); why != "" {
			return quoted(v) + " " + why
		}
	}
	return ""
}

// fromFlag is what a flag says, if it was given at all. An empty flag is given.
func (s setting) fromFlag(fs *pflag.FlagSet) (given, bool) {
	if fs == nil {
		return given{}, false
	}
	flag := fs.Lookup(s.flag)
	if flag == nil || !flag.Changed {
		return given{}, false
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return given{many: list.GetSlice()}, true
	}
	return given{text: flag.Value.String()}, true
}

// fromVariable is what a setting's variable says. An empty variable is absent,
// and so are the empty lines of a repeatable one.
func (s setting) fromVariable(variables map[string]string) (given, bool) {
	text := variables[variableName(s.flag)]
	if s.silent || text == "" {
		return given{}, false
	}
	if s.kind != manySetting {
		return given{text: text}, true
	}
	var many []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			many = append(many, line)
		}
	}
	return given{many: many}, len(many) > 0
}

// variablesOf is the variables of an environment as os.Environ gives it; of
// one that is there twice, the last.
func variablesOf(environ []string) map[string]string {
	variables := make(map[string]string, len(environ))
	for _, line := range environ {
		if name, text, ok := strings.Cut(line, "="); ok {
			variables[name] = text
		}
	}
	return variables
}

// misspelled is a warning for each RECOVERCTL_ variable that is none of ours
// and close to one that is: it would be ignored without a word.
func misspelled(variables map[string]string) []string {
	known := make([]string, 0, len(settings))
	for _, s := range settings {
		if !s.silent {
			known = append(known, variableName(s.flag))
		}
	}
	var warnings []string
	for name := range variables {
		if !strings.HasPrefix(name, variablePrefix) || slices.Contains(known, name) {
			continue
		}
		short := make([]string, 0, len(known))
		for _, k := range known {
			short = append(short, strings.TrimPrefix(k, variablePrefix))
		}
		if near := nearest(strings.TrimPrefix(name, variablePrefix), short); near != "" {
			warnings = append(warnings, "the variable "+printable(name)+" is not known and ignored; did you mean "+variablePrefix+near+"?")
		}
	}
	slices.Sort(warnings)
	return warnings
}
