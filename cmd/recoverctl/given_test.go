package main

import "testing"

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
