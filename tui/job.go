package tui

import (
	"fmt"
	"math"
	"slices"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// Job is work that runs beside all screens, as the line above the footer shows
// it.
type Job struct {
	Name string
	// Done and Total count units of work; a Total of zero is not known.
	Done, Total int64
	Unit        string  // "records", "partitions"; may be empty
	Rate        float64 // units a second; zero is not shown
	// Cancel asks the job to stop and returns at once; nil where the job can only
	// be stopped on its own screen.
	Cancel func()
	// Holds says why the console can't be suspended while this job runs, as in "an
	// apply is running"; "" where it can.
	Holds string
	// Hint stands at the end of the line, as in ":apply opens it"; may be empty.
	Hint string
	// Ended marks a job that is over and whose outcome nobody has looked at: its
	// line stays, without numbers, and nothing waits for it.
	Ended bool
	// Interrupt, if not nil, is what ctrl-c does while the job runs instead of
	// leaving the console. It returns at once, with the sentence that says what
	// follows.
	Interrupt func() string
	// Leaving, if not nil, is asked when the operator wants to leave the console
	// while the job runs, and says what is done instead, as to open a question.
	Leaving func() Cmd
}

// Pulse tells the shell that a running job may have moved on. Run sends some a
// second, and none while no job runs.
type Pulse struct{}

// Pulser is a screen that shows a running job. Pulse is called, also while the
// screen is covered, when the job may have moved on.
type Pulser interface {
	Pulse() Cmd
}

// pulse tells every screen that wants to know.
func (s *Shell) pulse() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range slices.Clone(s.pages) {
		if screen, ok := p.screen.(Pulser); ok {
			cmds = append(cmds, s.do(p, screen.Pulse()))
		}
	}
	return tea.Batch(cmds...)
}

// moving reports whether some job runs.
func (s *Shell) moving() bool {
	return slices.ContainsFunc(s.jobs, func(j Job) bool { return !j.Ended })
}

// jobLines is the height of the strip: one line, however many jobs run.
func (s *Shell) jobLines() int {
	if len(s.jobs) == 0 {
		return 0
	}
	return 1
}

// jobLine shows the oldest job; its name gives way before its numbers.
func (s *Shell) jobLine(w int) string {
	th, j := s.opts.Theme, s.jobs[0]
	if j.Ended {
		hint := ansi.Truncate(j.Hint, max(w/2, 8), th.Signs.More)
		return spread(" "+th.Paint(theme.Title, ansi.Truncate(j.Name, max(w-ansi.StringWidth(hint)-3, 8), th.Signs.More)), th.Paint(theme.Muted, hint), w)
	}
	numbers := Number(j.Done)
	if j.Total > 0 {
		numbers += " of " + Number(j.Total)
	}
	if j.Unit != "" {
		numbers += " " + j.Unit
	}
	if j.Total > 0 {
		numbers += fmt.Sprintf("  %d %%", percent(j.Done, j.Total))
	}
	if j.Rate > 0 {
		numbers += "  " + Number(int64(math.Round(j.Rate))) + "/s"
	}
	if more := len(s.jobs) - 1; more > 0 {
		numbers += fmt.Sprintf("  and %s", count(more, "other job"))
	}
	cancel := ""
	if j.Cancel != nil {
		cancel = th.Paint(theme.KeyName, label(cancelKey, th)) + " cancel"
	} else if j.Hint != "" {
		cancel = th.Paint(theme.Muted, j.Hint)
	}
	free := w - ansi.StringWidth(numbers) - ansi.StringWidth(cancel) - 5
	name := ansi.Truncate(j.Name, max(free, 8), th.Signs.More)
	return spread(" "+th.Paint(theme.Title, name)+"  "+numbers, cancel, w)
}

// percent is rounded down, so that 100 means all.
func percent(done, total int64) int64 {
	return int64(100 * max(0, min(1, float64(done)/float64(total))))
}

const cancelKey = "ctrl+x"

// cancelJob cancels the job that is shown.
func (s *Shell) cancelJob() tea.Cmd {
	if !s.moving() {
		s.say(theme.Plain, "no job is running")
		return nil
	}
	j := s.jobs[0]
	if j.Cancel == nil {
		s.say(theme.Warning, j.Name+" can be stopped on its own screen only")
		return nil
	}
	j.Cancel()
	s.say(theme.Warning, "asked "+j.Name+" to stop")
	return nil
}

// suspend is ctrl-z.
func (s *Shell) suspend() tea.Cmd {
	for _, j := range s.jobs {
		if j.Holds != "" {
			s.say(theme.Warning, label("ctrl+z", s.opts.Theme)+" is off: "+j.Holds)
			return nil
		}
	}
	return tea.Suspend
}

// interrupt is ctrl-c: a job that runs may take it, and the console stays.
func (s *Shell) interrupt() tea.Cmd {
	for _, j := range s.jobs {
		if j.Interrupt != nil && !j.Ended {
			s.say(theme.Warning, j.Interrupt())
			return nil
		}
	}
	return s.leave()
}

// staying is what is done instead of leaving the console because a job runs.
func (s *Shell) staying() (tea.Cmd, bool) {
	for _, j := range s.jobs {
		if j.Leaving != nil && !j.Ended {
			return s.do(s.top(), j.Leaving()), true
		}
	}
	return nil, false
}
