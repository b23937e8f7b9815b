package secret

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	maxBytes       = 64 << 10         // of a file or of a command's output
	commandTimeout = 30 * time.Second // until a command is stopped
)

// Prompter asks a person for a secret without showing what is typed.
type Prompter interface {
	// Prompt asks for what the label names. It returns when ctx ends.
	Prompt(ctx context.Context, label safetext.Text) (string, error)
}

// Source says where a secret comes from. Exactly one of Env, File, Command and
// Prompt is set; the zero Source is "not configured".
type Source struct {
	// For names what the secret is for, as in "profile orders: kafka password".
	// It appears in errors and in the prompt; it is not read from the file.
	For string `mapstructure:"-" yaml:"-"`

	Env     string   `mapstructure:"env" yaml:"env,omitempty"`         // the name of a variable
	File    string   `mapstructure:"file" yaml:"file,omitempty"`       // a path
	Command []string `mapstructure:"command" yaml:"command,omitempty"` // a program and its arguments, no shell
	Prompt  bool     `mapstructure:"prompt" yaml:"prompt,omitempty"`   // ask at the terminal
}

// IsZero reports whether no source is set.
func (s Source) IsZero() bool { return s.count() == 0 }

func (s Source) count() int {
	n := 0
	for _, set := range []bool{s.Env != "", s.File != "", len(s.Command) > 0, s.Prompt} {
		if set {
			n++
		}
	}
	return n
}

// Validate checks that exactly one source is set, without using it. The error
// is a fault of kind Config.
func (s Source) Validate() error {
	const hint = "give exactly one of: {env: NAME}, {file: PATH}, {command: [PROGRAM, …]}, {prompt: true}"
	switch {
	case s.count() == 0:
		return s.fault("no source is given").WithHint(hint)
	case s.count() > 1:
		return s.fault("more than one source is given").WithHint(hint)
	case len(s.Command) > 0 && s.Command[0] == "":
		return s.fault("the command is empty").WithHint("give a program and its arguments")
	}
	return nil
}

// String names the source and never its content: "variable KAFKA_PASSWORD",
// "file /run/secrets/kafka", "command pass", "prompt". A command's arguments
// are left out: people write secrets there.
func (s Source) String() string {
	switch {
	case s.Env != "":
		return "variable " + safetext.Of(s.Env).String()
	case s.File != "":
		return "file " + safetext.Of(s.File).String()
	case len(s.Command) > 0:
		return "command " + safetext.Of(s.Command[0]).String()
	case s.Prompt:
		return "prompt"
	default:
		return "no source"
	}
}

// Resolve fetches the secret. One newline at the end of a file's or a command's
// output is not part of it. Every failure is a fault of kind Config that names
// the source and never the content, or of kind Cancelled where ctx ended. The
// prompter may be nil where nobody can be asked.
func (s Source) Resolve(ctx context.Context, prompter Prompter) (Value, error) {
	if err := s.Validate(); err != nil {
		return Value{}, err
	}
	if err := ctx.Err(); err != nil {
		return Value{}, s.stopped(err)
	}
	text, err := s.fetch(ctx, prompter)
	if err != nil {
		return Value{}, err
	}
	if text == "" {
		return Value{}, s.fault("the secret is empty").WithHint("an empty password is never meant: check %s", s)
	}
	return New(text), nil
}

func (s Source) fetch(ctx context.Context, prompter Prompter) (string, error) {
	switch {
	case s.Env != "":
		text, ok := os.LookupEnv(s.Env)
		if !ok {
			return "", s.fault("the variable is not set").WithHint("export %s and start again", safetext.Of(s.Env))
		}
		return text, nil
	case s.File != "":
		return s.fromFile()
	case len(s.Command) > 0:
		return s.fromCommand(ctx)
	default:
		return s.fromPrompt(ctx, prompter)
	}
}

func (s Source) fromPrompt(ctx context.Context, prompter Prompter) (string, error) {
	if prompter == nil {
		return "", s.fault("there is no terminal to ask at").
			WithHint("use env, file or command where nobody can type")
	}
	label := s.For
	if label == "" {
		label = "secret"
	}
	text, err := prompter.Prompt(ctx, safetext.Of(label))
	if ctx.Err() != nil {
		return "", s.stopped(ctx.Err())
	}
	if err != nil {
		// What was typed may be in the prompter's message: it is not passed on.
		return "", s.fault("the answer could not be read").WithHint("start again at a terminal")
	}
	return text, nil
}

// fault names what the secret is for and its source.
func (s Source) fault(format string, args ...any) *fault.Fault {
	f := fault.New(fault.Config, "resolve secret", "%s"+format, append([]any{s.prefix()}, args...)...)
	return f.WithRef(s.String())
}

func (s Source) stopped(cause error) *fault.Fault {
	f := fault.Wrap(fault.KindOf(cause), "resolve secret", cause, "%sstopped before the secret was there", s.prefix())
	return f.WithRef(s.String())
}

func (s Source) prefix() string {
	if s.For == "" {
		return s.String() + ": "
	}
	return safetext.Of(s.For).String() + " from " + s.String() + ": "
}

// trimNewline removes one line end.
func trimNewline(text string) string {
	if cut, ok := strings.CutSuffix(text, "\n"); ok {
		return strings.TrimSuffix(cut, "\r")
	}
	return text
}
