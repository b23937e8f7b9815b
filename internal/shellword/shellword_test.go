package shellword

import (
	"os/exec"
	"strings"
	"testing"
	"testing/quick"
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
