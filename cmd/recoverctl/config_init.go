package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func newConfigInit(a *app) *cobra.Command {
	var template bool
	cmd := &cobra.Command{
		Use: "init", Short: "Ask for a first profile, try it, and write the configuration file", Args: noArgs,
		Long: `At a terminal it asks for what a profile needs, tries the connections, and writes
the file after showing what works. Elsewhere, or with --template, it writes a
commented example. It never writes over an existing file, and no password is
ever written: the file says where it is found.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := a.configPath()
			if err != nil {
				return err
			}
			if _, err := os.Lstat(path); err == nil {
				return fault.New(fault.Denied, "write configuration", "%s is there already and stays as it is", safe(path)).
					WithHint("edit it, remove it, or name another file with --config")
			}
			text := []byte(config.Template())
			if a.inTTY && !template {
				if text, err = a.interview(cmd.Context()); err != nil {
					return err
				}
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return fault.Wrap(fault.Config, "write configuration", err, "the folder of %s can't be made", safe(path))
			}
			if err := atomicfile.Create(path, text); err != nil {
				return err
			}
			return a.printer().result("ConfigFile", map[string]string{"path": path}, nil, func(t *table) {
				t.line("wrote " + safe(path))
				t.line("  next: recoverctl config check, then recoverctl")
			})
		},
	}
	cmd.Flags().BoolVar(&template, "template", false, "write the commented example without asking")
	return cmd
}

// configPath is the file that --config names, or the usual one.
func (a *app) configPath() (string, error) {
	if given, err := a.flags.GetString("config"); err == nil && given != "" {
		return given, nil
	}
	if path := config.DefaultPath(a.environ); path != "" {
		return path, nil
	}
	return "", fault.New(fault.Config, "write configuration", "neither XDG_CONFIG_HOME nor HOME is set").WithHint("name a file with --config")
}

// interview asks for a profile, shows what works of it, and returns the file to
// write. Declining is Cancelled.
func (a *app) interview(ctx context.Context) ([]byte, error) {
	ask := newInterview(ctx, a.in, a.err)
	answers, err := ask.answers()
	if err != nil {
		return nil, err
	}
	text, err := config.Compose(answers)
	if err != nil {
		return nil, err
	}
	if err := a.tryOut(ctx, text); err != nil {
		return nil, err
	}
	write, err := ask.yes("write this configuration?", true)
	switch {
	case err != nil:
		return nil, err
	case !write:
		return nil, fault.New(fault.Cancelled, "write configuration", "nothing was written")
	}
	return text, nil
}

// tryOut loads a configuration from a file of its own, tries everything that it
// names, and says on standard error what works.
func (a *app) tryOut(ctx context.Context, file []byte) (err error) {
	dir, err := os.MkdirTemp("", "recoverctl-init-")
	if err != nil {
		return fmt.Errorf("make a folder to try the configuration in: %w", err)
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); removeErr != nil && err == nil {
			err = fmt.Errorf("remove the trial's folder: %w", removeErr)
		}
	}()
	path := filepath.Join(dir, "config.yaml")
	if err := atomicfile.Create(path, file); err != nil {
		return err
	}
	trial := *a
	if trial.loaded, err = config.Load(config.Options{File: path}); err != nil {
		return err
	}
	if trial.selection, err = trial.loaded.Select("", ""); err != nil {
		return err
	}
	in, systems, err := trial.inspector(trial.selection.Profile, terminalPrompt{})
	if err != nil {
		return err
	}
	defer systems.close()
	fmt.Fprintln(a.err, "\ntrying it:")
	probes := trial.check(ctx, in, systems)
	if err := ctx.Err(); err != nil {
		return err
	}
	t := newTable(a.err, a.width)
	for _, p := range probes {
		t.row(text(" "+probeSign(p.Result)), text(p.What), text(p.Detail))
		if p.Hint != "" {
			t.row(text(""), text(""), text(p.Hint))
		}
	}
	return t.flush()
}

// interview asks one question after the other. What can't be an answer is asked
// again with the reason.
type interview struct {
	ctx   context.Context //nolint:containedctx // of one conversation
	lines <-chan answerLine
	out   io.Writer
}

type answerLine struct {
	text string
	err  error
}

func newInterview(ctx context.Context, in io.Reader, out io.Writer) *interview {
	lines := make(chan answerLine)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- answerLine{text: scanner.Text()}:
			case <-ctx.Done():
				return
			}
		}
		select {
		case lines <- answerLine{err: cmp.Or(scanner.Err(), io.EOF)}:
		case <-ctx.Done():
		}
	}()
	return &interview{ctx: ctx, lines: lines, out: out}
}

// ask puts a question until its answer is fit. An empty answer is the default.
func (i *interview) ask(question, otherwise string, fit func(string) string) (string, error) {
	for {
		if otherwise != "" {
			fmt.Fprintf(i.out, "%s [%s]: ", question, otherwise)
		} else {
			fmt.Fprintf(i.out, "%s: ", question)
		}
		select {
		case <-i.ctx.Done():
			return "", i.ctx.Err()
		case line := <-i.lines:
			if line.err != nil {
				fmt.Fprintln(i.out)
				if errors.Is(line.err, io.EOF) {
					return "", fault.New(fault.Cancelled, "ask", "the answers ended: nothing was written")
				}
				return "", fmt.Errorf("read an answer: %w", line.err)
			}
			answer := strings.TrimSpace(line.text)
			if answer == "" {
				answer = otherwise
			}
			if why := fit(answer); why != "" {
				fmt.Fprintf(i.out, "  %s\n", why)
				continue
			}
			return answer, nil
		}
	}
}

func (i *interview) yes(question string, otherwise bool) (bool, error) {
	word := "n"
	if otherwise {
		word = "y"
	}
	answer, err := i.ask(question+" (y or n)", word, oneOfWords("y", "n", "yes", "no"))
	return strings.HasPrefix(answer, "y"), err
}

func anything(string) string { return "" }

func something(s string) string {
	if s == "" {
		return "this is needed"
	}
	return ""
}

func oneOfWords(words ...string) func(string) string {
	return func(s string) string {
		if slices.Contains(words, s) {
			return ""
		}
		return "one of: " + strings.Join(words, ", ")
	}
}

// emptyOr accepts nothing at all, or one of the words.
func emptyOr(words ...string) func(string) string {
	return func(s string) string {
		if s == "" {
			return ""
		}
		return oneOfWords(words...)(s)
	}
}

// answers asks for a profile with one job.
func (i *interview) answers() (config.Answers, error) {
	var a config.Answers
	var err error
	fmt.Fprintln(i.out, "A first profile. Enter takes what stands in brackets; an empty answer without brackets leaves it out.")
	put := func(into *string, question, otherwise string, fit func(string) string) {
		if err == nil {
			*into, err = i.ask(question, otherwise, fit)
		}
	}
	putMany := func(into *[]string, question string, fit func(string) string) {
		var text string
		put(&text, question+" (separated by commas)", "", fit)
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*into = append(*into, part)
			}
		}
	}
	put(&a.Profile, "name of the profile", "production", something)
	put(&a.Environment, "environment", access.Production.String(), oneOfWords(access.Production.String(), access.Staging.String(), access.Development.String()))
	putMany(&a.Brokers, "Kafka brokers, as host:port", something)
	if err == nil {
		a.TLS, err = i.yes("do the brokers speak TLS?", false)
	}
	if a.TLS {
		put(&a.CAFile, "file of the certificate authority; empty: the system's", "", anything)
	}
	put(&a.Mechanism, "login: plain, scram-sha-256, scram-sha-512 or oauthbearer; empty: none", "", emptyOr("plain", "scram-sha-256", "scram-sha-512", "oauthbearer"))
	if a.Mechanism != "" {
		if a.Mechanism != "oauthbearer" {
			put(&a.Username, "user name", "", something)
		}
		put(&a.PasswordEnv, "variable that holds the password or token (never the password itself)", "KAFKA_PASSWORD", something)
	}
	put(&a.Job, "name of the job", "", something)
	put(&a.Topic, "its action-state topic", "action-state", something)
	put(&a.ControlTopic, "its control topic; empty: it has none", "", anything)
	put(&a.Runtime, "its Flink Agents release: 0.1, 0.2, 0.3 or next; empty: not known", "", emptyOr("0.1", "0.2", "0.3", "next"))
	putMany(&a.RecoveryPoints, "folders of its checkpoints and savepoints", anything)
	put(&a.FlinkREST, "its JobManager, as http://host:8081; empty: none", "", anything)
	return a, err
}
