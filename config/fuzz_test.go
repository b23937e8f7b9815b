package config

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzConfig: any text is either read or told to be wrong, with lines that
// exist, and what is read keeps the promises that other packages rely on.
func FuzzConfig(f *testing.F) {
	orders, err := os.ReadFile(filepath.Join("testdata", "orders.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(orders), Template(), uncommented(), "a: &a [*a]\n", "{[", "? - a\n", "%YAML 9\n---\n", "profiles: [{name: a, jobs: [{}]}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxFileBytes {
			return
		}
		lines := 1
		for _, b := range text {
			if b == '\n' || b == '\r' {
				lines++
			}
		}
		c, d, problems := decodeText(string(text))
		for _, p := range problems {
			if p.Line < 1 || p.Message == "" || printable(p.Message) != p.Message {
				t.Errorf("problem %q", p.String())
			}
		}
		if len(problems) > 0 {
			return
		}
		l := &Loaded{Config: c, origins: d.origins}
		for _, p := range c.Profiles {
			if named(p.Name) != "" {
				t.Errorf("profile %q", p.Name)
			}
			sel, err := l.Select(p.Name, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range l.Explain(sel) {
				if s.Origin.Kind == NotSet && s.Value != "" {
					t.Errorf("%s is %q and comes from nowhere", s.Key, s.Value)
				}
				if s.Origin.Kind == File && (s.Origin.Line < 1 || s.Origin.Line > lines) {
					t.Errorf("%s comes from line %d of %d", s.Key, s.Origin.Line, lines)
				}
			}
			for _, j := range p.Jobs {
				if j.Name == "" || j.Engine == "" || j.ActionState.Store == "" || j.Partitions < 1 || j.KeepRecoveryPoints < 0 {
					t.Errorf("job %+v", j)
				}
			}
		}
	})
}
