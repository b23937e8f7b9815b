package main

import (
	"testing"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
)

// A command that is shown is told of the job as this one was.
func TestFlagsThatWereGivenAreGivenAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"none":             {nil, ""},
		"of a profile":     {[]string{"-p", "orders", "-j", "order agent"}, ""},
		"how to print":     {[]string{"-o", "json", "--no-color", "--timeout", "5s", "--access", "operate", "--environment", "staging"}, ""},
		"a configuration":  {[]string{"--config", "my config.yaml", "-p", "orders"}, "--config 'my config.yaml'"},
		"of ad-hoc use":    {[]string{"--brokers", "k1:9092,k2:9092", "--topic", "action-state", "--map", "file:/data=/mnt", "--map", "hdfs:=s3://b", "--points", "/mnt/a b"}, "--brokers k1:9092,k2:9092 --map file:/data=/mnt --map hdfs:=s3://b --points '/mnt/a b' --topic action-state"},
		"yes and no":       {[]string{"--tombstones"}, "--tombstones"},
		"no and not a yes": {[]string{"--tombstones=false"}, "--tombstones=false"},
		"hostile":          {[]string{"--topic", "a\x1b]0;x\x07'; reboot"}, `--topic 'a\x1b]0;x\x07'\''; reboot'`},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{}
			root := newRoot(a)
			cmd, rest, err := root.Find(append([]string{"inspect", "points"}, tt.args...))
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.ParseFlags(rest); err != nil { // as a command parses them, not as the root does
				t.Fatal(err)
			}
			if got := givenFlags(a.flags); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A command that applies a plan names the job of it where the profile has several, and
// the configuration where that is not everybody's.
func TestAnApplyThatIsShownFindsItsJob(t *testing.T) {
	kept := func(names ...string) (p config.Profile) {
		p.Name = "orders"
		for _, name := range names {
			p.Jobs = append(p.Jobs, config.Job{Name: name})
		}
		return p
	}
	streams := kept("order agent", "billing")
	streams.Jobs[0].Engine = engineArkFlow
	for name, tt := range map[string]struct {
		profile config.Profile
		args    []string
		path    string
		want    string
	}{
		"the only one":               {kept("order agent"), nil, "", ""},
		"one of two":                 {kept("order agent", "billing"), nil, "", " --job 'order agent'"},
		"one that was given":         {kept("order agent", "billing"), []string{"-j", "order agent"}, "", ""},
		"of no profile":              {kept("a", "b"), nil, "", ""},
		"of ArkFlow":                 {streams, nil, "", ""},
		"a configuration of its own": {kept("order agent", "billing"), nil, "/etc/r c.yaml", " --job 'order agent' --config '/etc/r c.yaml'"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{loaded: &config.Loaded{Path: tt.path}, selection: config.Selection{Profile: tt.profile}}
			if err := newRoot(a).PersistentFlags().Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			const apply = "recoverctl apply plan.json"
			if got := a.shownApply(inspect.Job{Name: "order agent"}, []string{"recoverctl plan show plan.json", apply}, nil); got != apply+tt.want {
				t.Errorf("%q, want %q", got, apply+tt.want)
			}
		})
	}
}
