package shellword

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "''",
		"s3://flink-state/chk-": "s3://flink-state/chk-",
		"two words":             "'two words'",
		"it's":                  `'it'\''s'`,
		"$(reboot)":             "'$(reboot)'",
		"über":                  "'über'",
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// Whatever the text, a shell gives it back.
func TestAShellReadsItBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	back := func(s string) bool {
		s = strings.ReplaceAll(s, "\x00", "")
		out, err := exec.Command(sh, "-c", "printf %s "+Quote(s)).Output()
		return err == nil && string(out) == s
	}
	if err := quick.Check(back, &quick.Config{MaxCount: 50}); err != nil {
		t.Error(err)
	}
}

func TestALineIsTakenApart(t *testing.T) {
	for line, want := range map[string][]string{
		"":                         nil,
		"  a   b ":                 {"a", "b"},
		`--name 'it'\''s' ""`:      {"--name", "it's", ""},
		`"a b"c 'd"e' f\ g`:        {"a bc", `d"e`, "f g"},
		`"a\"b\\c\d$x"`:            {`a"b\c\d$x`},
		"--checkpoints s3://b/é 表": {"--checkpoints", "s3://b/é", "表"},
	} {
		if got, ok := Split(line); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, ok, want)
		}
	}
	for _, line := range []string{`'a`, `"a`, `a\`, `"a\"`} {
		if words, ok := Split(line); ok {
			t.Errorf("%q is taken as %q", line, words)
		}
	}
}

// What is quoted is one word again.
func FuzzSplit(f *testing.F) {
	f.Add("it's", "a b")
	f.Add("", `\"$`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		if got, ok := Split(Quote(a) + " " + Quote(b)); !ok || !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q and %q: %q, %v", a, b, got, ok)
		}
	})
}
