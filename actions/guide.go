package actions

import (
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// The guided procedures, by name.
const (
	GuideFirstCleanup    = "first-cleanup"
	GuideLeaveTombstones = "leave-tombstones"
	GuideNewControlTopic = "new-control-topic"
)

// GuideState is whether a step of a procedure is done, as the systems say.
type GuideState string

// The states. What nobody can see from here is unknown, and never done.
const (
	GuideDone    GuideState = "done"
	GuideOpen    GuideState = "open"
	GuideUnknown GuideState = "unknown"
)

// GuideEvidence is what the steps of a procedure are checked by. Own is the
// chosen recovery point. What could not be read is an error beside an empty
// value, and makes a step unknown.
type GuideEvidence struct {
	Evidence
	Chosen string // the address of the recovery point; empty: none was chosen

	// To is the name of the new control topic, and New what it is; only for
	// GuideNewControlTopic. Empty: none was named.
	To     string
	New    inspect.ControlTopic
	NewErr error
}

// GuideStep is one step of a procedure and where it stands.
type GuideStep struct {
	Number   int        `json:"number"` // from 1
	Name     string     `json:"name"`   // stable
	Title    string     `json:"title"`
	Do       string     `json:"do"`       // what to do
	Commands []string   `json:"commands"` // that do it, or show it
	State    GuideState `json:"state"`
	Evidence string     `json:"evidence"` // why the state is so
}

// GuideReport is a procedure and where each of its steps stands.
type GuideReport struct {
	Guide string      `json:"guide"`
	Title string      `json:"title"`
	When  string      `json:"when"` // in which situation it is for
	Steps []GuideStep `json:"steps"`
	Next  string      `json:"next"` // name of the first step that is not done; empty: all are that can be seen
}

// guide is a procedure: words, and what checks each step.
type guide struct {
	name, title, when string
	steps             []guideStep
}

// guideStep is one step. In its commands {point}, {topic}, {control}, {old},
// {file} and {settings} stand for names.
type guideStep struct {
	name, title, do string
	commands        []string
	check           func(guideFacts) (GuideState, string)
	unseen          bool // nobody can see from here whether it is done, so nothing waits for it
}

// guides are all procedures.
func guides() []guide { return []guide{firstCleanup(), leaveTombstones(), newControlTopic()} }

// GuideNames are the names of all procedures.
func GuideNames() []string {
	var out []string
	for _, g := range guides() {
		out = append(out, g.name)
	}
	return out
}

// GuideWords is a procedure as it is written down, without anything having been
// asked: every step is unknown. Ok is false for a name that no procedure has.
func GuideWords(name string) (report GuideReport, ok bool) {
	for _, g := range guides() {
		if g.name == name {
			return g.report(wordsOf(GuideEvidence{}), func(guideStep) (GuideState, string) { return GuideUnknown, "" }), true
		}
	}
	return GuideReport{}, false
}

// Guide checks each step of a procedure: a pure function of the evidence. Ok is
// false for a name that no procedure has.
func Guide(name string, e GuideEvidence) (report GuideReport, ok bool) {
	for _, g := range guides() {
		if g.name == name {
			facts := factsOf(name, e)
			return g.report(wordsOf(e), func(s guideStep) (GuideState, string) { return s.check(facts) }), true
		}
	}
	return GuideReport{}, false
}

func (g guide) report(words *strings.Replacer, check func(guideStep) (GuideState, string)) GuideReport {
	r := GuideReport{Guide: g.name, Title: g.title, When: g.when, Steps: []GuideStep{}}
	for i, s := range g.steps {
		step := GuideStep{Number: i + 1, Name: s.name, Title: s.title, Do: s.do, Commands: []string{}}
		for _, c := range s.commands {
			step.Commands = append(step.Commands, words.Replace(c))
		}
		step.State, step.Evidence = check(s)
		if step.State != GuideDone && !s.unseen && r.Next == "" {
			r.Next = s.name
		}
		r.Steps = append(r.Steps, step)
	}
	return r
}

// wordsOf puts the names that are known in the place of those in commands.
func wordsOf(e GuideEvidence) *strings.Replacer {
	known := func(name, otherwise string) string {
		if strings.TrimSpace(name) == "" {
			return otherwise
		}
		return shellword.Quote(name)
	}
	old := textOf(e.Job.ControlTopic)
	control := known(old, "CONTROL-TOPIC")
	if e.To != "" {
		control = known(e.To, "NEW-CONTROL-TOPIC")
	}
	return strings.NewReplacer("{point}", known(e.Chosen, "URI"), "{topic}", known(e.Job.Topic, "TOPIC"),
		"{control}", control, "{old}", known(old, "OLD-CONTROL-TOPIC"), "{file}", "cleanup-plan.json", "{settings}", "settings-plan.json")
}
