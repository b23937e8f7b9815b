package secret_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

const password = "hunter2-and-more"

// Every way that Go has of printing a value, on the value, on a pointer to it,
// and on structs, slices and maps that hold it.
func TestASecretIsNeverPrinted(t *testing.T) {
	v := secret.New(password)
	holders := map[string]any{
		"value":            v,
		"pointer":          &v,
		"exported field":   struct{ Password secret.Value }{v},
		"unexported field": struct{ password secret.Value }{v},
		"pointer field":    struct{ password *secret.Value }{&v},
		"nested":           struct{ c struct{ p []secret.Value } }{struct{ p []secret.Value }{[]secret.Value{v}}},
		"map":              map[string]secret.Value{"a": v},
		"map key":          map[secret.Value]int{v: 1},
		"interface":        []any{v},
	}
	for name, holder := range holders {
		for _, verb := range "vsqxXdtTpbcoOUeEfFgGw!" {
			for _, flags := range []string{"", "+", "#", " ", "-30", "030", "#+"} {
				format := "%" + flags + string(verb)
				got := fmt.Sprintf(format, holder)
				if leaks(got) {
					t.Errorf("%s: %s prints %s", name, format, got)
				}
			}
		}
	}
	for _, verb := range "vsqxXdtbcoOUeEfFgG!" {
		if got := fmt.Sprintf("%"+string(verb), v); got != "***" {
			t.Errorf("%%%c prints %s, want ***", verb, got)
		}
	}
	if got := fmt.Sprintf("%#v", v); got != "***" {
		t.Errorf("%%#v prints %s, want ***", got)
	}
	if v.String() != "***" || v.GoString() != "***" || (secret.Value{}).String() != "***" {
		t.Error("String or GoString is not ***")
	}
	if v.Reveal() != password {
		t.Error("Reveal does not give the secret")
	}
}

func leaks(s string) bool {
	return strings.Contains(s, password) ||
		strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", password)) ||
		strings.Contains(s, fmt.Sprintf("%d", []byte(password)))
}

func TestASecretIsNeverMarshalled(t *testing.T) {
	holder := struct {
		P secret.Value
		Q *secret.Value
	}{P: secret.New(password)}
	holder.Q = &holder.P
	j, err := json.Marshal(holder)
	if err != nil || string(j) != `{"P":"***","Q":"***"}` {
		t.Errorf("JSON %s, error %v", j, err)
	}
	y, err := yaml.Marshal(holder)
	if err != nil || string(y) != "p: '***'\nq: '***'\n" {
		t.Errorf("YAML %s, error %v", y, err)
	}
	type element struct{ P secret.Value }
	x, err := xml.Marshal(element{holder.P})
	if err != nil || !bytes.Contains(x, []byte("***")) || leaks(string(x)) {
		t.Errorf("XML %s, error %v", x, err)
	}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "p", holder.P, "all", holder)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "p", holder.P, "all", holder)
	if leaks(out.String()) || strings.Count(out.String(), "***") < 4 {
		t.Errorf("logs %s", out.String())
	}
}

func file(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolve(t *testing.T) {
	t.Setenv("TEST_SECRET", "from env\n")
	tests := map[string]struct {
		source secret.Source
		want   string
	}{
		"a variable is taken as it is":      {secret.Source{Env: "TEST_SECRET"}, "from env\n"},
		"a file without a line end":         {secret.Source{File: file(t, "abc", 0o600)}, "abc"},
		"one line end of a file is dropped": {secret.Source{File: file(t, "abc\n\n", 0o600)}, "abc\n"},
		"a DOS line end is one line end":    {secret.Source{File: file(t, "abc\r\n", 0o600)}, "abc"},
		"spaces belong to the secret":       {secret.Source{File: file(t, " abc \n", 0o600)}, " abc "},
		"a command":                         {secret.Source{Command: []string{"printf", `%s\n`, "a b"}}, "a b"},
		"a command is not run by a shell":   {secret.Source{Command: []string{"echo", "$HOME;"}}, "$HOME;"},
		"a noisy command that succeeds":     {secret.Source{Command: []string{"sh", "-c", "echo warning >&2; echo abc"}}, "abc"},
		"a person":                          {secret.Source{Prompt: true, For: "kafka password"}, "typed for kafka password"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.source.Resolve(t.Context(), typist{})
			if err != nil || got.Reveal() != tt.want {
				t.Errorf("got %q, error %v, want %q", got.Reveal(), err, tt.want)
			}
		})
	}
}

type typist struct{ err error }

func (p typist) Prompt(_ context.Context, label safetext.Text) (string, error) {
	return "typed for " + label.String(), p.err
}

func TestWhatFailsNamesTheSourceAndNotTheSecret(t *testing.T) {
	t.Setenv("EMPTY_SECRET", "")
	dir := t.TempDir()
	shell := func(script string) secret.Source { return secret.Source{Command: []string{"sh", "-c", script}} }
	tests := map[string]struct {
		source secret.Source
		want   string
	}{
		"nothing is given":           {secret.Source{For: "kafka password"}, "kafka password from no source: no source is given"},
		"two are given":              {secret.Source{Env: "A", Prompt: true}, "variable A: more than one source is given"},
		"an empty program":           {secret.Source{Command: []string{"", password}}, "command : the command is empty"},
		"a variable that is not set": {secret.Source{Env: "NO_SUCH_SECRET"}, "variable NO_SUCH_SECRET: the variable is not set"},
		"an empty variable":          {secret.Source{Env: "EMPTY_SECRET", For: "kafka password"}, "kafka password from variable EMPTY_SECRET: the secret is empty"},
		"an empty file":              {secret.Source{File: file(t, "\n", 0o600)}, ": the secret is empty"},
		"a missing file":             {secret.Source{File: dir + "/a\x1b"}, `file ` + dir + `/a\x1b: the file can't be read: no such file or directory`},
		"a folder":                   {secret.Source{File: dir}, ": it is not a regular file"},
		"a huge file":                {secret.Source{File: file(t, strings.Repeat(password, 1<<14), 0o600)}, ": the file is larger than 65536 bytes"},
		"a missing program":          {secret.Source{Command: []string{"no-such-program", password}}, "command no-such-program: the program is not there"},
		"a program by a wrong path":  {secret.Source{Command: []string{dir + "/none"}}, ": the program is not there"},
		"a failing command":          {shell("echo one >&2; echo 'vault: \033[31mdenied' >&2; exit 3"), `command sh: the command failed: exit status 3 (it says: vault: \x1b[31mdenied)`},
		"a command that says the secret twice": {shell("echo " + password + "; echo bad token " + password + " >&2; exit 1"),
			"command sh: the command failed: exit status 1 (its message repeats its output and is not shown)"},
		"a command without output":       {shell("true"), "command sh: the secret is empty"},
		"a command that prints too much": {shell("yes " + password + " | head -c 200000"), "command sh: its output is larger than 65536 bytes"},
		"nobody to ask":                  {secret.Source{Prompt: true}, "prompt: the answer could not be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.source.Resolve(t.Context(), typist{errors.New("stdin closed after " + password)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			if !got.IsEmpty() {
				t.Error("a secret came with the error")
			}
			f := fault.Of(err)
			if f.Kind != fault.Config || f.Hint == "" || len(f.Refs) != 1 {
				t.Errorf("kind %s, hint %q, refs %q", f.Kind, f.Hint, f.Refs)
			}
			if all := fmt.Sprintf("%+v %s %s", err, f.Hint, f.Refs); leaks(all) {
				t.Errorf("the secret leaks: %s", all)
			}
		})
	}
	if _, err := (secret.Source{Prompt: true}).Resolve(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "there is no terminal to ask at") {
		t.Errorf("without a prompter: %v", err)
	}
}

func TestACancelledOperatorIsNotAConfigurationError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := secret.Source{Command: []string{"sleep", "60"}}.Resolve(ctx, nil)
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("error %v, kind %s, want cancelled", err, fault.KindOf(err))
	}
}

func TestAFileThatOthersMayReadIsWarnedAbout(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true} {
		source := secret.Source{File: file(t, "abc", mode), For: "kafka password"}
		got := source.Warnings()
		if (len(got) == 1) != warned {
			t.Errorf("mode %o: warnings %q", mode, got)
		}
		if warned && !strings.Contains(got[0].String(), fmt.Sprintf("mode %04o lets others on this machine read it", mode)) {
			t.Errorf("mode %o: warning %q", mode, got[0])
		}
	}
	if got := (secret.Source{Env: "A"}).Warnings(); got != nil {
		t.Errorf("a variable is warned about: %q", got)
	}
	if got := (secret.Source{File: "/no/such/file"}).Warnings(); got != nil {
		t.Errorf("a missing file is warned about: %q", got)
	}
}

func TestSourceIsReadFromYAML(t *testing.T) {
	tests := map[string]secret.Source{
		"{env: KAFKA_PASSWORD}":        {Env: "KAFKA_PASSWORD"},
		"{file: /run/secrets/kafka}":   {File: "/run/secrets/kafka"},
		"{command: [pass, kafka/ops]}": {Command: []string{"pass", "kafka/ops"}},
		"{prompt: true}":               {Prompt: true},
	}
	for text, want := range tests {
		var got secret.Source
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || got.Validate() != nil || got.IsZero() {
			t.Errorf("%s is read as %v, want %v", text, got, want)
		}
	}
	if !(secret.Source{For: "x"}).IsZero() {
		t.Error("a source that says nothing is not zero")
	}
}
