package live

import (
	"context"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// tasks is the screen of one checkpoint of the history: which tasks it waits
// for, or waited for when it failed.
type tasks struct {
	options  Options
	entry    inspect.LiveCheckpoint // as the history has it
	details  *inspect.LiveCheckpointDetails
	err      error
	answered bool
	started  time.Time
	readAt   time.Time
	sheet    *sheet.Sheet
}

func newTasks(o Options, entry inspect.LiveCheckpoint) *tasks {
	return &tasks{options: o, entry: entry, sheet: sheet.New(o.Theme)}
}

func (x *tasks) Init() tui.Cmd {
	x.started = x.options.Now()
	source, job, id := x.options.Source, x.options.Job, x.entry.ID
	return tui.Load("tasks", func(ctx context.Context) (inspect.LiveCheckpointDetails, error) {
		return source.Checkpoint(ctx, job, id)
	})
}

func (x *tasks) Reload() tui.Cmd { return x.Init() }

// Update keeps what was known where a later read brought nothing.
func (x *tasks) Update(msg tui.Msg) tui.Cmd {
	loaded, ok := msg.(tui.Loaded[inspect.LiveCheckpointDetails])
	if !ok {
		return nil
	}
	x.err, x.answered = loaded.Err, true
	if loaded.Err == nil {
		x.details, x.readAt = &loaded.Value, x.started
		x.entry = loaded.Value.LiveCheckpoint
	}
	return nil
}

func (x *tasks) Crumb() string {
	return phrase.Safe(string(x.entry.Kind)) + " " + figures.Group(x.entry.ID)
}

func (x *tasks) Status() tui.Status        { return tui.Status{ReadAt: x.readAt} }
func (x *tasks) View(size tui.Size) string { return x.sheet.View(size) }
func (x *tasks) Keys() []tui.Key           { return x.sheet.Keys() }
func (x *tasks) Commands() []tui.Command   { return x.options.Commands }

func (x *tasks) Resize(size tui.Size) {
	x.sheet.Set(x.page(size.Width))
	x.sheet.Resize(size.Height)
}

func (x *tasks) page(width int) []string {
	p := &sheet.Page{Theme: x.options.Theme, Width: width}
	e := x.entry
	tone := theme.Plain
	switch e.Status {
	case inspect.CheckpointFailed:
		tone = theme.Error
	case inspect.CheckpointInProgress:
		tone = theme.Warning
	}
	p.Sign(tone, fmt.Sprintf("%s, acknowledged by %d of %s", phrase.Safe(e.Status), e.Acknowledged, phrase.Count(e.Subtasks, "subtask", "subtasks")))
	if e.Triggered != nil {
		p.Say("triggered " + e.Triggered.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if e.Reason != nil {
		p.Say(phrase.Safe(*e.Reason))
	}
	if e.Path != nil {
		p.Hang(indent, theme.Muted, phrase.Safe(*e.Path))
	}
	p.Blank()
	switch {
	case !x.answered:
		p.Say("reading what the tasks did")
		return p.Lines
	case x.err != nil && x.details == nil:
		p.Faults(theme.Warning, "what the tasks did could not be read: ", x.err)
		return p.Lines
	case x.err != nil:
		p.Faults(theme.Warning, "reading again failed, what is shown is older: ", x.err)
	}
	x.table(p)
	return p.Lines
}

// table is what each task did, those first that are waited for.
func (x *tasks) table(p *sheet.Page) {
	if len(x.details.Tasks) == 0 {
		p.Say("Flink names no task of it")
		return
	}
	var waiting, done [][]sheet.Cell
	for _, task := range x.details.Tasks {
		row := []sheet.Cell{
			{Text: fmt.Sprintf("%d of %d", task.Acknowledged, task.Subtasks)}, {Text: phrase.Safe(task.Status)},
			{Text: figures.Bytes(task.Bytes)}, {Text: phrase.Safe(task.Name)},
		}
		if task.Acknowledged < task.Subtasks {
			row[0].Tone = theme.Warning
			waiting = append(waiting, row)
			continue
		}
		done = append(done, row)
	}
	switch n := len(waiting); {
	case n == 0:
		p.Say("every task has acknowledged it")
	case x.entry.Status == inspect.CheckpointInProgress:
		p.Sign(theme.Warning, "it waits for "+phrase.Count(n, "task", "tasks"))
	default:
		p.Sign(theme.Warning, "not acknowledged by "+phrase.Count(n, "task", "tasks"))
	}
	p.Table([]sheet.Column{{Title: "ACKNOWLEDGED", Right: true}, {Title: "STATUS"}, {Title: "STATE", Right: true}, {Title: "TASK"}}, append(waiting, done...))
}
