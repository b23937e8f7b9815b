package tuitest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/tui"
)

// stormSteps is how many keys and resizes a Storm is.
const stormSteps = 10_000

// Storm presses 10,000 random keys on a screen and what it leads to: those of its
// key table and others, one by one, held down, in bursts and pasted, with reads
// that end early and late, at sizes from nothing to more than enough. Nothing may
// break, each frame must hold what Driver checks, and in the end the console must
// come to rest. NewRoot makes the first screen anew whenever the console was
// left.
//
// The keys that change something work: the screen's ports should lead nowhere.
// One name of a test always gets the same storm.
func Storm(t testing.TB, newRoot func() tui.Screen) {
	t.Helper()
	StormWith(t, Plain(), newRoot)
}

// StormWith is Storm with other options.
func StormWith(t testing.TB, opts tui.Options, newRoot func() tui.Screen) {
	t.Helper()
	seed := fnv.New64a()
	seed.Write([]byte(t.Name()))
	s := &storm{rnd: rand.New(rand.NewPCG(seed.Sum64(), 0))}
	start := func() { s.d = NewBusy(t, opts, newRoot(), 80, 24) }
	start()
	for step := range stormSteps {
		s.step()
		if s.d.Exited() {
			start()
		}
		s.d.check(step%8 == 0)
		if t.Failed() {
			t.Fatalf("after step %d on screen %q; the last of them:\n  %s", step, s.d.Top().Crumb(), strings.Join(s.log, "\n  "))
		}
	}
	s.d.Resize(80, 24)
	s.d.Frame()
}

type storm struct {
	d   *Driver
	rnd *rand.Rand
	log []string // the last steps
}

// stormKeys are keys that a screen may not expect.
var stormKeys = strings.Fields(`enter space esc esc esc esc tab shift+tab up down left right home end pgup pgdown
	backspace delete ctrl+c ctrl+z ctrl+x ctrl+u ctrl+p ctrl+d f1
	a b c d e f g h i j k l m n o p q r s t u v w x y z A B G K S W Z 0 7 - / : ? ! * # @ \ " ' é 注`)

func (s *storm) step() {
	d := s.d
	switch n := s.rnd.IntN(100); {
	case n < 40:
		s.key(s.own())
	case n < 75:
		name := s.pick(stormKeys)
		if leaves := name == "ctrl+c" || name == "q"; leaves && s.rnd.IntN(5) > 0 {
			name = "esc" // else the storm would hardly get beyond the first screen
		}
		s.key(name)
	case n < 79:
		letters := s.pick([]string{"jjjj", ":help", "/chk", "kjA", "qqq", "G:theme", "🚀注文"})
		s.note("burst", letters)
		d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(letters)})
	case n < 82:
		text := s.pick([]string{"a paste", "line\none\n", "\x1b[31mred", strings.Repeat("x", 2000)})
		s.note("paste", text[:min(len(text), 20)])
		d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	case n < 89:
		size := tui.Size{Width: 60 + s.rnd.IntN(40), Height: 15 + s.rnd.IntN(15)}
		if s.rnd.IntN(6) == 0 {
			size = tui.Size{Width: s.rnd.IntN(220), Height: s.rnd.IntN(70)}
		}
		s.note("resize", fmt.Sprint(size))
		d.size = size
		d.Send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
	case n < 93:
		s.note("wait", "")
		d.Wait(time.Duration(s.rnd.IntN(1500)) * time.Millisecond)
	case n < 95:
		s.note("time passes", "")
		d.now = d.now.Add(time.Duration(s.rnd.IntN(120)) * time.Second)
		d.Send(tui.Tick{})
	default:
		s.note("answers come", "")
		d.Settle()
	}
	for len(d.pending) > 0 && (len(d.pending) > 20 || s.rnd.IntN(3) > 0) {
		d.Step()
	}
}

// key presses a key after a pause of any kind.
func (s *storm) key(name string) {
	s.note("key", name)
	s.d.Wait([]time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond, time.Second}[s.rnd.IntN(4)])
	s.d.Send(Key(s.d.t, name))
}

// own is a key of the screen's own table.
func (s *storm) own() string {
	keys := s.d.Top().Keys()
	if len(keys) == 0 {
		return "esc"
	}
	return s.pick(keys[s.rnd.IntN(len(keys))].Keys)
}

func (s *storm) pick(of []string) string { return of[s.rnd.IntN(len(of))] }

func (s *storm) note(what, arg string) {
	if len(s.log) == 40 {
		s.log = s.log[1:]
	}
	s.log = append(s.log, fmt.Sprintf("%s %q", what, arg))
}
