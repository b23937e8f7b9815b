package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
)

const twoProfiles = `profiles:
  - name: orders
    environment: staging
    access: operate
    kafka: {brokers: ["k1:9092"], timeouts: {dial: 20s, request: 40s}}
    path-mappings:
      - {from: "file:/data", to: /mnt/data}
      - {from: "file:/other", to: /mnt/other}
    jobs:
      - name: order-agent
        runtime: "0.3"
        action-state: {topic: action-state, control-topic: control, job-tombstones: true}
        max-parallelism: 128
        partitions: 12
        recovery-points: ["s3://b/one"]
        flink: {rest: "http://jm:8081"}
  - name: A.b
    jobs:
      - name: first
        action-state: {topic: My.Topic}
      - name: Second.Job
        action-state: {topic: second}
`

// choose loads and selects without naming anything.
func (g given) choose(t *testing.T) (config.Selection, error) {
	t.Helper()
	l, err := g.load(t)
	if err != nil {
		t.Fatal(err)
	}
	return l.Select("", "")
}

func TestWhichProfileAndJob(t *testing.T) {
	const withDefault = "default-profile: A.b\n" + twoProfiles
	one := strings.Split(twoProfiles, "  - name: A.b")[0]
	tests := map[string]struct {
		given
		profile, job string // job empty: none
		jobs         int
	}{
		"no file and no flags":                   {given{}, "adhoc", "", 0},
		"no file and a topic":                    {given{args: []string{"--topic", "t"}}, "adhoc", "adhoc", 1},
		"no file and brokers alone":              {given{args: []string{"--brokers", "k"}}, "adhoc", "", 0},
		"the only profile and its only job":      {given{file: one}, "orders", "order-agent", 1},
		"the default profile, several jobs":      {given{file: withDefault}, "A.b", "", 2},
		"a flag, before the default profile":     {given{file: withDefault, args: []string{"-p", "orders"}}, "orders", "order-agent", 1},
		"a flag, before the variable":            {given{file: twoProfiles, args: []string{"-p", "A.b"}, env: []string{"RECOVERCTL_PROFILE=orders"}}, "A.b", "", 2},
		"a variable":                             {given{file: twoProfiles, env: []string{"RECOVERCTL_PROFILE=A.b", "RECOVERCTL_JOB=Second.Job"}}, "A.b", "Second.Job", 2},
		"a job among several":                    {given{file: twoProfiles, args: []string{"-p", "A.b", "-j", "first"}}, "A.b", "first", 2},
		"a topic changes the only job":           {given{file: one, args: []string{"--topic", "t"}}, "orders", "order-agent", 1},
		"a topic stands for a job among several": {given{file: withDefault, args: []string{"--topic", "t"}}, "A.b", "adhoc", 3},
		"a topic changes the job that is named":  {given{file: withDefault, args: []string{"--topic", "t", "-j", "first"}}, "A.b", "first", 2},
		"flags without a default among several":  {given{file: twoProfiles, args: []string{"--topic", "t"}}, "adhoc", "adhoc", 1},
		"the file's profiles set aside":          {given{file: withDefault, args: []string{"-p", "adhoc", "--topic", "t"}}, "adhoc", "adhoc", 1},
		"the file's jobs set aside":              {given{file: one, args: []string{"-j", "adhoc", "--table", "d.t"}}, "orders", "adhoc", 2},
		"brokers don't stand for a job":          {given{file: withDefault, args: []string{"--brokers", "k"}}, "A.b", "", 2},
		"a file without profiles":                {given{file: "profiles: []\n"}, "adhoc", "", 0},
		"an empty variable chooses nothing":      {given{file: one, env: []string{"RECOVERCTL_PROFILE=", "RECOVERCTL_JOB=", "RECOVERCTL_TOPIC="}}, "orders", "order-agent", 1},
		"a variable with a topic stands for one": {given{env: []string{"RECOVERCTL_TOPIC=t"}}, "adhoc", "adhoc", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sel, err := tt.choose(t)
			if err != nil {
				t.Fatal(err)
			}
			job := ""
			if sel.Job != nil {
				job = sel.Job.Name
			}
			if sel.Profile.Name != tt.profile || job != tt.job || len(sel.Profile.Jobs) != tt.jobs {
				t.Errorf("profile %q job %q of %d, want %q %q of %d", sel.Profile.Name, job, len(sel.Profile.Jobs), tt.profile, tt.job, tt.jobs)
			}
			if sel.AdHoc != (tt.profile == "adhoc") {
				t.Errorf("ad hoc: %v", sel.AdHoc)
			}
		})
	}
}

func TestNamesThatNothingHas(t *testing.T) {
	tests := map[string]struct {
		given
		want string
	}{
		"a profile with a slip":              {given{file: twoProfiles, args: []string{"-p", "ordrs"}}, `there is no profile "ordrs"; did you mean "orders"?; known: orders, A.b`},
		"a profile in another case":          {given{file: twoProfiles, args: []string{"-p", "a.b"}}, `there is no profile "a.b"; did you mean "A.b"?`},
		"a profile without a file":           {given{args: []string{"-p", "orders"}}, `there is no profile "orders"; there are none`},
		"a hostile name":                     {given{file: twoProfiles, args: []string{"-p", "\x1b]0;x\a"}}, `there is no profile "\x1b]0;x\x07"; known:`},
		"no profile among several":           {given{file: twoProfiles}, `has several profiles and no default-profile: orders, A.b`},
		"a job with a slip":                  {given{file: twoProfiles, args: []string{"-p", "A.b", "-j", "frst"}}, `in profile A.b there is no job "frst"; did you mean "first"?; known: first, Second.Job`},
		"a job of another profile":           {given{file: twoProfiles, args: []string{"-p", "A.b", "-j", "order-agent"}}, `there is no job "order-agent"; known: first, Second.Job`},
		"a job where nothing stands for one": {given{args: []string{"-j", "x", "--topic", "t"}}, `there is no job "x"; there are none`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.choose(t)
			wantFault(t, err, fault.Config, tt.want)
		})
	}
	t.Run("a job that a command needs", func(t *testing.T) {
		sel, err := given{file: twoProfiles, args: []string{"-p", "A.b"}}.choose(t)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sel.RequireJob()
		wantFault(t, err, fault.Config, "profile A.b has several jobs: first, Second.Job")
		sel, err = given{}.choose(t)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sel.RequireJob()
		wantFault(t, err, fault.Config, "profile adhoc has no job")
	})
}

// Each flag and each variable says the same thing in the same place.
func TestEveryAdHocSettingHasItsPlace(t *testing.T) {
	text := func(s string) *string { return &s }
	tests := []struct {
		name string
		args []string
		env  []string
		want func(p *config.Profile, j *config.Job)
	}{
		{"brokers", []string{"--brokers", "k8:1, k9:2"}, []string{"RECOVERCTL_BROKERS=k8:1\nk9:2"}, func(p *config.Profile, _ *config.Job) { p.Kafka.Brokers = []string{"k8:1", "k9:2"} }},
		{"topic, as it is written", []string{"--topic", "My.Topic"}, []string{"RECOVERCTL_TOPIC=My.Topic"}, func(_ *config.Profile, j *config.Job) { j.ActionState.Topic = "My.Topic" }},
		{"control topic", []string{"--control-topic", "C.t"}, []string{"RECOVERCTL_CONTROL_TOPIC=C.t"}, func(_ *config.Profile, j *config.Job) { j.ActionState.ControlTopic = text("C.t") }},
		{"blank control topic", []string{"--control-topic", " "}, []string{"RECOVERCTL_CONTROL_TOPIC= "}, func(_ *config.Profile, j *config.Job) { j.ActionState.ControlTopic = text(" ") }},
		{"tombstones off", []string{"--tombstones=false"}, []string{"RECOVERCTL_TOMBSTONES=false"}, func(_ *config.Profile, j *config.Job) { j.ActionState.JobTombstones = false }},
		{"max parallelism", []string{"--max-parallelism", "256"}, []string{"RECOVERCTL_MAX_PARALLELISM=256"}, func(_ *config.Profile, j *config.Job) { j.MaxParallelism = 256 }},
		{"partitions", []string{"--partitions", "3"}, []string{"RECOVERCTL_PARTITIONS=3"}, func(_ *config.Profile, j *config.Job) { j.Partitions = 3 }},
		{"runtime", []string{"--runtime", "next"}, []string{"RECOVERCTL_RUNTIME=next"}, func(_ *config.Profile, j *config.Job) { j.Runtime = "next" }},
		{"JobManager", []string{"--flink-rest", "https://J:1/p"}, []string{"RECOVERCTL_FLINK_REST=https://J:1/p"}, func(_ *config.Profile, j *config.Job) { j.Flink.REST = "https://J:1/p" }},
		{"the job's name in Flink", []string{"--flink-job", "Orders (v2)"}, []string{"RECOVERCTL_FLINK_JOB=Orders (v2)"}, func(_ *config.Profile, j *config.Job) { j.Flink.Job = "Orders (v2)" }},
		{"Fluss servers", []string{"--fluss", "f1:9123,f2:9123"}, []string{"RECOVERCTL_FLUSS=f1:9123,f2:9123"}, func(_ *config.Profile, j *config.Job) { j.Fluss.Servers = []string{"f1:9123", "f2:9123"} }},
		{"table", []string{"--table", "Db.T"}, []string{"RECOVERCTL_TABLE=Db.T"}, func(_ *config.Profile, j *config.Job) { j.Fluss.Table = "Db.T" }},
		{"hub", []string{"--hub", "http://h:1"}, []string{"RECOVERCTL_HUB=http://h:1"}, func(_ *config.Profile, j *config.Job) { j.ArkFlow.Hub = "http://h:1" }},
		{"write-ahead log", []string{"--wal", "W.redb"}, []string{"RECOVERCTL_WAL=W.redb"}, func(_ *config.Profile, j *config.Job) { j.ArkFlow.WAL = "W.redb" }},
	}
	base := func(t *testing.T) config.Profile {
		t.Helper()
		sel, err := given{file: twoProfiles, args: []string{"-p", "orders"}}.choose(t)
		if err != nil {
			t.Fatal(err)
		}
		return sel.Profile
	}
	for _, tt := range tests {
		for from, g := range map[string]given{
			"flag":     {file: twoProfiles, args: append([]string{"-p", "orders"}, tt.args...)},
			"variable": {file: twoProfiles, args: []string{"-p", "orders"}, env: tt.env},
		} {
			t.Run(tt.name+" from a "+from, func(t *testing.T) {
				want := base(t)
				tt.want(&want, &want.Jobs[0])
				sel, err := g.choose(t)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(sel.Profile, want) {
					t.Errorf("got\n%+v\nwant\n%+v", sel.Profile, want)
				}
			})
		}
	}
}

func TestPrecedence(t *testing.T) {
	g := given{
		file: twoProfiles,
		env:  []string{"RECOVERCTL_PROFILE=orders", "RECOVERCTL_TOPIC=from-variable", "RECOVERCTL_RUNTIME=0.2", "RECOVERCTL_PARTITIONS=5"},
		args: []string{"--topic", "from-flag", "--partitions", "64"},
	}
	sel, err := g.choose(t)
	if err != nil {
		t.Fatal(err)
	}
	if j := sel.Job; j.ActionState.Topic != "from-flag" || j.Runtime != "0.2" || j.MaxParallelism != 128 || j.Partitions != 64 {
		t.Errorf("job %+v", *j)
	}
}

func TestAnEmptyControlTopic(t *testing.T) {
	tests := map[string]struct {
		given
		want string // "absent" or the text in brackets
	}{
		"a flag given empty is configured":             {given{args: []string{"--topic", "t", "--control-topic="}}, "[]"},
		"a flag given empty blanks the file's":         {given{file: twoProfiles, args: []string{"-p", "orders", "--control-topic="}}, "[]"},
		"a flag given empty wins over the variable":    {given{env: []string{"RECOVERCTL_CONTROL_TOPIC=c"}, args: []string{"--control-topic="}}, "[]"},
		"an empty variable is absent":                  {given{env: []string{"RECOVERCTL_TOPIC=t", "RECOVERCTL_CONTROL_TOPIC="}}, "absent"},
		"an empty variable leaves the file's":          {given{file: twoProfiles, args: []string{"-p", "orders"}, env: []string{"RECOVERCTL_CONTROL_TOPIC="}}, "[control]"},
		"nothing said is absent":                       {given{args: []string{"--topic", "t"}}, "absent"},
		"a flag alone that is empty still makes a job": {given{args: []string{"--control-topic="}}, "[]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sel, err := tt.choose(t)
			if err != nil {
				t.Fatal(err)
			}
			got := "absent"
			if c := sel.Job.ActionState.ControlTopic; c != nil {
				got = "[" + *c + "]"
			}
			if got != tt.want {
				t.Errorf("control topic %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPointsAndMappingsAdd(t *testing.T) {
	g := given{
		file: twoProfiles,
		args: []string{"-p", "orders", "--points", "s3://b/a,b", "--points", "s3://b/one", "--map", "file:/data=s3://copy/x=y", "--map", "file:/new=/mnt/new"},
		env:  []string{"RECOVERCTL_POINTS=s3://b/two\n\nrel/ative\r\n", "RECOVERCTL_MAP=file:/new=/lost\nfile:/var=/mnt/var"},
	}
	sel, err := g.choose(t)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"s3://b/one", "s3://b/a,b", "s3://b/two", "rel/ative"}; !reflect.DeepEqual(sel.Job.RecoveryPoints, want) {
		t.Errorf("points %q, want %q", sel.Job.RecoveryPoints, want)
	}
	want := []config.PathMapping{
		{From: "file:/data", To: "s3://copy/x=y"}, {From: "file:/new", To: "/mnt/new"},
		{From: "file:/var", To: "/mnt/var"}, {From: "file:/other", To: "/mnt/other"},
	}
	if !reflect.DeepEqual(sel.Profile.PathMappings, want) {
		t.Errorf("mappings %+v, want %+v", sel.Profile.PathMappings, want)
	}
}

func TestTimeoutBoundsTheProfiles(t *testing.T) {
	tests := map[string]struct {
		args          []string
		dial, request time.Duration
	}{
		"not given, the profile's own count": {nil, 20 * time.Second, 40 * time.Second},
		"longer than the dial":               {[]string{"--timeout", "30s"}, 20 * time.Second, 30 * time.Second},
		"shorter than both":                  {[]string{"--timeout", "3s"}, 3 * time.Second, 3 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sel, err := given{file: twoProfiles, args: append([]string{"-p", "orders"}, tt.args...)}.choose(t)
			if err != nil {
				t.Fatal(err)
			}
			if got := sel.Profile.Kafka.Timeouts; got.Dial != tt.dial || got.Request != tt.request {
				t.Errorf("timeouts %+v", got)
			}
		})
	}
}

func TestAccessAndEnvironment(t *testing.T) {
	profile := func(lines string) string { return "profiles:\n  - {name: a" + lines + "}\n" }
	var (
		silent  = profile("")
		operate = profile(", access: operate, environment: staging")
		reader  = profile(", access: read-only, environment: production")
	)
	tests := map[string]struct {
		given
		level       access.Level
		environment access.Environment
		flag        bool   // --access operate was given
		origins     string // of access and environment
	}{
		"nobody speaks":                           {given{}, access.ReadOnly, access.Production, false, "default default"},
		"ad hoc, the flag grants":                 {given{args: []string{"--access", "operate"}}, access.Operate, access.Production, true, "--access default"},
		"ad hoc, the variable grants":             {given{env: []string{"RECOVERCTL_ACCESS=operate"}}, access.Operate, access.Production, false, "RECOVERCTL_ACCESS default"},
		"ad hoc, the variable holds back":         {given{env: []string{"RECOVERCTL_ACCESS=read-only"}, args: []string{"--access", "operate"}}, access.ReadOnly, access.Production, true, "RECOVERCTL_ACCESS default"},
		"ad hoc, the flag says where":             {given{args: []string{"--environment", "development"}}, access.ReadOnly, access.Development, false, "default --environment"},
		"ad hoc, the flag wins over the variable": {given{env: []string{"RECOVERCTL_ENVIRONMENT=production"}, args: []string{"--environment", "staging"}}, access.ReadOnly, access.Staging, false, "default --environment"},
		"a silent profile":                        {given{file: silent}, access.ReadOnly, access.Production, false, "default default"},
		"a silent profile can't be opened":        {given{file: silent, args: []string{"--access", "operate"}, env: []string{"RECOVERCTL_ACCESS=operate"}}, access.ReadOnly, access.Production, true, "default default"},
		"a silent profile takes the flag's word":  {given{file: silent, args: []string{"--environment", "staging"}}, access.ReadOnly, access.Staging, false, "default --environment"},
		"a profile opens":                         {given{file: operate}, access.Operate, access.Staging, false, "file file"},
		"a profile opens, the flag agrees":        {given{file: operate, args: []string{"--access", "operate"}}, access.Operate, access.Staging, true, "file file"},
		"a profile opens, the flag closes":        {given{file: operate, args: []string{"--access", "read-only"}}, access.ReadOnly, access.Staging, false, "--access file"},
		"a profile opens, the variable closes":    {given{file: operate, env: []string{"RECOVERCTL_ACCESS=read-only"}, args: []string{"--access", "operate"}}, access.ReadOnly, access.Staging, true, "RECOVERCTL_ACCESS file"},
		"a flag makes a profile stricter":         {given{file: operate, args: []string{"--environment", "production"}}, access.Operate, access.Production, false, "file --environment"},
		"a flag can't make a profile laxer":       {given{file: reader, args: []string{"--environment", "development", "--access", "operate"}}, access.ReadOnly, access.Production, true, "file file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := tt.load(t)
			if err != nil {
				t.Fatal(err)
			}
			sel, err := l.Select("", "")
			if err != nil {
				t.Fatal(err)
			}
			if p := sel.Profile; p.Access != tt.level || p.Environment != tt.environment || sel.OperateFlag != tt.flag {
				t.Errorf("%s in %s, flag %v; want %s in %s, flag %v", p.Access, p.Environment, sel.OperateFlag, tt.level, tt.environment, tt.flag)
			}
			var origins []string
			for _, key := range []string{"access", "environment"} {
				for _, s := range l.Explain(sel) {
					if s.Key == key && s.Origin.Kind == config.File {
						origins = append(origins, "file")
					} else if s.Key == key {
						origins = append(origins, s.Origin.String())
					}
				}
			}
			if got := strings.Join(origins, " "); got != tt.origins {
				t.Errorf("they come from %q, want %q", got, tt.origins)
			}
		})
	}
}

func TestASelectionIsItsOwn(t *testing.T) {
	l, err := given{file: twoProfiles}.load(t)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := l.Select("orders", "order-agent")
	if err != nil {
		t.Fatal(err)
	}
	sel.Job.RecoveryPoints[0], *sel.Job.ActionState.ControlTopic, sel.Profile.Kafka.Brokers[0] = "x", "x", "x"
	again, err := l.Select("orders", "order-agent")
	if err != nil {
		t.Fatal(err)
	}
	if again.Job.RecoveryPoints[0] != "s3://b/one" || *again.Job.ActionState.ControlTopic != "control" || again.Profile.Kafka.Brokers[0] != "k1:9092" {
		t.Error("changing one selection changed another")
	}
}
