//go:build real && tmux

package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/shellword"
)

// An operator rolls a job of a real Flink back in the console, from the row of a
// recovery point to the job's new history.
func TestWalkingThroughARollback(t *testing.T) {
	s := startRealFlink(t, "20000")
	point := s.point()
	flags := make([]string, 0, len(s.flags))
	for _, f := range s.flags {
		flags = append(flags, shellword.Quote(f))
	}
	p := startPane(t, 120, 40, fmt.Sprintf("HOME=%s XDG_STATE_HOME=%s USER=ops %s %s --points file:%s/%s --access operate",
		s.state, s.state, binary(t), strings.Join(flags, " "), s.session.Checkpoints, s.id))
	p.until("the job", shows("recovery points"))
	began := time.Now()
	p.press("Enter")
	p.until("the job's screen", func(f string) bool {
		return strings.Contains(f, "RUNNING") && strings.Contains(f, "accepted") && strings.Contains(f, point[strings.LastIndex(point, "/")+1:])
	})
	t.Logf("the job's screen, with its points judged and Flink's word, after %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	p.press("l")
	p.until("its history", shows("COMPLETED"))
	t.Logf("the history of a running job on the terminal after %v", time.Since(began).Round(time.Millisecond))
	p.pictures("history")
	p.press("Escape")

	p.until("its points", shows(point[strings.LastIndex(point, "/")+1:]))
	p.command("rollback " + point)
	p.until("a plan", shows("no-arguments"))
	p.press("e")
	p.until("the question for arguments", shows("Arguments of the program"))
	words := make([]string, 0, len(s.args))
	for _, a := range s.args {
		words = append(words, shellword.Quote(a))
	}
	p.types(strings.Join(words, " "))
	p.slowly("Enter")
	p.until("another plan", func(f string) bool {
		return strings.Contains(f, "rolls job") && !strings.Contains(f, "no-arguments") && !strings.Contains(f, "Arguments of the program")
	})
	p.pictures("rollback-plan")

	p.command("operate")
	p.until("the leave to write", shows("changes are possible"))
	p.slowly("S")
	frame := p.until("the warnings", shows("┌ Accept"))
	for range regexp.MustCompile(`\[ \]`).FindAllString(frame, -1) {
		p.slowly("Tab", "Space")
	}
	p.slowly("Tab", "Enter")
	frame = p.until("the confirmation", shows("Reason"))
	p.pictures("rollback-confirm")
	phrase := regexp.MustCompile(`Type +(\S.*?) *│`).FindStringSubmatch(frame)
	if phrase == nil {
		t.Fatalf("no phrase is asked for\n%s", frame)
	}
	p.slowly("PageDown", "PageDown", "PageDown", "Tab")
	p.types("bad deploy, INC-9")
	p.slowly("Tab")
	for _, letter := range phrase[1] { // on a busy machine too, none comes together with another
		time.Sleep(250 * time.Millisecond)
		p.press("-l", string(letter))
	}
	p.slowly("Tab", "Space")
	for step := 1; step <= 12; step++ {
		frame = p.until(fmt.Sprint("step ", step), shows(fmt.Sprintf("step %d waits for you", step)))
		if step == 10 {
			p.pictures("rollback-progress")
		}
		switch step {
		case 5, 7, 9: // savepoint, cancel, start
			p.slowly("A")
		default:
			p.slowly("Enter")
		}
	}
	p.until("the receipt", shows("✔ applied"))
	p.pictures("rollback-receipt")
	if active := s.active(); len(active) != 1 || s.restored(active[0]) != point {
		t.Errorf("jobs %v; want one, restored from %s", active, point)
	}
	p.slowly("Escape", "Escape", "l")
	p.until("its new history", shows("restored from"))
	p.pictures("rollback-after")
}
