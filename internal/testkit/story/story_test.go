package story

import (
	"strings"
	"testing"
)

func TestAStoryIsReadLineByLine(t *testing.T) {
	s, err := Parse("dir/first.txt", "# The title.\n# more for people\n\ntopic with 2 partitions of 20 records\nplan P from chk-42\n  exit 0\n\tverdict applied\napply P\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "first" || s.Title != "The title." || len(s.Statements) != 3 {
		t.Fatalf("%+v", s)
	}
	plan := s.Statements[1]
	if plan.Number != 5 || plan.Text != "plan P from chk-42" || len(plan.Under) != 2 || plan.Under[1] != (Line{7, "verdict applied"}) {
		t.Errorf("%+v", plan)
	}
	for text, says := range map[string]string{
		"topic with 2 partitions of 20 records\n": "begins with # and its title",
		"# title\n":           "nothing happens",
		"# title\n  exit 0\n": "x.txt:2: an indented line",
	} {
		if _, err := Parse("x.txt", text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// No line can be meant in two ways, in whichever order the forms are tried.
func TestEachLineHasOneForm(t *testing.T) {
	g := newGrammar()
	for _, text := range []string{
		"topic with 1 partition of 3 records", "topic with 2 partitions of 20 records and cleanup.policy=compact retention.ms=5",
		"the topic is made anew with 30 records each", "the topic has retention.ms=-1", "the topic gets 3 partitions", "the topic is trimmed to 10 0",
		"control topic", "control topic with 2 partitions", "control topic and cleanup.policy=delete", "control record P COMMITTED",
		"control record the tombstone of P", "open transaction with P COMMITTED", "aborted transaction with P APPLIED",
		"the open transaction is committed", "point chk-42 at 10 15", "point chk-42 at 10 15, legacy", "point chk-42 is deleted",
		"plan P at 10 15", "plan P at 10 15, of another topic", "Flink says that the job is running", "the journal can't be written", "the process is killed", "another operator applies P, exit 7",
		"plan P from chk-42", "show P", "apply P", "verify P", "verify P by its id", "validate restore chk-42", "validate restore chk-42 after P",
	} {
		n := forms(g.events, text) + forms(g.commands, text)
		if n != 1 {
			t.Errorf("%q has %d forms", text, n)
		}
	}
	for _, text := range []string{
		"accepting points-lost", "creating the control topic", "when COMMITTED is written: the process is killed", "exit 0", "it is killed",
		"verdict applied", "verdict after the plan rejected", "stage delete", "reason x", "naming partition=0", "says anything at all",
		"drift topicId refused", "no drift", "stays chk-42 chk-43", "lost nothing", "warnings points-lost", "control is missing",
		"control P COMMITTED, P APPLIED", "log starts 10 15", "nothing is written", "nothing is deleted",
	} {
		if n := forms(g.circumstances, text) + forms(g.expectations, text); n != 1 {
			t.Errorf("%q has %d forms", text, n)
		}
	}
	for _, text := range []string{"exits 0", "Apply P", "plan P", "control", "topic", "log starts", "nothing is read"} {
		if n := forms(g.events, text) + forms(g.commands, text) + forms(g.circumstances, text) + forms(g.expectations, text); n != 0 {
			t.Errorf("%q has %d forms", text, n)
		}
	}
	c := &command{world: &world{grammar: g}}
	for _, text := range []string{"when the moon is full: the process is killed", "when COMMITTED is written: somebody sneezes"} {
		if err := follow(g.circumstances, c, text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func forms[T any](phrases []phrase[T], text string) (n int) {
	for _, p := range phrases {
		if p.form.MatchString(text) {
			n++
		}
	}
	return n
}

// What is expected and not so fails the story.
func TestExpectationsSeeWhatIsNotSo(t *testing.T) {
	g := newGrammar()
	c := &command{world: &world{grammar: g}, outcome: Outcome{Exit: 7, Out: "one\n  two"}}
	c.answer.Data.Verdict, c.answer.Data.Stage = "partial", "delete"
	c.answer.Data.Problem = &problem{"code": "too-few-survivors", "partition": 1}
	c.answer.Data.Survives = []struct{ URI string }{{"file:/a/chk-42"}}
	c.answer.Data.Warnings = []string{"points-lost"}
	for text, so := range map[string]bool{
		"exit 7": true, "exit 0": false, "it is killed": false, "verdict partial": true, "verdict applied": false,
		"stage delete": true, "stage commit": false, "reason too-few-survivors": true, "reason x": false, "naming partition=1": true,
		"naming partition=0": false, "naming boundary=5": false, "says one two": true, "says three": false, "stays chk-42": true, "stays nothing": false,
		"stays chk-42 chk-43": false, "lost nothing": true, "lost chk-42": false, "warnings points-lost": true, "warnings nothing": false,
		"no drift": true, "drift topicId refused": false, "verdict after the plan rejected": false,
	} {
		if err := follow(g.expectations, c, text); (err == nil) != so {
			t.Errorf("%s: %v", text, err)
		}
	}
}
