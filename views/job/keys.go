package job

import (
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/calls"
	"github.com/recoverctl/recoverctl/views/compare"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/findings"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/live"
	"github.com/recoverctl/recoverctl/views/operations"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/point"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/restorecheck"
	"github.com/recoverctl/recoverctl/views/rollback"
)

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	point := s.selected()
	noPoint := func() string {
		if point == nil {
			return "no recovery point is selected"
		}
		return ""
	}
	noPartition := func() string {
		if len(s.reader.Reading.Overview.Partitions) == 0 {
			return "no " + s.options.Job.Store.Part() + " is known"
		}
		return ""
	}
	noChoice := func() string {
		if s.onParts() {
			return "a recovery point is chosen in the list: tab goes there"
		}
		return noPoint()
	}
	selected := ""
	if point != nil {
		selected = point.URI
	}
	pair, notTwo := s.chosen.Pair(s.uris(), selected)
	panes := s.panes.Keys()
	panes[0].Help = s.options.Job.Store.Part() + "s"
	panes[0].Quiet = true // the line under the bars names it
	table := s.points
	if s.onParts() {
		panes[0].Help, panes[0].Quiet = "points", false
		table = s.partitions
	}
	for i := range panes {
		panes[i].Disabled = noPartition
	}
	o := s.options
	o.Reading = s.reader.Reading
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: noPoint, Run: func() tui.Cmd { return tui.Push(o.point(point.URI)) }},
		{Keys: []string{"v"}, Help: "why", Disabled: noPoint, Run: s.why},
	}
	if o.Reading.Scans != nil {
		keys = append(keys, tui.Key{Keys: []string{"c"}, Help: "calls", Disabled: s.noCalls, Run: func() tui.Cmd { return tui.Push(o.calls(s.chosen.Of(s.uris()))) }})
	}
	if o.Records != nil {
		keys = append(keys, tui.Key{Keys: []string{"b"}, Help: "records", Run: func() tui.Cmd { return tui.Push(s.records()) }})
	}
	keys = append(keys, tui.Key{Keys: []string{"f"}, Help: "findings", Run: func() tui.Cmd { return tui.Push(o.findings()) }})
	keys = append(keys, panes...)
	if o.cleanups() {
		keys = append(keys, tui.Key{Keys: []string{"o"}, Help: "operations", Run: func() tui.Cmd { return tui.Push(o.operations()) }})
	}
	keys = append(keys, []tui.Key{
		{Keys: []string{"l"}, Help: "live", Run: func() tui.Cmd { return tui.Push(o.live()) }},
		{Keys: []string{"space"}, Help: s.chosen.Help(selected), Disabled: noChoice, Run: func() tui.Cmd { return s.chosen.Toggle(selected) }},
		{Keys: []string{"="}, Help: "compare", Disabled: func() string { return notTwo }, Run: func() tui.Cmd { return s.compare(pair[0], pair[1]) }},
	}...)
	if o.Plans != nil && o.cleanups() {
		keys = append(keys, tui.Key{Keys: []string{"p"}, Help: "plan", Disabled: noPoint, Run: func() tui.Cmd { return tui.Push(o.plan(point.URI)) }})
	}
	keys = append(keys, tui.CopyKey(func() (what, text string) {
		if point == nil {
			return "the recovery point's URI", ""
		}
		return "the recovery point's URI", phrase.Copied(point.URI)
	}))
	return append(keys, table.Keys()...)
}

// records are those of the selected partition, from the marker of the selected
// recovery point on.
func (s *Screen) records() tui.Screen {
	o := s.options
	o.Reading = s.reader.Reading
	part, offset := int32(0), int64(-1)
	if at, ok := s.partitions.Cursor(); ok && at < len(s.order) {
		part = s.order[at].Partition
	}
	if point := s.selected(); point != nil {
		if marker, ok := point.Offsets[part]; ok {
			offset = marker
		}
	}
	return o.records(part, offset)
}

// noCalls is why there are no calls to look at.
func (s *Screen) noCalls() string {
	if !s.reader.Reading.Known() {
		return "the job is being read"
	}
	return ""
}

// uris are those of the recovery points, in the order of the list.
func (s *Screen) uris() []string {
	points := s.reader.Reading.Overview.Points
	uris := make([]string, 0, len(points))
	for _, p := range points {
		uris = append(uris, p.URI)
	}
	return uris
}

// Commands implements tui.Commander: the others are keys here.
func (s *Screen) Commands() []tui.Command {
	o := s.options
	o.Reading = s.reader.Reading
	uri := ""
	if point := s.selected(); point != nil {
		uri = point.URI
	}
	return append(append(append(o.settingsCommand(), o.rollbackCommand(uri)...), o.guideCommand(uri)...), o.pointCommand())
}

func (s *Screen) why() tui.Cmd {
	o := s.options
	o.Reading = s.reader.Reading
	return tui.Push(restorecheck.New(restorecheck.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Source: o.Source,
		Reading: o.Reading, Point: s.selected().URI, Commands: Commands(o),
	}))
}

func (s *Screen) compare(left, right string) tui.Cmd {
	o := s.options
	o.Reading = s.reader.Reading
	return tui.Push(compare.New(compare.Options{
		Theme: o.Theme, Source: o.Source, Reading: o.Reading, Left: left, Right: right, Commands: Commands(o),
	}))
}

// Commands are what the palette offers about a job, on each screen that is about
// it: findings, operations, live state, and any recovery point by its URI.
func Commands(o Options) []tui.Command {
	push := func(screen func() tui.Screen) func(string) tui.Cmd {
		return func(string) tui.Cmd { return tui.Push(screen()) }
	}
	of := " of " + phrase.Job(o.Job)
	var calls []tui.Command
	if o.Reading.Scans != nil {
		calls = []tui.Command{{Name: "calls", Help: "durable calls at risk" + of, Run: push(func() tui.Screen { return o.calls(nil) })}}
	}
	if o.Records != nil {
		calls = append(calls, tui.Command{Name: "records", Help: "the records of the " + o.Job.Store.Log() + of, Run: push(func() tui.Screen { return o.records(0, -1) })})
	}
	own := append(calls, tui.Command{Name: "findings", Help: "what is wrong" + of, Run: push(o.findings)})
	if o.cleanups() {
		own = append(own, tui.Command{Name: "operations", Help: "cleanups and boundary" + of, Run: push(o.operations)})
	}
	own = append(own, tui.Command{Name: "live", Help: "running state and checkpoints" + of, Run: push(o.live)}, o.pointCommand())
	return append(own, append(append(o.settingsCommand(), o.rollbackCommand("")...), o.guideCommand("")...)...)
}

// cleanups reports whether the job's action state can be cleaned up.
func (o Options) cleanups() bool { return o.Job.HasCleanups("") == nil }

// calls are the durable calls with what restores from these points would do, or
// from those that are accepted.
func (o Options) calls(points []string) tui.Screen {
	at := o.records
	if o.Records == nil {
		at = nil
	}
	return calls.New(calls.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Scans: o.Reading.Scans, Reading: o.Reading, Points: points, Find: o.FindKey, Records: at, Commands: Commands(o),
	})
}

// records are those of a partition around an offset; -1 is the log end.
func (o Options) records(partition int32, offset int64) tui.Screen {
	return records.New(records.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Open: o.Records, Reading: o.Reading, Partition: partition, Offset: offset,
		Dictionary: o.keysFound(), Commands: Commands(o),
	})
}

// keysFound are the texts of keys that the newest scan found out.
func (o Options) keysFound() inspect.KeyDictionary {
	found := o.Reading.Scans.Of(o.Job, o.Reading.Overview.TopicID)
	if found == nil {
		return nil
	}
	return found.State().Keys()
}

// settingsCommand opens the plan of the settings that the job's topic needs.
func (o Options) settingsCommand() []tui.Command {
	if o.Settings == nil || !o.cleanups() {
		return nil
	}
	return []tui.Command{{
		Name: plan.SettingsCommand, Help: "plan the settings that the topic needs before a cleanup",
		Run: func(string) tui.Cmd {
			return tui.Push(document.New(document.Options{Theme: o.Theme, Job: o.Job, Source: o.Settings, Commands: Commands(o), Words: document.Settings(o.Job.Topic)}))
		},
	}}
}

// rollbackCommand opens the plan that rolls the job back to a recovery point: the
// one that is named, else the one that is looked at.
func (o Options) rollbackCommand(looked string) []tui.Command {
	if o.Rollbacks == nil {
		return nil
	}
	return []tui.Command{{
		Name: "rollback", Args: "URI", Help: "plan to start the job again from a recovery point",
		Run: func(uri string) tui.Cmd {
			switch why := o.noRollback(); {
			case why != "":
				return tui.Say(theme.Warning, why)
			case uri == "" && looked == "":
				return tui.Say(theme.Warning, "rollback needs the recovery point's URI")
			case uri == "":
				uri = looked
			}
			return tui.Push(o.rollback(uri))
		},
	}}
}

// noRollback is why the job can't be rolled back from here; "" where it can.
func (o Options) noRollback() string {
	if o.Job.Flink.REST == "" {
		return "no JobManager is configured for this job: recoverctl plan rollback --point URI --handoff prints the commands"
	}
	return ""
}

// rollback is the screen of the plan that rolls the job back to a point.
func (o Options) rollback(uri string) tui.Screen {
	return rollback.New(rollback.Options{Theme: o.Theme, Job: o.Job, Source: o.Rollbacks, Point: uri, Commands: Commands(o)})
}

// rolling is what a recovery point's screen needs to roll back to it.
func (o Options) rolling() point.Rollback {
	if o.Rollbacks == nil {
		return point.Rollback{}
	}
	return point.Rollback{Open: o.rollback, Disabled: o.noRollback}
}

// guideCommand opens a guided procedure, for the point that is looked at.
func (o Options) guideCommand(point string) []tui.Command {
	if o.Guides == nil || !o.cleanups() { // procedures about cleanups are all that there are
		return nil
	}
	names := actions.GuideNames()
	return []tui.Command{{
		Name: "guide", Args: "NAME", Choices: names, Help: "a procedure, step by step: " + strings.Join(names, ", "),
		Run: func(name string) tui.Cmd {
			if !slices.Contains(names, name) {
				return tui.Say(theme.Warning, "procedures: "+strings.Join(names, ", "))
			}
			return tui.Push(guide.New(guide.Options{Theme: o.Theme, Now: o.Now, Job: o.Job, Source: o.Guides, Name: name, Point: point, Commands: Commands(o)}))
		},
	}}
}

func (o Options) pointCommand() tui.Command {
	return tui.Command{
		Name: "point", Args: "URI", Help: "open a recovery point, also one elsewhere",
		Run: func(uri string) tui.Cmd {
			if uri == "" {
				return tui.Say(theme.Warning, "point needs the recovery point's URI")
			}
			return tui.Push(o.point(uri))
		},
	}
}

func (o Options) point(uri string) tui.Screen {
	return point.New(point.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Source: o.Source, Reading: o.Reading, Point: uri, Rollback: o.rolling(), Commands: Commands(o),
	})
}

// plan is the screen of the cleanup plan that keeps a point as the oldest one.
func (o Options) plan(uri string) tui.Screen {
	return plan.New(plan.Options{Theme: o.Theme, Job: o.Job, Source: o.Plans, Point: uri, Commands: Commands(o)})
}

func (o Options) findings() tui.Screen {
	return findings.New(findings.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Source: o.Source, Reading: o.Reading, Commands: Commands(o),
	})
}

func (o Options) operations() tui.Screen {
	return operations.New(operations.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Source: o.Source, Reading: o.Reading, Plans: o.Plans, Commands: Commands(o),
	})
}

func (o Options) live() tui.Screen {
	return live.New(live.Options{
		Theme: o.Theme, Now: o.Now, Job: o.Job, Source: o.Source, Reading: o.Reading, Every: o.LiveEvery, Rollback: o.rolling(), Commands: Commands(o),
	})
}
