package calls

import (
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/views/scan"
)

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	none := func() string {
		if _, ok := s.selected(); !ok {
			return "no call is selected"
		}
		return ""
	}
	keys := []tui.Key{{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: func() tui.Cmd {
		row, _ := s.selected()
		s.moved = true
		return tui.Push(newOne(s, row))
	}}}
	if s.options.Find != nil {
		keys = append(keys, tui.Key{Keys: []string{"K"}, Help: "find key", Run: s.find})
	}
	turn := func(by int) func() tui.Cmd {
		return func() tui.Cmd {
			s.first = (s.first + by + len(s.points)) % len(s.points)
			s.lay()
			return nil
		}
	}
	allShown := func() string {
		if len(s.points) <= s.columns {
			return "all recovery points are shown"
		}
		return ""
	}
	keys = append(keys,
		tui.Key{Keys: []string{"tab"}, Help: "points", Disabled: allShown, Run: turn(1)},
		tui.Key{Keys: []string{"shift+tab"}, Help: "points back", Quiet: true, Disabled: allShown, Run: turn(-1)},
	)
	if k := s.recordsKey(s.selected); k.Run != nil {
		k.Disabled = none
		keys = append(keys, k)
	}
	keys = append(keys,
		tui.Key{Keys: []string{"s"}, Help: "summary", Run: func() tui.Cmd { return tui.Push(newSummary(s)) }},
		tui.CopyKey(func() (what, text string) {
			row, ok := s.selected()
			if !ok {
				return "the call", ""
			}
			return "the call", s.asText(row)
		}),
	)
	for _, k := range s.table.Keys() {
		run := k.Run
		k.Run = func() tui.Cmd {
			s.moved = true
			return run()
		}
		keys = append(keys, k)
	}
	return keys
}

// recordsKey shows the records around that of an action; without Run where there
// is no such screen.
func (s *Screen) recordsKey(row func() (scan.Row, bool)) tui.Key {
	k := tui.Key{Keys: []string{"b"}, Help: "records"}
	if s.options.Records != nil {
		k.Run = func() tui.Cmd {
			r, ok := row()
			if !ok {
				return nil
			}
			return tui.Push(s.options.Records(r.Action.Partition, r.Action.Offset))
		}
	}
	return k
}
