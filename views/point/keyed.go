package point

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// mostNamed is how many keys and files are named in one line or list.
const mostNamed = 50

// keyed is what each operator keeps per key: what is known of it, and the keys of
// agents, those with a sequence that is not completed first.
func (p *page) keyed() {
	for _, op := range p.point.Operators {
		if op.Keyed == nil && len(op.Processing) == 0 {
			continue
		}
		name := op.Name
		if name == "" {
			name = op.ID
		}
		p.Title("Keyed state of " + phrase.Safe(name))
		if op.Keyed != nil {
			for _, fact := range op.Keyed.Facts() {
				p.Hang(indent, theme.Plain, phrase.Safe(fact))
			}
		}
		if len(op.Processing) > 0 {
			p.Hang(indent, theme.Plain, "being processed when it was taken: "+inspect.ProcessingText(op.Processing, mostNamed))
		}
		if op.Keyed != nil {
			p.sequences(op.Keyed)
		}
	}
}

func (p *page) sequences(k *inspect.KeyedState) {
	if len(k.Sequences) == 0 {
		return
	}
	none := p.options.Theme.Signs.None
	shown := func(n *int64) string {
		if n == nil {
			return none
		}
		return figures.Group(*n)
	}
	rows := make([][]sheet.Cell, 0, min(len(k.Sequences), mostNamed))
	for _, s := range k.Sequences[:min(len(k.Sequences), mostNamed)] {
		in := []string{}
		if text := s.ActionTasks.String(); text != "" {
			in = append(in, "tasks "+text)
		}
		if text := s.PendingInputEvents.String(); text != "" {
			in = append(in, "inputs "+text)
		}
		rows = append(rows, []sheet.Cell{
			{Text: s.Shown()}, {Text: fmt.Sprint(s.Subtask)}, {Text: shown(s.MessageSequenceNumber)}, {Text: cmp.Or(k.CompletedText(s), none)},
			{Text: strings.Join(in, "; ")},
		})
	}
	p.Table([]sheet.Column{{Title: "KEY"}, {Title: "SUBTASK", Right: true}, {Title: "STARTED", Right: true}, {Title: "COMPLETED", Right: true}, {Title: "WAITING"}}, rows)
	if k.Keys != nil && *k.Keys > int64(len(rows)) {
		p.Hang(indent, theme.Muted, fmt.Sprintf("and %s more: recoverctl inspect point lists up to %s", figures.Group(*k.Keys-int64(len(rows))), figures.Group(inspect.MaxListedKeys)))
	}
}

// unreferenced are the files beside the metadata that nothing refers to.
func (p *page) unreferenced() {
	u := p.point.Files.Unreferenced
	if u == nil || u.Files == 0 {
		return
	}
	p.Hang(indent, theme.Plain, fmt.Sprintf("beside them %s that nothing references, %s; harmless for a restore", phrase.Count(int(u.Files), "file", "files"), figures.Bytes(u.Bytes)))
	for _, f := range u.List[:min(len(u.List), mostNamed)] {
		p.Hang(indent+indent, theme.Muted, phrase.Safe(f.URI)+", "+figures.Group(f.Bytes)+" bytes")
	}
}
