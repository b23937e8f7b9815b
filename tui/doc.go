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
// The keys esc, "-", r, ?, q, ctrl-c and ctrl-z mean the same everywhere and
// can't be taken by a screen; Clashes finds attempts. A key marked Dangerous
// stays visible while Header.Locked says why it is off, and is never taken from
// letters that arrived together. A paste presses no keys. Below MinWidth by
// MinHeight nothing is drawn and no key of a screen works.
//
// The path line says how old the data is (Status.ReadAt), and "reading" as long
// as one of the screen's reads runs. Covered screens keep reading and get their
// answers; they can't change which screen is shown.
//
// # Testing a screen
//
//	d := tuitest.New(t, tuitest.Plain(), newTopics(…), 80, 24)
//	d.Press("j", "enter")
//	d.Golden("topic-80x24")
package tui
