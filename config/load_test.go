package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// given is what an operator wrote: a file's text, variables and flags.
type given struct {
	file string   // empty: no file
	env  []string // as NAME=text
	args []string
}

// load loads it from a home folder of its own.
func (g given) load(t *testing.T) (*config.Loaded, error) {
	t.Helper()
	home := t.TempDir()
	if g.file != "" {
		write(t, filepath.Join(home, ".config", "recoverctl", "config.yaml"), g.file, 0o600)
	}
	fs := pflag.NewFlagSet("recoverctl", pflag.ContinueOnError)
	config.Flags(fs)
	if err := fs.Parse(g.args); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Options{Environ: append([]string{"HOME=" + home}, g.env...), Flags: fs})
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantFault(t *testing.T, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want a fault of kind %s", kind)
	}
	if got := fault.KindOf(err); got != kind {
		t.Errorf("kind %s, want %s: %v", got, kind, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q does not hold %q", err, part)
		}
	}
}

func TestWhichFileIsRead(t *testing.T) {
	const named = "profiles: [{name: from-%}]\n"
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name, "recoverctl", "config.yaml")
		write(t, path, strings.ReplaceAll(named, "%", name), 0o600)
		return path
	}
	flag, variable := file("flag"), file("variable")
	file("xdg")
	write(t, filepath.Join(dir, "home", ".config", "recoverctl", "config.yaml"), strings.ReplaceAll(named, "%", "home"), 0o600)
	xdg, home := "XDG_CONFIG_HOME="+filepath.Join(dir, "xdg"), "HOME="+filepath.Join(dir, "home")

	tests := map[string]struct {
		args, env []string
		want      string
	}{
		"the flag's, before all others":           {[]string{"--config", flag}, []string{"RECOVERCTL_CONFIG=" + variable, xdg, home}, "from-flag"},
		"the variable's, before the default":      {nil, []string{"RECOVERCTL_CONFIG=" + variable, xdg, home}, "from-variable"},
		"an empty variable is absent":             {nil, []string{"RECOVERCTL_CONFIG=", xdg, home}, "from-xdg"},
		"XDG_CONFIG_HOME, before HOME":            {nil, []string{xdg, home}, "from-xdg"},
		"HOME, where XDG_CONFIG_HOME is relative": {nil, []string{"XDG_CONFIG_HOME=xdg", home}, "from-home"},
		"none, where there is none":               {nil, []string{"HOME=" + dir}, ""},
		"none, without a home":                    {nil, nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			config.Flags(fs)
			if err := fs.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			l, err := config.Load(config.Options{Environ: tt.env, Flags: fs})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(l.Config.Profiles) == 1 {
				got = l.Config.Profiles[0].Name
			}
			if got != tt.want || (l.Path == "") != (tt.want == "") {
				t.Errorf("read %q from %q, want %q", got, l.Path, tt.want)
			}
		})
	}
}

func TestFilesThatCantBeRead(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	write(t, large, "#"+strings.Repeat(" ", 1<<20), 0o600)
	full := filepath.Join(dir, "full.yaml")
	write(t, full, "#"+strings.Repeat(" ", 1<<20-1), 0o600)

	tests := map[string]struct {
		path  string
		parts []string
	}{
		"one that is not there":      {filepath.Join(dir, "none.yaml"), []string{"no such file", "none.yaml"}},
		"one with a hostile name":    {filepath.Join(dir, "a\x1b[2Jb.yaml"), []string{"no such file", `a\x1b[2Jb.yaml`}},
		"a folder":                   {dir, []string{"it is a folder"}},
		"one larger than 1 MiB":      {large, []string{"it is larger than 1048576 bytes"}},
		"one without an end":         {"/dev/zero", []string{"it is larger than 1048576 bytes"}},
		"one below another file":     {filepath.Join(full, "x.yaml"), []string{"not a directory"}},
		"one with a NUL in its name": {"a\x00b", []string{"invalid argument"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(config.Options{File: tt.path})
			wantFault(t, err, fault.Config, tt.parts...)
		})
	}
	if _, err := config.Load(config.Options{File: full}); err != nil {
		t.Errorf("exactly 1 MiB is refused: %v", err)
	}
}

func TestProblemsAreOneFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "profiles:\n  - name: a\n    acess: operate\n    kafka: {brokrs: []}\n", 0o600)
	_, err := config.Load(config.Options{File: path})
	wantFault(t, err, fault.Config, "2 problems in the configuration:\n"+path+":3:5: unknown key", "\n"+path+":4:13: unknown key")

	var problems config.Problems
	if !errors.As(err, &problems) || len(problems) != 2 || problems[0].Line != 3 || problems[1].Line != 4 {
		t.Errorf("problems %+v", problems)
	}
	if refs := fault.Of(err).Refs; len(refs) != 2 || refs[0] != path+":3" {
		t.Errorf("refs %q", refs)
	}

	write(t, path, strings.Repeat("x:\n", 1)+strings.Repeat("- y\n", 3), 0o600)
	_, err = config.Load(config.Options{File: path})
	wantFault(t, err, fault.Config, path+":1:1: unknown key")

	var many strings.Builder
	for i := range 70 {
		many.WriteString("k" + strings.Repeat("z", i+20) + ": 1\n")
	}
	write(t, path, many.String(), 0o600)
	_, err = config.Load(config.Options{File: path})
	wantFault(t, err, fault.Config, "70 problems", "and 20 more")
}

func TestWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	tests := map[string]struct {
		text string
		mode os.FileMode
		env  []string
		want []string
	}{
		"mine alone":                  {"profiles: []\n", 0o600, nil, nil},
		"readable by the group":       {"profiles: []\n", 0o640, nil, []string{"is readable by others (mode 0640)"}},
		"readable by all":             {"profiles: []\n", 0o604, nil, []string{"is readable by others (mode 0604)"}},
		"a password without TLS":      {"profiles:\n  - name: a\n    kafka:\n      sasl: {mechanism: plain, username: u, password: {env: P}}\n", 0o600, nil, []string{":4: plain without tls sends the password readable"}},
		"a password with TLS":         {"profiles:\n  - name: a\n    kafka:\n      tls: {}\n      sasl: {mechanism: plain, username: u, password: {env: P}}\n", 0o600, nil, nil},
		"a misspelled variable":       {"profiles: []\n", 0o600, []string{"RECOVERCTL_BROKER=k1", "RECOVERCTL_TOPICS=x"}, []string{"RECOVERCTL_BROKER is not known and ignored; did you mean RECOVERCTL_BROKERS?", "did you mean RECOVERCTL_TOPIC?"}},
		"a variable that is not ours": {"profiles: []\n", 0o600, []string{"RECOVERCTL_SOMETHING_ELSE_ALTOGETHER=1"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, path, tt.text, tt.mode)
			l, err := config.Load(config.Options{File: path, Environ: tt.env})
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Warnings) != len(tt.want) {
				t.Fatalf("warnings %q, want %q", l.Warnings, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(l.Warnings[i], want) {
					t.Errorf("warning %q, want %q", l.Warnings[i], want)
				}
			}
		})
	}
}

func TestFlagsAndVariablesThatAreWrong(t *testing.T) {
	tests := map[string]struct {
		given
		kind fault.Kind
		want string
	}{
		"an output that nobody knows":          {given{args: []string{"-o", "xml"}}, fault.Usage, `--output: "xml" is not one of text, json`},
		"an access that nobody knows":          {given{args: []string{"--access", "write"}}, fault.Usage, `--access: "write" is not one of read-only, operate`},
		"an environment with a slip":           {given{args: []string{"--environment", "stagin"}}, fault.Usage, `did you mean staging?`},
		"a release that nobody knows":          {given{args: []string{"--runtime", "1.0"}}, fault.Usage, `--runtime: "1.0" is not one of 0.1, 0.2, 0.3, next`},
		"no time at all":                       {given{args: []string{"--timeout", "0s"}}, fault.Usage, `--timeout: "0s" is not from 1ms to 24h`},
		"an empty topic":                       {given{args: []string{"--topic="}}, fault.Usage, `--topic: "" is blank`},
		"an empty file name":                   {given{args: []string{"--config="}}, fault.Usage, `--config: "" is blank`},
		"no broker":                            {given{args: []string{"--brokers", ","}}, fault.Usage, `--brokers: "," names no server`},
		"a broker with a bad port":             {given{args: []string{"--brokers", "k1:9092,k2:x"}}, fault.Usage, `holds "k2:x", which has no port from 1 to 65535`},
		"a mapping without a sign of equality": {given{args: []string{"--map", "/a"}}, fault.Usage, `--map: "/a" is not a mapping; write FROM=TO`},
		"a mapping to nowhere":                 {given{args: []string{"--map", "/a="}}, fault.Usage, `--map: "/a=" has a to that is blank`},
		"too many partitions":                  {given{args: []string{"--partitions", "100001"}}, fault.Usage, `--partitions: "100001" is not a whole number from 1 to 100000`},
		"a blank point":                        {given{args: []string{"--points", " "}}, fault.Usage, `--points: " " is blank`},
		"a hub without a scheme":               {given{args: []string{"--hub", "hub:8080"}}, fault.Usage, `--hub: "hub:8080" is not an address`},
		"a text that moves the cursor":         {given{args: []string{"--runtime", "\x1b[2J"}}, fault.Usage, `--runtime: "\x1b[2J"`},
		"a variable that is wrong":             {given{env: []string{"RECOVERCTL_RUNTIME=1.0"}}, fault.Config, `RECOVERCTL_RUNTIME: "1.0" is not one of`},
		"a variable that is no number":         {given{env: []string{"RECOVERCTL_PARTITIONS=010"}}, fault.Config, `RECOVERCTL_PARTITIONS: "010" is not a whole number`},
		"a variable that is neither":           {given{env: []string{"RECOVERCTL_TOMBSTONES=maybe"}}, fault.Config, `RECOVERCTL_TOMBSTONES: "maybe" is neither true nor false`},
		"a variable with one bad line":         {given{env: []string{"RECOVERCTL_MAP=/a=/b\n/c"}}, fault.Config, `RECOVERCTL_MAP: "/c" is not a mapping`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.load(t)
			wantFault(t, err, tt.kind, tt.want)
		})
	}
}

func TestWhatBelongsToTheRun(t *testing.T) {
	tests := map[string]struct {
		given
		output  string
		timeout time.Duration
		noColor bool
	}{
		"nothing said":                  {given{}, "text", 30 * time.Second, false},
		"flags":                         {given{args: []string{"-o", "json", "--timeout", "5s", "--no-color"}}, "json", 5 * time.Second, true},
		"variables":                     {given{env: []string{"RECOVERCTL_OUTPUT=json", "RECOVERCTL_TIMEOUT=2m", "NO_COLOR=0"}}, "json", 2 * time.Minute, true},
		"flags win over variables":      {given{env: []string{"RECOVERCTL_OUTPUT=json", "RECOVERCTL_TIMEOUT=2m"}, args: []string{"-o", "text", "--timeout", "1s"}}, "text", time.Second, false},
		"empty variables are absent":    {given{env: []string{"RECOVERCTL_OUTPUT=", "RECOVERCTL_TIMEOUT=", "NO_COLOR="}}, "text", 30 * time.Second, false},
		"viper's own names are ignored": {given{env: []string{"OUTPUT=json", "TIMEOUT=1s"}}, "text", 30 * time.Second, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := tt.load(t)
			if err != nil {
				t.Fatal(err)
			}
			if l.Output != tt.output || l.Timeout != tt.timeout || l.NoColor != tt.noColor {
				t.Errorf("output %s, timeout %s, no colour %v", l.Output, l.Timeout, l.NoColor)
			}
		})
	}
}

func TestANamedFileMustBeThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	for name, g := range map[string]given{
		"named by a flag":     {args: []string{"--config", path}},
		"named by a variable": {env: []string{"RECOVERCTL_CONFIG=" + path}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := g.load(t)
			wantFault(t, err, fault.Config, "no such file: "+path)
		})
	}
}

func TestTheOutputIsKnownThoughTheRestIsWrong(t *testing.T) {
	tests := map[string]struct {
		args, env []string
		want      string
	}{
		"nothing said":               {nil, nil, "text"},
		"a flag, beside a wrong one": {[]string{"-o", "json", "--topic="}, nil, "json"},
		"a variable":                 {nil, []string{"RECOVERCTL_OUTPUT=json", "RECOVERCTL_RUNTIME=9"}, "json"},
		"a flag before the variable": {[]string{"-o", "text"}, []string{"RECOVERCTL_OUTPUT=json"}, "text"},
		"a flag that is wrong":       {[]string{"-o", "xml"}, nil, "text"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			config.Flags(fs)
			if err := fs.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			if got := config.OutputOf(config.Options{Environ: tt.env, Flags: fs}); got != tt.want {
				t.Errorf("output %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDefaultPath(t *testing.T) {
	for environ, want := range map[string]string{
		"XDG_CONFIG_HOME=/x HOME=/h": "/x/recoverctl/config.yaml",
		"XDG_CONFIG_HOME= HOME=/h":   "/h/.config/recoverctl/config.yaml",
		"HOME=/a HOME=/h":            "/h/.config/recoverctl/config.yaml",
		"HOME=h":                     "",
	} {
		if got := config.DefaultPath(strings.Fields(environ)); got != want {
			t.Errorf("with %s it is %q, want %q", environ, got, want)
		}
	}
}

// The flags are a contract with scripts: they are listed here by name.
func TestFlagsAreStable(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.Flags(fs)
	want := map[string]string{ // flag: short, default
		"config": " ", "profile": "p ", "job": "j ", "output": "o text", "timeout": " 30s", "access": " ", "environment": " ", "no-color": " false",
		"brokers": " ", "topic": " ", "control-topic": " ", "tombstones": " false", "points": " []", "map": " []", "max-parallelism": " 0",
		"partitions": " 64", "runtime": " ", "flink-rest": " ", "flink-job": " ", "fluss": " ", "table": " ", "hub": " ", "wal": " ",
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if got := f.Shorthand + " " + f.DefValue; got != want[f.Name] || f.Usage == "" {
			t.Errorf("--%s is %q (%s), want %q", f.Name, got, f.Usage, want[f.Name])
		}
		delete(want, f.Name)
	})
	if len(want) > 0 {
		t.Errorf("flags that are missing: %v", want)
	}
}
