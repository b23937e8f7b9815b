package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/textfield"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Command is what the palette offers beside the keys of the screen.
type Command struct {
	// Name is one word in lower case, as in "rollback".
	Name string
	// Args names what may follow, as in "THEME"; "" where nothing may.
	Args string
	// Choices are the arguments there are; empty: any text. The only one need not be
	// typed.
	Choices []string
	// Help says in a few words what happens.
	Help string
	// Dangerous marks a command that leads to a change of some system. It stays
	// visible where it is locked, and its name must be typed letter by letter.
	Dangerous bool
	// Disabled, if not nil, says in a sentence why the command is off now.
	Disabled func() string
	// Run does it; args is what followed the name, without spaces around it.
	Run func(args string) Cmd

	typed bool // its name must be typed letter by letter, though it is not Dangerous
}

// Commander is a screen with commands for the palette.
type Commander interface {
	Commands() []Command
}

func (c Command) off(locked string) string {
	return Key{Dangerous: c.Dangerous, Disabled: c.Disabled}.off(locked)
}

// shellCommands are the commands of every screen.
func (s *Shell) shellCommands() []Command {
	do := func(run func() tea.Cmd) func(string) Cmd {
		return func(string) Cmd {
			return Cmd{{request: func(*Shell, *page) tea.Cmd { return run() }}}
		}
	}
	run := map[string]func(string) Cmd{
		"cancel":   do(s.cancelJob),
		"help":     do(s.help),
		"messages": do(func() tea.Cmd { return s.show(s.messages()) }),
		"operate":  do(s.operate),
		"quit":     do(s.leave),
		"readonly": do(s.readOnly),
		"reload":   do(s.reload),
		"theme":    s.switchTheme,
	}
	commands := slices.Clone(commonCommands)
	for i := range commands {
		commands[i].Run = run[commands[i].Name]
	}
	return commands
}

// commonCommands names the commands of every screen.
var commonCommands = []Command{
	{Name: "cancel", Help: "cancel the running job"},
	{Name: "help", Help: "keys and signs"},
	{Name: "messages", Help: "what was said before"},
	{Name: "operate", Help: "allow changes for a while", typed: true},
	{Name: "quit", Help: "leave the console"},
	{Name: "readonly", Help: "allow no changes any more"},
	{Name: "reload", Help: "read again"},
	{Name: "theme", Args: "THEME", Choices: theme.Palettes(), Help: "choose the colours"},
}

func (s *Shell) switchTheme(word string) Cmd {
	p, err := theme.ParsePalette(word)
	switch {
	case err != nil:
		return Say(theme.Warning, "themes: "+strings.Join(theme.Palettes(), ", "))
	case !s.opts.Theme.Switch(p):
		return Say(theme.Warning, "this terminal shows no colours")
	}
	return Say(theme.OK, "theme "+p.String())
}

// commands are all that the palette offers on the screen that is shown: the
// screen's keys that the footer names too, its commands, the caller's, and the
// shell's own.
func (s *Shell) commands() []entry {
	var all []entry
	screen := s.top().screen
	for _, k := range screen.Keys() {
		if k.Quiet || k.Run == nil {
			continue
		}
		all = append(all, entry{
			name: k.Help, help: "", key: label(k.Keys[0], s.opts.Theme), off: k.off(s.header.Locked),
			dangerous: k.Dangerous, typed: k.Dangerous, run: func(string) Cmd { return k.Run() },
		})
	}
	var named []Command
	if c, ok := screen.(Commander); ok {
		named = append(named, c.Commands()...)
	}
	named = append(append(named, s.opts.Commands...), s.shellCommands()...)
	for _, c := range named {
		all = append(all, entry{
			name: c.Name, args: c.Args, choices: c.Choices, help: c.Help, off: c.off(s.header.Locked),
			dangerous: c.Dangerous, typed: c.Dangerous || c.typed, command: true, run: c.Run,
		})
	}
	return all
}

// entry is one line of the palette.
type entry struct {
	name, args, help, key string
	choices               []string
	off                   string
	dangerous             bool
	typed                 bool // letter by letter
	command               bool // its name is typed; else it is the help of a key
	run                   func(args string) Cmd
}

// paletteRows is how many entries are shown at most.
const paletteRows = 10

// palette is the command line with the entries that match.
type palette struct {
	all     []entry
	found   []entry
	field   textfield.Field
	at      int // the selected entry of found
	rows    int
	history *[]string // the oldest first
	back    int       // how far back in history the line is; 0: not
	arrived bool      // some of the letters came together
}

func (s *Shell) openPalette() tea.Cmd {
	p := &palette{all: s.commands(), history: &s.typed}
	p.search()
	s.open(p, s.top())
	return nil
}

func (p *palette) atBottom()      {}
func (p *palette) Opened(Opening) {}

func (p *palette) Resize(size Size) { p.rows = max(min(paletteRows, size.Height-1), 1) }

func (p *palette) Press(press Press) (Cmd, bool) {
	switch press.Name {
	case "esc", "ctrl+c":
		return nil, true
	case "enter":
		return p.enter(press)
	case "down":
		p.at = min(p.at+1, max(len(p.found)-1, 0))
		return nil, false
	case "up":
		p.at = max(p.at-1, 0)
		return nil, false
	case "ctrl+p":
		p.remember(1)
		return nil, false
	case "ctrl+n":
		p.remember(-1)
		return nil, false
	case "tab":
		p.complete()
		return nil, false
	}
	switch {
	case press.Paste:
		return Say(theme.Warning, "a paste is not taken here: type the command"), false
	case press.Letters != "":
		if why := p.field.Insert(press.Letters); why != "" {
			return Say(theme.Warning, string(why)), false
		}
		p.arrived = p.arrived || press.Together
	case !p.field.Key(press.Name):
		return nil, false
	}
	if p.field.Value() == "" {
		p.arrived = false
	}
	p.search()
	return nil, false
}

// enter runs the selected entry. What arrives in one piece never runs anything:
// it was meant for something else.
func (p *palette) enter(press Press) (Cmd, bool) {
	switch {
	case press.Together:
		return Say(theme.Warning, "enter came together with other letters and was not taken: press it alone"), false
	case len(p.found) == 0:
		return Say(theme.Warning, "no command is called "+p.field.Value()+": esc closes the palette"), false
	}
	e, args := p.found[p.at], p.arguments()
	if args == "" && len(e.choices) == 1 { // there is nothing to choose
		args = e.choices[0]
	}
	switch {
	case e.off != "":
		return Say(theme.Warning, e.name+" is off: "+e.off), false
	case e.dangerous && press.Locked != "": // since the palette was opened
		return Say(theme.Warning, e.name+" is off: "+press.Locked), false
	case e.typed && p.arrived:
		p.field.Clear()
		p.arrived = false
		p.search()
		return Say(theme.Warning, e.name+" must be typed letter by letter"), false
	case e.args == "" && e.command && args != "":
		return Say(theme.Warning, e.name+" takes nothing after its name"), false
	case len(e.choices) > 0 && !slices.Contains(e.choices, args):
		return Say(theme.Warning, e.name+" needs one of: "+strings.Join(e.choices, ", ")), false
	}
	if e.command {
		p.keep(strings.TrimSpace(e.name + " " + args))
	}
	return e.run(args), true
}

// keptCommands bounds the history of commands.
const keptCommands = 100

func (p *palette) keep(line string) {
	h := slices.DeleteFunc(*p.history, func(old string) bool { return old == line })
	if len(h) >= keptCommands {
		h = h[1:]
	}
	*p.history = append(h, line)
}

// remember goes back and forth in the history.
func (p *palette) remember(by int) {
	p.back = max(min(p.back+by, len(*p.history)), 0)
	line := ""
	if p.back > 0 {
		line = (*p.history)[len(*p.history)-p.back]
	}
	p.field.Set(line)
	p.arrived = false
	p.search()
}

// complete puts the selected command's name into the line, and then its
// arguments one after another.
func (p *palette) complete() {
	if len(p.found) == 0 || !p.found[p.at].command {
		return
	}
	e, args := p.found[p.at], p.arguments()
	line := e.name
	if len(e.choices) > 0 && strings.HasPrefix(p.field.Value(), e.name+" ") {
		next := slices.IndexFunc(e.choices, func(c string) bool { return strings.HasPrefix(c, args) })
		if i := slices.Index(e.choices, args); i >= 0 {
			next = (i + 1) % len(e.choices)
		}
		line += " " + e.choices[max(next, 0)]
	} else if e.args != "" {
		line += " "
	}
	p.field.Set(line)
	p.search()
}

// arguments is what follows the first word.
func (p *palette) arguments() string {
	_, args, _ := strings.Cut(strings.TrimLeft(p.field.Value(), " "), " ")
	return strings.TrimSpace(args)
}

func (p *palette) search() {
	p.found, p.at = ranked(p.all, p.field.Value()), 0
}

func (p *palette) View(size Size, th theme.Theme) string {
	rows := min(p.rows, size.Height-1)
	first := max(min(p.at-rows+1, len(p.found)-rows), 0)
	shown := p.found[first:min(first+rows, len(p.found))]
	name, key := 0, 0
	for _, e := range shown {
		name = max(name, ansi.StringWidth(e.title()))
		key = max(key, ansi.StringWidth(e.key))
	}
	name = min(name, size.Width/2)
	rule := "─"
	if th.ASCII {
		rule = "-"
	}
	lines := []string{th.Paint(theme.Muted, strings.Repeat(rule, size.Width))}
	if rows < len(p.found) {
		note := fmt.Sprintf(" %d of %s ", len(shown), count(len(p.found), "command"))
		lines[0] = th.Paint(theme.Muted, note+strings.Repeat(rule, max(size.Width-ansi.StringWidth(note), 0)))
	}
	lines = lines[:min(len(lines), size.Height-len(shown)-1)]
	if len(shown) == 0 && size.Height > len(lines)+1 {
		lines = append(lines, ansi.Truncate("   no command has this name: "+p.field.Value(), size.Width, th.Signs.More))
	}
	for i, e := range shown {
		line := pad(ansi.Truncate(e.title(), name, th.Signs.More), name) + "  " + pad(e.key, key)
		if e.off != "" {
			line += "  " + th.Paint(theme.Muted, "off: "+e.off)
		}
		if e.help != "" {
			line += "  " + e.help
		}
		if e.dangerous {
			line += "  " + th.Paint(theme.Warning, "changes something")
		}
		mark := "  "
		if first+i == p.at {
			mark = th.Signs.Selected + " "
		}
		line = pad(ansi.Truncate(" "+mark+line, size.Width, th.Signs.More), size.Width)
		if first+i == p.at {
			line = th.Paint(theme.Selected, line)
		}
		lines = append(lines, line)
	}
	prompt := " " + th.Paint(theme.KeyName, ":")
	return strings.Join(append(lines, prompt+p.field.View(size.Width-2, th.Signs.Cursor, th.Signs.More)), "\n")
}

func (e entry) title() string {
	if e.args != "" {
		return e.name + " " + e.args
	}
	return e.name
}

func (p *palette) Keys() []Key {
	return []Key{
		{Keys: []string{"enter"}, Help: "run"}, {Keys: []string{"tab"}, Help: "complete"},
		{Keys: []string{"up"}, Help: "up"}, {Keys: []string{"down"}, Help: "down"},
		{Keys: []string{"ctrl+p"}, Help: "earlier"}, {Keys: []string{"esc"}, Help: "close"},
	}
}
