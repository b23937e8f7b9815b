package dialog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const phrase = "orders/action-state 3f9c21aa"

// finish is the dialog of a cleanup that stopped half-way.
func finish() dialog.Confirm {
	return dialog.Confirm{
		Title:   "Finish cleanup 3f9c21aa",
		Subject: "orders / action-state", Environment: "production", Production: true,
		Lines: []string{
			"Deletes an offset span of 80 on partitions 0 and 1.",
			"savepoint-4f3c-a1 can never be restored again.",
			"Kafka deletes by topic name: identity is checked before and after, not during.",
		},
		Reason: true, Phrase: phrase, Action: "Apply",
	}
}

// plan is the screen under the dialogs. A opens the dialog of its test, and so
// does enter.
type plan struct {
	ask     func() tui.Cmd
	yes     []dialog.Consent
	no      int
	answers []string
}

func (p *plan) Init() tui.Cmd          { return nil }
func (p *plan) Update(tui.Msg) tui.Cmd { return nil }
func (p *plan) View(size tui.Size) string {
	return strings.TrimSuffix(strings.Repeat(" step of the plan below\n", size.Height), "\n")
}
func (p *plan) Crumb() string      { return "cleanup plan 3f9c21aa" }
func (p *plan) Status() tui.Status { return tui.Status{Timeless: true} }
func (p *plan) Keys() []tui.Key {
	open := func() tui.Cmd { return p.ask() }
	return []tui.Key{
		{Keys: []string{"A"}, Help: "apply…", Dangerous: true, Run: open},
		{Keys: []string{"enter"}, Help: "open", Run: open},
		{Keys: []string{"space"}, Help: "choose", Run: open},
		{Keys: []string{"y"}, Help: "copy", Run: func() tui.Cmd { return tui.Copy("the plan", "plan") }},
	}
}

func (p *plan) confirms(c dialog.Confirm) *plan {
	c.Declined = func() tui.Cmd {
		p.no++
		return nil
	}
	p.ask = func() tui.Cmd {
		return c.Open(func(consent dialog.Consent) tui.Cmd {
			p.yes = append(p.yes, consent)
			return tui.Say(theme.OK, "applied")
		})
	}
	return p
}

func says(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	lines := strings.Split(d.Frame(), "\n")
	got := strings.Join(strings.Fields(strings.Join(lines[len(lines)-3:len(lines)-1], " ")), " ")
	if !strings.Contains(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func isOpen(d *tuitest.Driver) bool { return strings.Contains(d.Frame(), "┌ ") }

// fill does all that is asked for, and leaves the focus on the button.
func fill(d *tuitest.Driver) {
	d.Press("tab")
	d.Type("disk pressure INC-2231")
	d.Press("tab")
	d.Type(phrase)
	d.Press("tab")
}

func TestTheOnlyPlaceWhereYesIsSaid(t *testing.T) {
	for _, size := range []tui.Size{{Width: 60, Height: 15}, {Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			p := new(plan).confirms(finish())
			d := tuitest.New(t, tuitest.Plain(), p, size.Width, size.Height)
			d.Press("A")
			d.Golden(fmt.Sprintf("confirm-%dx%d", size.Width, size.Height))
			fill(d)
			d.Golden(fmt.Sprintf("confirm-filled-%dx%d", size.Width, size.Height))
			d.Press("enter")
			if len(p.yes) != 1 || p.no != 0 {
				t.Fatalf("yes %d times, no %d times:\n%s", len(p.yes), p.no, d.Frame())
			}
			c := p.yes[0]
			if !c.Given() || c.Reason() != "disk pressure INC-2231" || c.Subject() != "orders / action-state" || c.Action() != "Apply" {
				t.Errorf("consent %+v", c)
			}
			if isOpen(d) {
				t.Errorf("it is still open:\n%s", d.Frame())
			}
			says(t, d, "✔ applied")
		})
	}
	if new(dialog.Consent).Given() {
		t.Error("the zero consent was given")
	}
}

func TestASCIIForm(t *testing.T) {
	opts := tui.Options{Theme: theme.New(theme.Options{Palette: theme.NoStyle, ASCII: true})}
	d := tuitest.New(t, opts, new(plan).confirms(finish()), 60, 15)
	d.Press("A")
	fill(d)
	frame := d.Frame()
	if strings.ContainsFunc(frame, func(r rune) bool { return r > 0x7e && r != '…' }) {
		t.Errorf("not ASCII:\n%s", frame)
	}
}

func TestWhatIsMissingIsSaidAndNothingIsDone(t *testing.T) {
	long := finish()
	for i := range 30 {
		long.Lines = append(long.Lines, fmt.Sprintf("savepoint-%02d can never be restored again.", i))
	}
	tests := map[string]struct {
		ask  dialog.Confirm
		do   func(*tuitest.Driver)
		says string
	}{
		"nothing was filled in": {finish(), func(d *tuitest.Driver) { d.Press("shift+tab", "enter") },
			"a reason is required: tab goes to it"},
		"a reason of spaces": {finish(), func(d *tuitest.Driver) {
			d.Press("tab")
			d.Type("   ")
			d.Press("tab")
			d.Type(phrase)
			d.Press("tab", "enter")
		}, "a reason is required"},
		"no phrase": {finish(), func(d *tuitest.Driver) {
			d.Press("tab")
			d.Type("disk")
			d.Press("tab", "tab", "enter")
		}, "type the phrase: " + phrase},
		"another phrase": {finish(), func(d *tuitest.Driver) {
			d.Press("tab")
			d.Type("disk")
			d.Press("tab")
			d.Type(strings.ToUpper(phrase))
			d.Press("tab", "enter")
		}, "what was typed is not the phrase: " + phrase},
		"the beginning of the phrase": {finish(), func(d *tuitest.Driver) {
			fill(d)
			d.Press("shift+tab", "backspace", "tab", "enter")
		}, "what was typed is not the phrase"},
		"lines that were not on the screen": {long, func(d *tuitest.Driver) {
			fill(d)
			d.Press("enter")
		}, "lines have not been on the screen: down"},
		"all lines but the last": {long, func(d *tuitest.Driver) {
			fill(d)
			for !strings.Contains(d.Frame(), "… 1 more line: down") {
				d.Press("down")
			}
			d.Press("enter")
		}, "one line has not been on the screen: down"},
		"lines that rushed past": {long, func(d *tuitest.Driver) {
			fill(d)
			for range 20 {
				d.Together("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
				d.Together("pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup")
			}
			d.Press("enter")
		}, "lines have not been on the screen: down"},
		"lines that were on a screen of another width": {long, func(d *tuitest.Driver) {
			fill(d)
			d.Press("pgdown", "pgdown")
			d.Resize(70, 15)
			d.Press("enter")
		}, "lines have not been on the screen: down"},
		"a button taken for a field": {finish(), func(d *tuitest.Driver) { d.Press("d") },
			"nothing was typed: tab goes to the field"},
		"enter in the last field": {finish(), func(d *tuitest.Driver) {
			fill(d)
			d.Press("shift+tab", "enter", "enter", "enter")
		}, "enter confirms on the button only: tab goes there"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := new(plan).confirms(tt.ask)
			d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
			d.Press("A")
			tt.do(d)
			says(t, d, tt.says)
			if len(p.yes) != 0 || p.no != 0 || !isOpen(d) {
				t.Errorf("yes %d times, no %d times:\n%s", len(p.yes), p.no, d.Frame())
			}
		})
	}
}

func TestALongTextCanBeConfirmedOnceItWasSeen(t *testing.T) {
	ask := finish()
	for i := range 30 {
		ask.Lines = append(ask.Lines, fmt.Sprintf("savepoint-%02d can never be restored again.", i))
	}
	p := new(plan).confirms(ask)
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A")
	fill(d)
	d.Golden("confirm-long-60x15")
	for range 15 {
		d.Press("pgdown")
	}
	d.Resize(61, 15) // what was seen whole stays seen
	d.Press("enter")
	if len(p.yes) != 1 {
		t.Errorf("it does not confirm:\n%s", d.Frame())
	}
}

// A topic's name may have 249 characters: the phrase must be readable all the
// same, and the buttons be there.
func TestALongPhraseIsShownWhole(t *testing.T) {
	ask := finish()
	ask.Phrase = "orders/" + strings.Repeat("action-state-", 19) + "v2 3f9c21aa"
	p := new(plan).confirms(ask)
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A")
	var read strings.Builder
	for range 12 {
		for line := range strings.Lines(d.Frame()) {
			if text, ok := strings.CutPrefix(line, "│ "); ok {
				read.WriteString(strings.TrimRight(text, " │\n") + "\n")
			}
		}
		if !strings.Contains(d.Frame(), "Cancel") {
			t.Fatalf("the buttons are gone:\n%s", d.Frame())
		}
		d.Press("down")
	}
	if got := strings.Join(strings.Fields(read.String()), ""); !strings.Contains(got, "v23f9c21aa") {
		t.Errorf("the end of the phrase was not shown:\n%s", d.Frame())
	}
	d.Press("tab")
	d.Type("disk")
	d.Press("tab")
	d.Type(ask.Phrase)
	d.Press("tab", "enter")
	if len(p.yes) != 1 {
		t.Errorf("it does not confirm:\n%s", d.Frame())
	}
}

func TestThePhraseIsTypedLetterByLetter(t *testing.T) {
	tests := map[string]struct {
		do   func(*tuitest.Driver)
		says string
	}{
		"pasted": {func(d *tuitest.Driver) { d.Paste(phrase) },
			"a paste is not taken, and the field was emptied: type the phrase letter by letter"},
		"pasted without brackets": {func(d *tuitest.Driver) { d.Burst(phrase) },
			"letters that arrive together over a slow line count as a paste"},
		"in pieces, each in its own message": {func(d *tuitest.Driver) { d.Together(strings.Split(strings.ReplaceAll(phrase, " ", ""), "")...) },
			"letters that arrive together over a slow line count as a paste"},
		"the last two letters together": {func(d *tuitest.Driver) {
			d.Type(phrase[:len(phrase)-2])
			d.Burst(phrase[len(phrase)-2:])
		}, "the field was emptied: letters that arrive together"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := new(plan).confirms(finish())
			d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
			d.Press("A", "tab")
			d.Paste("disk pressure INC-2231") // a reason may be pasted
			d.Press("tab")
			tt.do(d)
			says(t, d, tt.says)
			d.Press("tab", "enter")
			if len(p.yes) != 0 {
				t.Fatal("it confirmed")
			}
			d.Press("shift+tab")
			d.Type(phrase)
			d.Press("tab", "enter")
			if len(p.yes) != 1 || p.yes[0].Reason() != "disk pressure INC-2231" {
				t.Errorf("then typed, it does not confirm:\n%s", d.Frame())
			}
		})
	}
}

func TestTheReasonIsOneLineOfLimitedLength(t *testing.T) {
	p := new(plan).confirms(finish())
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	d.Press("A", "tab")
	d.Paste("one\ntwo")
	says(t, d, "the reason takes one line: control characters and invisible ones are not taken")
	d.Paste(strings.Repeat("x", dialog.MaxReason+1))
	says(t, d, "the reason takes at most 200 characters: nothing of this was added")
	d.Paste(strings.Repeat("x", dialog.MaxReason))
	d.Press("tab")
	d.Type(phrase)
	d.Press("tab", "enter")
	if len(p.yes) != 1 || len(p.yes[0].Reason()) != dialog.MaxReason {
		t.Error("the longest reason was not taken whole")
	}
}

// Who types a text at once loses no letter of it; the key that opened the dialog,
// held down, types nothing.
func TestTextTakesLettersAtOnce(t *testing.T) {
	p := new(plan)
	p.ask = func() tui.Cmd {
		return dialog.Text{Title: "Arguments", Label: "Arguments"}.Open(func(text string) tui.Cmd {
			p.answers = append(p.answers, text)
			return nil
		})
	}
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A")
	for _, letter := range "AA--A fAst" {
		d.Wait(25 * time.Millisecond)
		d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{letter}})
	}
	d.Wait(25 * time.Millisecond)
	d.Send(tea.KeyMsg{Type: tea.KeyEnter})
	if len(p.answers) != 0 {
		t.Fatalf("enter was taken at once: %q", p.answers)
	}
	d.Press("enter")
	if got := strings.Join(p.answers, ","); got != "--A fAst" {
		t.Errorf("answers %q", got)
	}
}

// short is a dialog that only the guards of its buttons protect.
func short() dialog.Confirm {
	return dialog.Confirm{Title: "Trigger savepoint", Subject: "order-agent", Lines: []string{"It takes a while."}, Action: "Trigger"}
}

func TestButtonsTakeOnlyKeysThatWereMeant(t *testing.T) {
	tests := map[string]struct {
		do   func(*tuitest.Driver)
		says string
	}{
		"typed ahead": {func(d *tuitest.Driver) { d.Together("A", "tab", "enter") }, ""},
		"within the quiet time": {func(d *tuitest.Driver) {
			d.Press("A")
			for range 6 {
				d.Wait(30 * time.Millisecond)
				d.Send(tea.KeyMsg{Type: tea.KeyTab})
				d.Wait(30 * time.Millisecond)
				d.Send(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
				d.Wait(5 * time.Millisecond)
				d.Send(tea.KeyMsg{Type: tea.KeyEnter})
			}
		}, ""},
		"tab and enter together": {func(d *tuitest.Driver) {
			d.Press("A")
			d.Together("tab", "enter")
		}, "keys that arrive together press no button"},
		"opened by enter": {func(d *tuitest.Driver) { d.Press("enter", "tab", "enter", "enter") },
			"enter opened this dialog and never confirms it: space does"},
		"opened by space": {func(d *tuitest.Driver) { d.Press("space", "tab", "space") },
			"space opened this dialog and never confirms it: enter does"},
		"the key that opened it, held down": {func(d *tuitest.Driver) { d.Hold("enter", 100) }, "let it go"},
		"opened from the palette by enter": {func(d *tuitest.Driver) {
			d.Press(":")
			d.Type("apply")
			d.Press("enter", "tab", "enter")
		}, "enter opened this dialog and never confirms it: space does"},
		"pasted": {func(d *tuitest.Driver) {
			d.Press("A", "tab")
			d.Paste(" \r")
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := new(plan).confirms(short())
			d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
			tt.do(d)
			says(t, d, tt.says)
			if len(p.yes) != 0 || p.no != 0 || !isOpen(d) {
				t.Errorf("yes %d times, no %d times:\n%s", len(p.yes), p.no, d.Frame())
			}
		})
	}
	t.Run("but one that was meant", func(t *testing.T) {
		for opener, confirms := range map[string]string{"A": "enter", "enter": "space", "space": "enter"} {
			p := new(plan).confirms(short())
			d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
			d.Press(opener, "tab", confirms)
			if len(p.yes) != 1 {
				t.Errorf("opened by %s, %s does not confirm", opener, confirms)
			}
		}
	})
}

func TestItIsAlwaysPossibleToSayNo(t *testing.T) {
	for name, keys := range map[string][]string{
		"esc": {"esc"}, "ctrl-c": {"ctrl+c"}, "the button": {"enter"}, "back to the button": {"tab", "left", "shift+tab", "tab", "shift+tab", "shift+tab", "enter"},
	} {
		p := new(plan).confirms(finish())
		d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
		d.Press("A")
		d.Press(keys...)
		if name == "back to the button" {
			continue // the focus went round through the fields: nothing to expect but no yes
		}
		if p.no != 1 || isOpen(d) || d.Exited() {
			t.Errorf("%s: no %d times, exited %v:\n%s", name, p.no, d.Exited(), d.Frame())
		}
	}
	p := new(plan).confirms(finish())
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	d.Press("A")
	d.Resize(40, 10)
	d.Press("ctrl+c")
	d.Resize(80, 24)
	if p.no != 1 || isOpen(d) || d.Exited() {
		t.Error("ctrl-c does not cancel where the dialog can't be seen")
	}
}

func TestNothingIsConfirmedUnseen(t *testing.T) {
	p := new(plan).confirms(short())
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	d.Press("A", "tab")
	for _, size := range []tui.Size{{Width: 59, Height: 24}, {Width: 80, Height: 14}} {
		d.Resize(size.Width, size.Height)
		d.Press("enter", "space", "esc")
	}
	d.Wait(time.Second)
	d.Resize(80, 24)
	d.Send(tea.KeyMsg{Type: tea.KeyEnter}) // it was just shown again
	if len(p.yes) != 0 || p.no != 0 || !isOpen(d) {
		t.Fatalf("a key worked unseen:\n%s", d.Frame())
	}
	d.Press("enter")
	if len(p.yes) != 1 {
		t.Errorf("seen again, it does not confirm:\n%s", d.Frame())
	}
	q := new(plan).confirms(short())
	d = tuitest.New(t, tuitest.Plain(), q, 80, 24)
	d.Press("A", "tab", "ctrl+z")
	d.Send(tea.KeyMsg{Type: tea.KeyEnter})
	if len(q.yes) != 0 {
		t.Error("a key that was typed to the shell of the system confirmed")
	}
}

func TestNothingIsConfirmedAfterTheArmingEnded(t *testing.T) {
	opts := tuitest.Plain()
	opts.Arming, opts.Level = new(access.Arming), access.Operate
	p := new(plan).confirms(short())
	d := tuitest.New(t, opts, p, 80, 24)
	d.Press("A")
	says(t, d, "A apply… is off: the console is read-only until :operate arms it for 30 minutes")
	d.Press(":")
	d.Type("operate")
	d.Press("enter", "A", "tab")
	d.Advance(31 * time.Minute)
	d.Press("enter")
	says(t, d, "nothing was done: the console is read-only")
	if len(p.yes) != 0 {
		t.Error("it confirmed")
	}
}

func TestNothingIsCopiedInADialog(t *testing.T) {
	p := new(plan).confirms(finish())
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	d.Press("A", "y", "tab", "y")
	if got := d.Clipboard(); got != "" {
		t.Errorf("it copied %q", got)
	}
	d.Press("esc", "y")
	if got := d.Clipboard(); got == "" {
		t.Error("after the dialog nothing is copied either")
	}
}

// Keys of any kind, at any pace, at any size, never say yes to a phrase that
// nobody typed, and none says yes in a hurry.
func TestRandomKeysNeverConfirm(t *testing.T) {
	keys := []string{"enter", "space", "tab", "shift+tab", "left", "right", "up", "down", "pgdown", "pgup",
		"backspace", "home", "end", "ctrl+u", "ctrl+w", "delete", "A", "y", "r", "o", "3", "/", ":", "q", "?", "-", "ctrl+z", "f1"}
	t.Run("a phrase", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			p := new(plan).confirms(finish())
			d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
			d.Press("A")
			for range rapid.IntRange(1, 150).Draw(r, "keys") {
				switch rapid.IntRange(0, 9).Draw(r, "what") {
				case 0:
					d.Paste(rapid.SampledFrom([]string{phrase, phrase + "\r", "disk", "\t\r"}).Draw(r, "paste"))
				case 1:
					d.Burst(rapid.SampledFrom([]string{phrase, "orders/action-state", "3f9c21aa"}).Draw(r, "burst"))
				case 2:
					d.Resize(rapid.IntRange(50, 90).Draw(r, "width"), rapid.IntRange(12, 30).Draw(r, "height"))
				case 3:
					d.Wait(rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, 5 * time.Second}).Draw(r, "pause"))
				case 4:
					d.Together(rapid.SliceOfN(rapid.SampledFrom(keys), 1, 5).Draw(r, "together")...)
				default:
					d.Press(rapid.SampledFrom(keys).Draw(r, "key"))
				}
				if d.Exited() {
					return // it was cancelled, and q left the console
				}
				if len(p.yes) != 0 {
					r.Fatalf("it confirmed:\n%s", d.Frame())
				}
			}
		})
	})
	t.Run("no phrase, but no pause either", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			p := new(plan).confirms(short())
			d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
			d.Press("A")
			for range rapid.IntRange(1, 200).Draw(r, "keys") {
				d.Wait(time.Duration(rapid.IntRange(0, 9).Draw(r, "ms")) * time.Millisecond)
				d.Send(tuitest.Key(t, rapid.SampledFrom(keys[:10]).Draw(r, "key")))
				if len(p.yes) != 0 {
					r.Fatalf("it confirmed:\n%s", d.Frame())
				}
			}
		})
	})
}

func TestAsk(t *testing.T) {
	ask := func(p *plan) {
		p.ask = func() tui.Cmd {
			return dialog.Ask{
				Title: "An apply is running", Lines: []string{"Partition 0 is trimmed, partition 1 is not."},
				Choices: []dialog.Choice{
					{Label: "keep watching"},
					{Label: "stop at the next safe point", Help: "the boundary stays in force, the same plan finishes it"},
				},
				Declined: func() tui.Cmd {
					p.no++
					return nil
				},
			}.Open(func(i int) tui.Cmd {
				p.answers = append(p.answers, fmt.Sprint(i))
				return nil
			})
		}
	}
	tests := map[string]struct {
		keys []string
		want string
	}{
		"the first":                {[]string{"A", "enter"}, "0"},
		"the second":               {[]string{"A", "j", "enter"}, "1"},
		"not beyond the last":      {[]string{"A", "down", "down", "down", "space"}, "1"},
		"the key that opened it":   {[]string{"enter", "j", "enter"}, ""},
		"another than that":        {[]string{"enter", "j", "space"}, "1"},
		"esc":                      {[]string{"A", "j", "esc"}, ""},
		"letters without meanings": {[]string{"A", "x", "y", "q"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := new(plan)
			ask(p)
			d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
			d.Press(tt.keys...)
			if got := strings.Join(p.answers, ","); got != tt.want {
				t.Errorf("answers %q, want %q:\n%s", got, tt.want, d.Frame())
			}
			if name == "esc" && p.no != 1 {
				t.Error("declining is not told")
			}
		})
	}
	p := new(plan)
	ask(p)
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A", "j")
	d.Golden("ask-60x15")
	d.Together("j", "enter")
	says(t, d, "keys that arrive together press no button")
	if len(p.answers) != 0 {
		t.Error("a burst chose")
	}
}

func TestText(t *testing.T) {
	p := new(plan)
	p.ask = func() tui.Cmd {
		return dialog.Text{
			Title: "Write the plan", Lines: []string{"It refuses to overwrite."}, Label: "File", Value: "plan-3f9c21aa.json",
			Check: func(text string) string {
				if text == "" {
					return "a file needs a name"
				}
				return ""
			},
		}.Open(func(text string) tui.Cmd {
			p.answers = append(p.answers, text)
			return nil
		})
	}
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A")
	d.Golden("text-60x15")
	d.Press("ctrl+u", "enter")
	says(t, d, "a file needs a name")
	d.Paste("a\tb")
	says(t, d, "control characters and invisible ones are not taken")
	d.Paste(" p.json ")
	d.Together("2", "enter")
	says(t, d, "keys that arrive together press no button")
	d.Press("enter")
	if got := strings.Join(p.answers, ","); got != "p.json 2" {
		t.Errorf("answers %q", got)
	}
	d.Press("enter", "enter")
	says(t, d, "enter opened this dialog: type first, or esc")
	d.Press("esc")
	if len(p.answers) != 1 || isOpen(d) {
		t.Errorf("esc answers %q", p.answers)
	}
}

func TestKeysOfDialogsDontClash(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range dialog.Keys() {
		for _, name := range k.Keys {
			if seen[name] {
				t.Errorf("%s has two meanings", name)
			}
			seen[name] = true
		}
	}
}
