package firstrun

import (
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Options are what the screen needs.
type Options struct {
	Theme theme.Theme
	// Config is where the configuration would lie; may be empty where no folder
	// for it is known.
	Config string
}

// offer is one way on.
type offer struct {
	key, name string
	what      string   // it is, in a sentence
	command   []string // lines of one command, for a shell
	more      []string // sentences below it
}

// Screen is the first screen of a first run.
type Screen struct {
	options Options
	offers  []offer
	chosen  int
	sheet   *sheet.Sheet
}

// New makes the screen.
func New(o Options) *Screen {
	place := "The file goes to where --config says."
	if o.Config != "" {
		place = "The file goes to " + phrase.Safe(o.Config) + ", never over an existing one."
	}
	return &Screen{options: o, sheet: sheet.New(o.Theme), offers: []offer{
		{
			key: "d", name: "demo", what: "Look around in a sample incident. Nothing is installed, nothing is left behind.",
			command: []string{"recoverctl demo"},
			more: []string{
				"recoverctl demo --fluss shows a job whose action state is on Apache Fluss, recoverctl demo --arkflow an ArkFlow hub.",
				"Each with --plain prints its sample as text.",
			},
		},
		{
			key: "a", name: "ad-hoc", what: "Look at one job now, without a file. Nothing is changed: access is read-only.",
			command: []string{
				"recoverctl --brokers k1:9092,k2:9092 \\",
				"  --topic action-state --control-topic action-state-control \\",
				"  --points s3://bucket/checkpoints/JOB --points s3://bucket/savepoints \\",
				"  --flink-rest http://jobmanager:8081 --runtime 0.3",
			},
			more: []string{
				"On Apache Fluss it is --fluss HOST:PORT --table DATABASE.TABLE in place of --brokers and --topic; of ArkFlow, recoverctl --hub URL shows all of a hub.",
				"--topic and --brokers are the log; without --control-topic no boundary is looked at. --points may come several times. " +
					"--flink-rest adds the running job, --runtime its Flink Agents release. --map FROM=TO reads files under another name.",
				"Each flag is also a variable: RECOVERCTL_BROKERS, RECOVERCTL_TOPIC and so on.",
			},
		},
		{
			key: "c", name: "configuration", what: "Write a commented configuration file, then edit it: profiles, jobs, TLS, logins.",
			command: []string{"recoverctl config init"},
			more:    []string{place, "recoverctl config check then tries every connection; recoverctl -p PROFILE opens one."},
		},
	}}
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd { return nil }

// Update implements tui.Screen.
func (s *Screen) Update(tui.Msg) tui.Cmd { return nil }

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "first steps" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{Timeless: true} }

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string { return s.sheet.View(size) }

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.sheet.Set(s.page(size.Width))
	s.sheet.Resize(size.Height)
}

func (s *Screen) page(width int) []string {
	th := s.options.Theme
	p := &sheet.Page{Theme: th, Width: width}
	p.Hang(" ", theme.Title, "Nothing is configured yet, so there is no job to look at. Three ways on:")
	p.Blank()
	for i, o := range s.offers {
		mark, tone := "  ", theme.Plain
		if i == s.chosen {
			mark, tone = th.Signs.Selected+" ", theme.Selected
		}
		p.Hang(" "+mark+o.key+"  ", tone, o.name+": "+o.what)
	}
	p.Blank()
	o := s.offers[s.chosen]
	for _, line := range o.command {
		p.Lines = append(p.Lines, sheet.Indent+"  "+line)
	}
	p.Blank()
	for _, more := range o.more {
		p.Hang(sheet.Indent, theme.Muted, more)
	}
	p.Say("Leave with q and type it, or y copies it.")
	return p.Lines
}

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	var keys []tui.Key
	for i, o := range s.offers {
		keys = append(keys, tui.Key{Keys: []string{o.key}, Help: o.name, Run: func() tui.Cmd { return s.choose(i) }, Disabled: func() string {
			if i == s.chosen {
				return "its command is shown below"
			}
			return ""
		}})
	}
	next := tui.Key{Keys: []string{"tab"}, Help: "next", Quiet: true, Run: func() tui.Cmd { return s.choose((s.chosen + 1) % len(s.offers)) }}
	copied := tui.CopyKey(func() (what, text string) { return "the command", strings.Join(s.offers[s.chosen].command, "\n") })
	return append(append(keys, next, copied), s.sheet.Keys()...)
}

func (s *Screen) choose(i int) tui.Cmd {
	s.chosen = i
	s.sheet.Top()
	return nil
}
