package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newMan prints the manual. It is for who packages the program, so help does not
// list it.
func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page, as in recoverctl man | man -l -", Args: noArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := io.WriteString(a.out, roff(manualOf(cmd.Root()))); err != nil {
				return fmt.Errorf("print the manual page: %w", err)
			}
			return nil
		},
	}
}

// manual is what the tree of commands says about itself.
type manual struct {
	name, short, long, example string
	flags                      []manualFlag // of every command
	commands                   []manualCommand
}

type manualCommand struct {
	usage       string // the whole line, as in recoverctl inspect point URI
	path        string // without its arguments
	short, long string
	flags       []manualFlag // of this command alone
}

type manualFlag struct {
	names, placeholder, usage, otherwise string // otherwise: its default; empty: none worth a word
}

// manualOf reads the tree in its order, which is that of the commands' names.
// Commands that only hold others are not told of, for they do nothing.
func manualOf(root *cobra.Command) manual {
	root.InitDefaultCompletionCmd()
	m := manual{name: root.Name(), short: root.Short, long: root.Long, example: root.Example, flags: manualFlags(root.PersistentFlags())}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		shells := cmd.Name() == "completion" // its children differ in nothing but the shell
		if !cmd.HasAvailableSubCommands() || shells {
			c := manualCommand{path: cmd.CommandPath(), usage: cmd.CommandPath(), short: cmd.Short, long: cmd.Long, flags: manualFlags(cmd.LocalNonPersistentFlags())}
			if _, arguments, some := strings.Cut(cmd.Use, " "); some {
				c.usage += " " + arguments
			}
			if shells {
				c.usage, c.long = c.usage+" "+strings.Join(childNames(cmd), "|"), ""
			}
			m.commands = append(m.commands, c)
			return
		}
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				visit(child)
			}
		}
	}
	visit(root)
	return m
}

func manualFlags(set *pflag.FlagSet) []manualFlag {
	var flags []manualFlag
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		one := manualFlag{names: "--" + f.Name}
		if f.Shorthand != "" {
			one.names = "-" + f.Shorthand + ", " + one.names
		}
		one.placeholder, one.usage = pflag.UnquoteUsage(f)
		switch f.DefValue {
		case "", "false", "0", "[]":
		default:
			one.otherwise = f.DefValue
		}
		if f.NoOptDefVal != "" {
			one.placeholder = ""
		}
		flags = append(flags, one)
	})
	return flags
}

// sentence is what a flag is for, with its default.
func (f manualFlag) sentence() string {
	if f.otherwise == "" {
		return f.usage
	}
	return fmt.Sprintf("%s (default %s)", f.usage, f.otherwise)
}

// markdown is the manual as a page of the documentation.
func markdown(m manual) string {
	var b strings.Builder
	text := strings.NewReplacer("*", `\*`, "<", `\<`, "|", `\|`)
	flags := func(list []manualFlag) {
		b.WriteString("\n| flag | meaning |\n| --- | --- |\n")
		for _, f := range list {
			name := strings.TrimSpace(f.names + " " + f.placeholder)
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), text.Replace(f.sentence()))
		}
	}
	fmt.Fprintf(&b, "# Commands\n\nThis page is made from the program's own help, which says the same.\n\n%s\n\n```sh\n%s\n```\n", text.Replace(m.long), unindent(m.example))
	b.WriteString("\n## Flags of every command\n")
	flags(m.flags)
	for _, c := range m.commands {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```\n%s\n```\n", c.path, text.Replace(c.short), c.usage)
		if c.long != "" {
			fmt.Fprintf(&b, "\n%s\n", text.Replace(strings.TrimSpace(c.long)))
		}
		if len(c.flags) > 0 {
			flags(c.flags)
		}
	}
	return b.String()
}

func unindent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// roff is the manual as a page for man.
func roff(m manual) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	text := func(s string) {
		for paragraph := range strings.SplitSeq(strings.TrimSpace(s), "\n\n") {
			line(".PP\n%s", roffText(paragraph))
		}
	}
	flags := func(list []manualFlag) {
		for _, f := range list {
			line(".TP\n\\fB%s\\fR \\fI%s\\fR\n%s", roffText(f.names), roffText(f.placeholder), roffText(f.sentence()))
		}
	}
	line(".TH %s 1 \"\" \"%s %s\"", strings.ToUpper(m.name), m.name, roffText(version))
	line(".SH NAME\n%s \\- %s", m.name, roffText(m.short))
	line(".SH SYNOPSIS\n\\fB%s\\fR [\\fIcommand\\fR] [\\fIflags\\fR]", m.name)
	line(".SH DESCRIPTION")
	text(m.long)
	line(".SH OPTIONS\nThese are flags of every command.")
	flags(m.flags)
	line(".SH COMMANDS")
	for _, c := range m.commands {
		line(".SS %s", roffText(c.usage))
		text(c.short + ".")
		if c.long != "" {
			text(c.long)
		}
		flags(c.flags)
	}
	line(".SH EXAMPLES\n.nf\n%s\n.fi", roffText(unindent(m.example)))
	return b.String()
}

// roffText makes text mean nothing but itself to roff.
func roffText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
