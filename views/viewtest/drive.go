package viewtest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// Sizes are those of golden frames, in cells.
var Sizes = []tui.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 60}}

// Case is a screen in one state: how it is made, what is pressed, and whether
// its reads have ended.
type Case struct {
	Screen func() tui.Screen
	Keys   []string
	Busy   bool
	Before func() // after the first reads and before the keys
}

// Goldens compares the frame of every case at every size with its golden file,
// testdata/<name>-<width>x<height>.golden, and looks at each on a terminal that
// is too small.
func Goldens(t *testing.T, cases map[string]Case) {
	for name, c := range cases {
		for _, size := range append(Sizes, tui.Size{Width: 59, Height: 15}) {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height), func(t *testing.T) {
				d := tuitest.NewBusy(t, Options(Plain()), c.Screen(), size.Width, size.Height)
				if !c.Busy {
					d.Settle()
				}
				if c.Before != nil {
					c.Before()
				}
				if size.Width < tui.MinWidth {
					if frame := d.Frame(); !strings.HasPrefix(frame, "needs 60×15") {
						t.Errorf("a terminal of %d×%d shows\n%s", size.Width, size.Height, frame)
					}
					return
				}
				d.Press(c.Keys...)
				d.Golden(fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height))
			})
		}
	}
}

// Hostile is text that takes over a terminal where it is written as it is.
const Hostile = "a\x1b[2J\x1b]52;c;aGk=\x07\r\n\u202egnp.exe\x9b31m\xff"

// HostileIncident is the situation with Hostile in every name and error.
func HostileIncident() (*Source, inspect.Job) {
	job := Job()
	job.Name, job.Topic, job.Runtime = Hostile, Hostile, inspect.Release(Hostile)
	control := Hostile
	job.ControlTopic = &control
	place := "s3://" + Hostile
	job.RecoveryPoints = []string{place}
	log := Log()
	log.Data.Name, log.Data.TopicID = Hostile, Hostile
	log.Data.Partitions[5].Err = fault.New(fault.Unreachable, "list offsets", "%s", Hostile)
	log.Control.Name = Hostile
	point := Point("chk-44", 44, 0, Boundary())
	point.URI = place + "/chk-" + Hostile
	text := Hostile
	for i := range point.Markers {
		point.Markers[i].Topic, point.Markers[i].TopicID = &text, &text
	}
	point.Operators[0].Name, point.Operators[0].States[0].Name = Hostile, Hostile
	point.Files.Missing = []string{place + "/x"}
	point.Checks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: Hostile, Hint: Hostile}}
	s := &Source{}
	s.Add(job.Name, Shelf{
		Places: map[string][]inspect.RecoveryPoint{place: {point}},
		Fails:  map[string]error{place: fault.New(fault.Denied, "list", "%s", Hostile).WithHint("%s", Hostile).WithRef(Hostile)},
	}, log)
	return s, job
}

// Harmless fails the test where a frame would let Hostile act.
func Harmless(t *testing.T, d *tuitest.Driver) {
	t.Helper()
	frame := d.Styled()
	for _, r := range frame {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == utf8.RuneError) {
			t.Errorf("the frame holds %U:\n%s", r, d.Frame())
			return
		}
	}
}

// ASCII fails the test where a frame of the ASCII theme holds anything else.
func ASCII(t *testing.T, d *tuitest.Driver) {
	t.Helper()
	for _, line := range strings.Split(d.Frame(), "\n") {
		for _, r := range line {
			if r > '~' {
				t.Errorf("%q in %q", r, line)
			}
		}
	}
}

// ASCIITheme writes signs in ASCII and no escape sequences.
func ASCIITheme() theme.Theme { return theme.New(theme.Options{Palette: theme.NoStyle, ASCII: true}) }
