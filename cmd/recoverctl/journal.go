package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/journal"
)

func newJournal(a *app) *cobra.Command {
	return group("journal", "Read what this program did from this machine", newJournalList(a), newJournalShow(a))
}

// journalFilter is what the flags of both commands choose.
type journalFilter struct {
	plan, run, since, until string
	last                    int
}

func (f *journalFilter) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.plan, "plan", "", "only plans whose id begins with these hex `DIGITS`")
	cmd.Flags().StringVar(&f.run, "run", "", "only the run with this `ID`")
	cmd.Flags().StringVar(&f.since, "since", "", "only from this `TIME` on: a date, a time as in 2026-03-01T14:03:00Z, or an age as in 48h")
	cmd.Flags().StringVar(&f.until, "until", "", "only before this `TIME`")
	cmd.Flags().IntVar(&f.last, "last", 0, "only the newest `NUMBER` of lines")
}

// filter is the flags as the journal takes them. Profile and job choose only
// where they are named on the command line: the journal is read without any
// configuration.
func (f journalFilter) filter(a *app) (journal.Filter, error) {
	out := journal.Filter{Plan: f.plan, Run: f.run, Last: f.last}
	if err := config.CheckOutput(config.Options{Environ: a.environ, Flags: a.flags}); err != nil {
		return out, err
	}
	if f.last < 0 {
		return out, fault.New(fault.Usage, "read flags", "--last %d: a number from 1 on", f.last)
	}
	var err error
	if out.Since, err = momentOf("since", f.since, a.clock.Now()); err != nil {
		return out, err
	}
	if out.Until, err = momentOf("until", f.until, a.clock.Now()); err != nil {
		return out, err
	}
	for name, into := range map[string]*string{"profile": &out.Profile, "job": &out.Job} {
		if flag := a.flags.Lookup(name); flag != nil && flag.Changed {
			*into = flag.Value.String()
		}
	}
	return out, nil
}

// momentOf reads a date (in UTC), a time, or an age.
func momentOf(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	return time.Time{}, fault.New(fault.Usage, "read flags", "--%s %s is neither a time nor an age", flag, safe(text)).
		WithHint("write 2026-03-01, 2026-03-01T14:03:00Z, or 48h")
}

// journalRead is the JSON form of both commands.
type journalRead struct {
	Entries []journal.Entry  `json:"entries"`
	Open    []journal.Entry  `json:"open"`   // writes whose outcome is not on record: a crash, or a run that is going on
	Damage  []journal.Damage `json:"damage"` // lines that can't be read
}

func (a *app) readJournal(f journal.Filter) (journalRead, error) {
	dir, err := journal.StateDir(a.variable)
	if err != nil {
		return journalRead{}, err
	}
	entries, damage, err := journal.At(dir).Read(f)
	return journalRead{Entries: entries, Open: append([]journal.Entry{}, journal.OpenIntents(entries)...), Damage: damage}, err
}

func newJournalList(a *app) *cobra.Command {
	var flags journalFilter
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, oldest first: when, which plan, who, why, and what came of it", Args: noArgs,
		Long: `Reads the journal of this machine: each write has a line before it and a line
after it. A run without an end was cut off, or is going on. A line that can't be
read is told, and never passes for absent.`,
		RunE: func(*cobra.Command, []string) error {
			f, err := flags.filter(a)
			if err != nil {
				return err
			}
			read, err := a.readJournal(f)
			if err != nil && len(read.Entries) == 0 {
				return err
			}
			return a.printer().result("JournalEntry", read, []error{err}, func(t *table) { renderRuns(t, read) })
		},
	}
	flags.register(cmd)
	return cmd
}

func newJournalShow(a *app) *cobra.Command {
	var flags journalFilter
	cmd := &cobra.Command{
		Use: "show [ID]", Short: "Show every line of a run or of a plan; ID is a run's id or the beginning of a plan's",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactArgs("at most one ID")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := flags.filter(a)
			if err != nil {
				return err
			}
			read, err := a.readJournal(f)
			if err != nil && len(read.Entries) == 0 {
				return err
			}
			if len(args) == 1 {
				read = read.of(args[0])
				if len(read.Entries) == 0 && err == nil {
					return nothingJournalled(args[0], read.Damage)
				}
			}
			return a.printer().result("JournalEntry", read, []error{err}, func(t *table) { renderEntries(t, read) })
		},
	}
	flags.register(cmd)
	return cmd
}

// of keeps the lines of a run, or of the plans whose ids begin so.
func (r journalRead) of(id string) journalRead {
	other := func(e journal.Entry) bool { return e.Run != id && !strings.HasPrefix(e.PlanID, id) }
	r.Entries = slices.DeleteFunc(slices.Clone(r.Entries), other)
	r.Open = slices.DeleteFunc(slices.Clone(r.Open), other)
	return r
}

func nothingJournalled(id string, damage []journal.Damage) error {
	f := fault.New(fault.NotFound, "read the journal", "no line of this machine's journal is of %s", safe(id)).
		WithHint("it may have been applied from another machine: recoverctl verify asks the cluster")
	if len(damage) > 0 {
		f.Message += fmt.Sprintf("; %d lines of it can't be read", len(damage))
	}
	return f
}

func renderDamage(t *table, damage []journal.Damage) {
	for _, d := range damage {
		what := "can't be read"
		if d.Torn {
			what = "is torn, as a crash leaves it"
		}
		t.line(fmt.Sprintf("! line %d of %s %s: %s", d.Line, d.File, what, d.Why))
	}
}

func renderOpen(t *table, open []journal.Entry) {
	for _, e := range open {
		ask := "recoverctl verify " + e.PlanID
		if leavesNoRecord(e.Kind) {
			ask = "recoverctl verify FILE, with the file of that plan"
		}
		t.line(fmt.Sprintf("! step %s of run %s, plan %s, was begun at %s and has no outcome: a crash, or it is going on. Ask with %s",
			e.Step, e.Run, shortID(e.PlanID), e.Time.UTC().Format(time.RFC3339), ask))
	}
}

// renderRuns writes one row for each run.
func renderRuns(t *table, r journalRead) {
	renderDamage(t, r.Damage)
	renderOpen(t, r.Open)
	if len(r.Entries) == 0 {
		t.line("the journal holds no such line")
		return
	}
	var order []string
	runs := map[string][]journal.Entry{}
	for _, e := range r.Entries {
		if _, known := runs[e.Run]; !known {
			order = append(order, e.Run)
		}
		runs[e.Run] = append(runs[e.Run], e)
	}
	t.row(text("BEGAN"), text("RUN"), text("PLAN"), text("PROFILE"), text("JOB"), text("ON"), text("WHO"), text("CAME TO"), text("WHY"))
	for _, id := range order {
		run := runs[id]
		first, last := run[0], run[len(run)-1]
		result := "no end on record"
		if last.Event == journal.End {
			result = last.Result
		}
		t.row(text(first.Time.UTC().Format(time.RFC3339)), text(id), text(shortID(first.PlanID)), text(first.Profile), text(first.Job), text(cmp.Or(first.Topic, first.Object)),
			text(first.User+"@"+first.Host), text(result), text(first.Reason))
	}
}

// renderEntries writes one row for each line.
func renderEntries(t *table, r journalRead) {
	renderDamage(t, r.Damage)
	renderOpen(t, r.Open)
	run := ""
	for _, e := range r.Entries {
		if e.Run != run {
			run = e.Run
			t.line(fmt.Sprintf("run %s: plan %s, %s, %s@%s, process %d, profile %s, job %s", e.Run, e.PlanID, journalTarget(e), e.User, e.Host, e.PID, e.Profile, e.Job))
		}
		what := e.Message
		if e.Event == journal.Begin {
			what = "because " + e.Reason
			if len(e.Accept) > 0 {
				what += "; accepted " + strings.Join(e.Accept, ", ")
			}
		}
		t.row(text("  "+e.Time.UTC().Format(time.RFC3339)), text(string(e.Event)), text(e.Step), text(e.Result), text(journalOffsets(e.Offsets)), text(what))
	}
	if len(r.Entries) == 0 {
		t.line("the journal holds no such line")
	}
}

// journalTarget is what a line is about: a topic, or what else a plan changes and where.
func journalTarget(e journal.Entry) string {
	if e.Object == "" {
		return fmt.Sprintf("topic %s (id %s)", e.Topic, e.TopicID)
	}
	target := fmt.Sprintf("%s (id %s)", e.Object, e.ObjectID)
	if e.System != "" {
		target += " of " + e.System
	}
	return target
}

// journalOffsets sums up offsets where they are many.
func journalOffsets(o map[int32]int64) string {
	if len(o) == 0 {
		return ""
	}
	parts := make([]int32, 0, len(o))
	for p := range o {
		parts = append(parts, p)
	}
	slices.Sort(parts)
	const few, most = 2, 8
	if len(parts) > few {
		return fmt.Sprintf("%d partitions (%s)", len(parts), figures.Ranges(parts, most))
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString("  ")
		}
		fmt.Fprintf(&b, "%d:%s", p, figures.Group(o[p]))
	}
	return b.String()
}

// shortID is an id as people say it.
func shortID(id string) string {
	const digits = 8
	return id[:min(digits, len(id))]
}
