package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// Documented is a screen, or a kind of dialog, as documentation names it.
type Documented struct {
	Name     string // "Job"
	Keys     []Key
	Commands []Command
}

// KeysMarkdown writes the keys and commands of all screens, and those that every
// screen has, as a page of documentation. It is made from the tables that run
// them, so it says what they do.
func KeysMarkdown(screens []Documented) string {
	var b strings.Builder
	b.WriteString("# Keys\n\n")
	b.WriteString("`?` shows the keys of the screen that is open. A key that changes something is marked; where access is\n" +
		"read-only it stays visible and says why it is off. Such a key does nothing while it is held down or when it\n" +
		"arrives together with other letters.\n")
	for _, s := range screens {
		fmt.Fprintf(&b, "\n## %s\n", s.Name)
		keyTable(&b, s.Keys)
		commandTable(&b, s.Commands)
	}
	b.WriteString("\n## Every screen\n")
	keyTable(&b, commonHelp)
	commandTable(&b, commonCommands)
	return b.String()
}

func keyTable(b *strings.Builder, keys []Key) {
	if len(keys) == 0 {
		return
	}
	b.WriteString("\n| key | what it does |\n| --- | --- |\n")
	for _, k := range keys {
		names := make([]string, len(k.Keys))
		for i, name := range k.Keys {
			names[i] = code(label(name, theme.Theme{ASCII: true}))
		}
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(names, " "), what(k.Help, k.Dangerous))
	}
}

func commandTable(b *strings.Builder, commands []Command) {
	if len(commands) == 0 {
		return
	}
	b.WriteString("\n| command | what it does |\n| --- | --- |\n")
	for _, c := range commands {
		name := ":" + c.Name
		if c.Args != "" {
			name += " " + c.Args
		}
		help := what(c.Help, c.Dangerous)
		if len(c.Choices) > 0 {
			help += ": " + strings.Join(c.Choices, ", ")
		}
		fmt.Fprintf(b, "| %s | %s |\n", code(name), help)
	}
}

func what(help string, dangerous bool) string {
	help = strings.ReplaceAll(help, "|", `\|`)
	if dangerous {
		return help + " (**changes something**)"
	}
	return help
}

func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

// CommandClashes finds commands of a screen that share their name with another
// one, or with a command of every screen. A screen's test asserts that there are
// none.
func CommandClashes(commands []Command) []string {
	var clashes []string
	meaning := map[string]string{}
	for _, c := range slices.Concat(commonCommands, commands) {
		if other, taken := meaning[c.Name]; taken {
			clashes = append(clashes, fmt.Sprintf(":%s is both %q and %q", c.Name, other, c.Help))
			continue
		}
		meaning[c.Name] = c.Help
	}
	return clashes
}
