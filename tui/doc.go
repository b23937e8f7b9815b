// Package tui is the console's shell: a stack of screens under one header and
// one footer, keys as data, and reads that run beside it.
//
// It knows no Kafka and no Flink, only screens and text. It never does I/O
// other than with the terminal, never waits for a read, and never lets an
// answer reach a screen that no longer asks for it. Text from outside has
// passed package safetext before it comes here; the frame still lets nothing
// through but printable characters and the sequences that paint.
//
// # Writing a screen
//
// A screen is a pointer with six methods. Init starts reads, Update takes their
// results, View draws and changes nothing. A read gets a context that ends with
// the screen.
//
//	type Topics struct {
//		theme  theme.Theme
//		list   func(context.Context) ([]Topic, error)
//		table  *vtable.Table
//		readAt time.Time
//		err    error
//	}
//
//	func (s *Topics) Init() tui.Cmd   { return tui.Load("topics", s.list) }
//	func (s *Topics) Reload() tui.Cmd { return s.Init() } // makes r work
//
//	func (s *Topics) Update(msg tui.Msg) tui.Cmd {
//		switch msg := msg.(type) {
//		case tui.Loaded[[]Topic]:
//			if s.err = msg.Err; msg.Err != nil {
//				return nil
//			}
//			s.readAt = time.Now()
//			s.table.SetSource(rows(msg.Value)) // the selection stays on its topic
//		}
//		return nil
//	}
//
//	func (s *Topics) View(size tui.Size) string {
//		switch {
//		case s.err != nil:
//			return " " + s.theme.Signed(theme.Error, s.err.Error())
//		case s.readAt.IsZero():
//			return " reading the topics" // never looks like "no topics"
//		default:
//			return s.table.View(size)
//		}
//	}
//
//	func (s *Topics) Resize(size tui.Size) { s.table.Resize(size) }
//	func (s *Topics) Crumb() string        { return "topics" }
//	func (s *Topics) Status() tui.Status   { return tui.Status{ReadAt: s.readAt} }
//
//	func (s *Topics) Keys() []tui.Key {
//		return append([]tui.Key{{
//			Keys: []string{"enter"}, Help: "open",
//			Run: func() tui.Cmd {
//				name, ok := s.table.Selected()
//				if !ok {
//					return nil
//				}
//				return tui.Push(newTopic(s.theme, name))
//			},
//		}}, s.table.Keys()...)
//	}
//
// # What the shell does for it
//
// The keys esc, "-", r, q, ctrl-c, ctrl-z, ctrl-x, ":" and "?" mean the same
// everywhere and can't be taken by a screen; Clashes finds attempts. A key table
// is data: the footer, help, the palette and KeysMarkdown are made from it. A key
// marked Dangerous stays visible while Header.Locked says why it is off. It never
// works from letters that arrived together nor while it is held down; Once marks
// others like it. A paste presses no keys. Below MinWidth by MinHeight nothing is
// drawn and no key of a screen works.
//
// The path line says how old the data is (Status.ReadAt), and "reading" as long
// as one of the screen's reads runs. Covered screens keep reading and get their
// answers; they can't change which screen is shown, nor can one below a dialog.
// A screen that reads again by itself waits with After and begins each read with
// IfShown.
//
// Say puts a sentence above the footer, and :messages shows earlier ones. The
// oldest running Job (Options.Jobs) has a line of its own with its numbers;
// ctrl-x cancels it, where it can be. A job may keep the console from being left
// or suspended, and take ctrl-c, while it runs; a Pulser hears when it has moved
// on. With Options.Arming the console starts read-only, and
// :operate arms it; the header counts the minutes.
//
// # What a screen may add
//
//   - Reloader: r reads again.
//   - Resizer: it learns its size before it is drawn.
//   - Commander: commands for the palette, beside its keys.
//   - Escaper: esc undoes something first.
//   - Leaver: it is asked before a key or a command leaves it.
//   - Panes, Wrap and CopyKey are lines for its key table: tab, w and y. A
//     vtable.Table brings the filter, "/".
//   - Open shows a Modal. Package dialog has those that are needed: Confirm, the
//     only place where yes is said to a change, Ask and Text. Edit is one line of
//     input, for what changes only what is shown.
//   - Work is for what must run in the console's goroutine and takes longer than a
//     frame: it is done in steps of milliseconds, and no key waits for more than
//     one.
//
// A screen's key that changes something:
//
//	tui.Key{Keys: []string{"A"}, Help: "apply…", Dangerous: true, Run: func() tui.Cmd {
//		return dialog.Confirm{
//			Title: "Apply cleanup " + id, Subject: "orders / action-state",
//			Lines: losses, Phrase: phrase, Reason: true, Action: "Apply",
//		}.Open(func(yes dialog.Consent) tui.Cmd { return tui.Push(newApply(plan, yes.Reason())) })
//	}}
//
// # The terminal
//
// Run asks the terminal nothing, leaves its mouse alone, and takes no answer of
// its for typed letters: bytes that no key sends are taken out before bubbletea
// sees them. Keys that come within 10 ms of each other count as one piece. Many
// sizes in a short time become one. When the terminal is gone the console ends
// with a fault.
//
// Frames are written by a painter: line by line, only what changed, at once, and
// nothing while nothing changes. Bubbletea's own renderer wakes up for every
// possible frame; it is kept for the terminal's modes, sizes and suspension, and
// its frames are not let through. That rests on how bubbletea v1 writes them, and
// tests on real pseudo terminals hold it.
//
// # Testing a screen
//
//	d := tuitest.New(t, tuitest.Plain(), newTopics(…), 80, 24)
//	d.Press("j", "enter")
//	d.Golden("topic-80x24")
//
//	tuitest.Storm(t, func() tui.Screen { return newTopics(…) })
package tui
