package operations

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// verdict is what has become of one operation, as re-read from the cluster alone.
type verdict struct {
	options Options
	plan    inspect.CleanupPlan
	verdict actions.OperationVerdict
	err     error
	known   bool
	started time.Time
	readAt  time.Time // zero: not yet

	sheet *sheet.Sheet
	size  tui.Size
	look  theme.Palette // that the page was painted with
}

func newVerdict(o Options, plan inspect.CleanupPlan) *verdict {
	return &verdict{options: o, plan: plan, sheet: sheet.New(o.Theme)}
}

func (d *verdict) Init() tui.Cmd {
	d.started = d.options.Now()
	source, job, plan := d.options.Plans, d.options.Job, d.plan
	return tui.Load("verdict", func(ctx context.Context) (actions.OperationVerdict, error) { return source.Verify(ctx, job, plan) })
}

func (d *verdict) Reload() tui.Cmd { return d.Init() }

func (d *verdict) Update(msg tui.Msg) tui.Cmd {
	if loaded, ok := msg.(tui.Loaded[actions.OperationVerdict]); ok {
		d.err = loaded.Err
		if loaded.Value.Verdict != "" {
			d.verdict, d.known, d.readAt = loaded.Value, true, d.started
		}
		d.lay()
	}
	return nil
}

func (d *verdict) Crumb() string             { return "verdict on cleanup " + phrase.Short(d.plan.PlanID) }
func (d *verdict) Status() tui.Status        { return tui.Status{ReadAt: d.readAt} }
func (d *verdict) View(size tui.Size) string { return d.sheet.View(size) }
func (d *verdict) Commands() []tui.Command   { return d.options.Commands }

func (d *verdict) Keys() []tui.Key {
	receipt := tui.CopyKey(func() (what, text string) {
		if d.verdict.Receipt == nil {
			return "the receipt", ""
		}
		return "the receipt", d.verdict.Receipt.Text()
	})
	return append([]tui.Key{receipt}, d.sheet.Keys()...)
}

func (d *verdict) Resize(size tui.Size) {
	if look := d.options.Theme.Palette(); size != d.size || look != d.look {
		d.size, d.look = size, look
		d.lay()
	}
}

func (d *verdict) lay() {
	d.sheet.Set(d.page(d.size.Width))
	d.sheet.Resize(d.size.Height)
}

func (d *verdict) page(width int) []string {
	p := &sheet.Page{Theme: d.options.Theme, Width: width}
	if !d.known {
		if d.err != nil {
			p.Sign(theme.Error, "what has become of it is not known")
			p.Faults(theme.Error, "", d.err)
			return p.Lines
		}
		p.Hang(" ", theme.Plain, "asking the cluster, over a connection of its own")
		return p.Lines
	}
	v := d.verdict
	tone := theme.Error
	switch v.Verdict {
	case actions.Applied:
		tone = theme.OK
	case actions.NotStarted, actions.Committed, actions.Undecided:
		tone = theme.Warning
	}
	p.Sign(tone, phrase.Safe(string(v.Verdict)+": "+v.Message))
	if d.err != nil {
		p.Faults(theme.Warning, "", d.err)
	}
	if v.Receipt != nil {
		p.Title("Receipt, y copies it")
		p.Words(v.Receipt.Text())
	}
	return p.Lines
}
