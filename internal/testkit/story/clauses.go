package story

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const killed = "the process is killed"

// circumstances are what a command is given, and what happens while it runs.
func circumstances() []phrase[*command] {
	return []phrase[*command]{
		on(`accepting (.+)`, func(c *command, m []string) error {
			c.accepts = append(c.accepts, strings.Fields(m[0])...)
			return nil
		}),
		on(`creating the control topic`, func(c *command, _ []string) error { c.creating = true; return nil }),
		on(`when (.+?): (.+)`, func(c *command, m []string) error {
			moment, known := moments()[m[0]]
			network := strings.HasSuffix(m[1], " until the end") || strings.HasSuffix(m[1], " is lost")
			switch {
			case !known:
				return fmt.Errorf("no moment is known as %q", m[0])
			case !network && !knows(c.events, m[1]):
				return errNoPhrase
			}
			c.isKilled = c.isKilled || m[1] == killed
			c.whens = append(c.whens, when{"when " + m[0], moment, m[1]})
			return nil
		}),
	}
}

// expectations are how a command has to end, and what is there afterwards.
func expectations() []phrase[*command] {
	return []phrase[*command]{
		on(`exit (\d+)`, func(c *command, m []string) error {
			if c.outcome.Killed || c.outcome.Exit != number(m[0]) {
				return fmt.Errorf("it is %d", c.outcome.Exit)
			}
			return nil
		}),
		on(`it is killed`, func(c *command, _ []string) error {
			if !c.outcome.Killed {
				return fmt.Errorf("it ended by itself, with %d", c.outcome.Exit)
			}
			return nil
		}),
		on(`verdict (\S+)`, func(c *command, m []string) error { return same(c.answer.Data.Verdict, m[0]) }),
		on(`verdict after the plan (\S+)`, func(c *command, m []string) error {
			if c.answer.Data.Later == nil {
				return errors.New("it says nothing of that")
			}
			return same(c.answer.Data.Later.Verdict, m[0])
		}),
		on(`stage (\S+)`, func(c *command, m []string) error { return same(c.answer.Data.Stage, m[0]) }),
		on(`reason (\S+)`, func(c *command, m []string) error { return same(c.problem().text("code"), m[0]) }),
		on(`naming (.+)`, (*command).naming),
		on(`says (.+)`, func(c *command, m []string) error {
			if text := strings.Join(strings.Fields(c.outcome.Out+c.outcome.Err), " "); !strings.Contains(text, m[0]) {
				return errors.New("it does not")
			}
			return nil
		}),
		on(`drift (\S+) (refused|allowed)`, func(c *command, m []string) error {
			for _, d := range c.answer.Data.Drift {
				if d.Field == m[0] {
					return same(map[bool]string{true: "allowed", false: "refused"}[d.Allowed], m[1])
				}
			}
			return fmt.Errorf("the drift is %+v", c.answer.Data.Drift)
		}),
		on(`no drift`, func(c *command, _ []string) error {
			if len(c.answer.Data.Drift) > 0 {
				return fmt.Errorf("the drift is %+v", c.answer.Data.Drift)
			}
			return nil
		}),
		on(`stays? (.+)`, func(c *command, m []string) error { return c.points(c.answer.Data.Survives, m[0]) }),
		on(`lost (.+)`, func(c *command, m []string) error { return c.points(c.answer.Data.Lost, m[0]) }),
		on(`warnings (.+)`, (*command).warnings),
		on(`control (.+)`, (*command).controlHolds),
		on(`log starts ([\d ]+)`, (*command).logStarts),
		on(`nothing is (written|deleted)`, (*command).nothing),
	}
}

func same(got, want string) error {
	if got != want {
		return fmt.Errorf("it is %q", got)
	}
	return nil
}

// problem is why the command was refused, or why the restore would be: the first
// reason of the real code's order.
func (c *command) problem() problem {
	switch d := c.answer.Data; {
	case d.Problem != nil:
		return *d.Problem
	case len(d.Reasons) > 0:
		return d.Reasons[0]
	case d.Later != nil && len(d.Later.Reasons) > 0:
		return d.Later.Reasons[0]
	default:
		return c.failure.Error.Problem
	}
}

// naming compares the numbers of a refusal, as in "partition=0 requested=5".
func (c *command) naming(m []string) error {
	want, err := settingsOf(m[0])
	if err != nil {
		return err
	}
	for name, value := range want {
		if got := c.problem().text(name); got != value {
			return fmt.Errorf("%s is %q", name, got)
		}
	}
	return nil
}

// points compares points, in any order; "nothing" is none.
func (c *command) points(got []struct{ URI string }, names string) error {
	found := make([]string, 0, len(got))
	for _, p := range got {
		found = append(found, path.Base(p.URI))
	}
	want := strings.Fields(names)
	if names == "nothing" {
		want = nil
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		return fmt.Errorf("it is %q", found)
	}
	return nil
}

func (c *command) warnings(m []string) error {
	found := slices.Clone(c.answer.Data.Warnings)
	if found == nil && c.answer.Data.Report != nil {
		for _, w := range c.answer.Data.Report.Warnings {
			found = append(found, w.Name)
		}
	}
	for i, name := range found {
		if uri, isPoint := strings.CutPrefix(name, "point-unknown:"); isPoint {
			found[i] = "point-unknown:" + path.Base(uri)
		}
	}
	want := strings.Fields(m[0])
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) && (m[0] != "nothing" || len(found) > 0) {
		return fmt.Errorf("they are %q", found)
	}
	return nil
}

// controlHolds compares what a reader of committed records finds on the control
// topic: its records in order, "nothing", or "is missing".
func (c *command) controlHolds(m []string) error {
	found, exists, err := c.readControl(c.Context())
	if err != nil {
		return err
	}
	got := strings.Join(found, ", ")
	switch {
	case !exists:
		got = "is missing"
	case len(found) == 0:
		got = "nothing"
	}
	return same(got, m[0])
}

func (c *command) logStarts(m []string) error {
	want, err := offsetsOf(m[0])
	if err != nil {
		return err
	}
	starts, err := c.Cluster.Admin().ListStartOffsets(c.Context(), c.data)
	if err != nil {
		return err
	}
	got := make([]int64, len(starts[c.data]))
	for p, o := range starts[c.data] {
		if o.Err != nil {
			return o.Err
		}
		got[p] = o.Offset
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("they are %v", got)
	}
	return nil
}

// nothing looks at what the program asked of the broker, not at what came of it.
func (c *command) nothing(m []string) error {
	keys := []kmsg.Key{kmsg.DeleteRecords}
	if m[0] == "written" {
		keys = append(keys, kmsg.Produce, kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.CreatePartitions, kmsg.IncrementalAlterConfigs, kmsg.AlterConfigs)
	}
	for _, r := range c.proxy.Requests()[c.before:] {
		if slices.Contains(keys, r.Key) && !isStory(r) {
			return fmt.Errorf("there is %s", r)
		}
	}
	return nil
}
