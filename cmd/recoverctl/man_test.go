package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

func tree() *cobra.Command { return newRoot(&app{clock: clock.System{}}) }

// The page is made anew with go test ./cmd/recoverctl -update.
func TestTheDocumentedCommandsAreThoseOfTheProgram(t *testing.T) {
	page := markdown(manualOf(tree()))
	if again := markdown(manualOf(tree())); again != page {
		t.Error("two pages of one program differ")
	}
	tuitest.GoldenFile(t, filepath.Join("..", "..", "docs", "commands.md"), page)
}

// Each flag of the program's help is on both pages, with the word for its value.
func TestTheManualLeavesNothingOut(t *testing.T) {
	got := command(t, "man")
	if got.code != 0 || got.errOut != "" || !strings.HasPrefix(got.out, ".TH RECOVERCTL 1 ") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	page := markdown(manualOf(tree()))
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)
	for _, path := range [][]string{{"inspect", "job"}, {"inspect", "point"}, {"inspect", "flink", "exceptions"}, {"validate", "restore"}, {"demo"}, {"config", "init"}, {"plan", "cleanup"}, {"apply"}, {"journal", "list"}} {
		help := command(t, append(path, "--help")...)
		matches := flag.FindAllStringSubmatch(help.out, -1)
		if len(matches) < 20 {
			t.Fatalf("%v: %d flags in\n%s", path, len(matches), help.out)
		}
		for _, m := range matches {
			if m[1] == "help" {
				continue
			}
			if !strings.Contains(got.out, strings.ReplaceAll("--"+m[1], "-", `\-`)+`\fR`) {
				t.Errorf("the manual page does not know --%s of %v", m[1], path)
			}
			if !regexp.MustCompile("--" + m[1] + "[ `]").MatchString(page) {
				t.Errorf("docs/commands.md does not know --%s of %v", m[1], path)
			}
		}
		name := "recoverctl " + strings.Join(path, " ")
		if !strings.Contains(got.out, "\n.SS "+name) || !strings.Contains(page, "\n## "+name+"\n") {
			t.Errorf("%s has no section", name)
		}
	}
}

// Text that begins like a request of roff, or holds its escape character, is
// text.
func TestRoffIsNotSteeredByText(t *testing.T) {
	for text, want := range map[string]string{
		".so /etc/passwd":  `\&.so /etc/passwd`,
		"a\n.nf\n'quoted'": "a\n\\&.nf\n\\&'quoted'",
		`\fBbold --flag`:   `\efBbold \-\-flag`,
		"plain":            "plain",
	} {
		if got := roffText(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
