package calls

import (
	"context"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// find asks for a key.
func (s *Screen) find() tui.Cmd {
	return dialog.Text{
		Title: "Find a key",
		Lines: []string{
			"TYPE:VALUE, as in string:alice or long:42, for a key of any type; or its text alone.",
			"The whole " + s.options.Job.Store.Log() + " is read for its actions.",
		},
		Label: "Key",
		Check: func(text string) string {
			if text == "" {
				return "type a key first"
			}
			return ""
		},
	}.Open(func(typed string) tui.Cmd { return tui.Push(newFound(s, typed)) })
}

// found is the screen of one key.
type found struct {
	list  *Screen
	typed string
	key   inspect.KeyState
	known bool
	err   error
	busy  bool
	sheet *sheet.Sheet
	size  tui.Size
}

func newFound(list *Screen, typed string) *found {
	return &found{list: list, typed: typed, sheet: sheet.New(list.options.Theme)}
}

func (f *found) Init() tui.Cmd {
	f.busy = true
	find, job, typed := f.list.options.Find, f.list.options.Job, f.typed
	return tui.Load("key", func(ctx context.Context) (inspect.KeyState, error) { return find(ctx, job, typed) })
}

func (f *found) Reload() tui.Cmd { return f.Init() }

func (f *found) Update(msg tui.Msg) tui.Cmd {
	loaded, ok := msg.(tui.Loaded[inspect.KeyState])
	if !ok {
		return nil
	}
	f.busy, f.err = false, loaded.Err
	if loaded.Value.Digest != "" || loaded.Err == nil {
		f.key, f.known = loaded.Value, true
		for _, digest := range append([]string{f.key.Digest}, f.key.OtherDigests...) {
			if f.key.Text != "" {
				f.list.texts[digest] = f.key.Text
			}
		}
	}
	f.Resize(f.size)
	return nil
}

func (f *found) View(size tui.Size) string { return f.sheet.View(size) }
func (f *found) Crumb() string             { return "key " + phrase.Safe(f.typed) }
func (f *found) Status() tui.Status        { return tui.Status{Timeless: true} }
func (f *found) Commands() []tui.Command   { return f.list.options.Commands }

func (f *found) Keys() []tui.Key {
	copied := tui.CopyKey(func() (what, text string) {
		if !f.known {
			return "the key", ""
		}
		p := &sheet.Page{Width: 1 << 16}
		f.page(p)
		return "the key", textOf(p)
	})
	return append([]tui.Key{copied}, f.sheet.Keys()...)
}

func (f *found) Resize(size tui.Size) {
	f.size = size
	p := &sheet.Page{Theme: f.list.options.Theme, Width: size.Width}
	f.page(p)
	f.sheet.Set(p.Lines)
	f.sheet.Resize(size.Height)
}

// mostActions bounds what the page writes out; a key may have any number.
const mostActions = 200

func (f *found) page(p *sheet.Page) {
	if f.busy && !f.known {
		p.Say("reading " + phrase.Safe(f.list.options.Job.Topic) + " for " + phrase.Safe(f.typed))
		return
	}
	p.Faults(theme.Error, "", f.err)
	if !f.known {
		return
	}
	f.facts(p)
	k := f.key
	if k.Scanned != nil && k.Scanned.Partial {
		p.Sign(theme.Warning, "NOT ALL WAS READ: the key may have actions that are not listed")
	}
	for i := range k.Actions[:min(len(k.Actions), mostActions)] {
		p.Blank()
		f.list.action(p, scan.RowOf(&k.Actions[i]))
	}
	if rest := len(k.Actions) - mostActions; rest > 0 {
		p.Blank()
		p.Say(figures.Count(rest, "more action", "more actions") + ": recoverctl inspect key lists all")
	}
}

// facts are what follows from the key alone, and how many actions it has.
func (f *found) facts(p *sheet.Page) {
	k, none := f.key, f.list.options.Theme.Signs.None
	number := func(n *int32) string {
		if n == nil {
			return none
		}
		return figures.Group(int64(*n))
	}
	actions := "the " + f.list.options.Job.Store.Log() + " was not read for them"
	if k.Scanned != nil {
		actions = figures.Group(int64(len(k.Actions))) + " in " + figures.Count(k.Scanned.Records, "record", "records")
	}
	rows := [][]sheet.Cell{
		{{Text: "key"}, {Text: phrase.Safe(k.Type) + ":" + phrase.Safe(k.Value)}},
		{{Text: "text"}, {Text: phrase.Safe(k.Text)}},
		{{Text: "digest"}, {Text: "sha256 " + phrase.Safe(strings.Join(append([]string{k.Digest}, k.OtherDigests...), ", "))}},
		{{Text: "key group"}, {Text: number(k.KeyGroup)}},
		{{Text: f.list.options.Job.Store.Part()}, {Text: f.part(number)}},
		{{Text: "actions"}, {Text: actions}},
	}
	p.Table([]sheet.Column{{Title: "KEY"}, {Title: ""}}, rows)
	for _, note := range k.Notes {
		p.Sign(theme.Warning, phrase.Safe(note))
	}
}

// part is where the key's records are: by release on a topic, in a table in any.
func (f *found) part(number func(*int32) string) string {
	if f.list.options.Job.Store == inspect.StoreFluss {
		return number(f.key.Bucket)
	}
	return number(f.key.Partition) + "; releases 0.1 to 0.3: " + number(f.key.PartitionReleased)
}

func textOf(p *sheet.Page) string { return strings.Join(p.Lines, "\n") + "\n" }
