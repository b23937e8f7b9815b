package arkflow

import (
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// Scope is what a row of the decision table is about.
type Scope string

// The scopes.
const (
	OfLog    Scope = "log" // a write-ahead log, by itself or with its stream
	OfStream Scope = "stream"
	OfJob    Scope = "job"
	OfHub    Scope = "hub" // the hub and its nodes
)

// Outcome is what a row came to.
type Outcome string

// The outcomes. A row that could not be asked is never called clear.
const (
	Holds      Outcome = "holds"
	Clear      Outcome = "clear"
	NotChecked Outcome = "not-checked"
)

// Decision is one row of the decision table, asked of one subject.
type Decision struct {
	Row       string           `json:"row"`  // its number in the table; T and a number: a trap of the hub's own words
	Rule      string           `json:"rule"` // stable
	Subject   string           `json:"subject"`
	Scope     Scope            `json:"scope"`
	Outcome   Outcome          `json:"outcome"`
	Severity  inspect.Severity `json:"severity"`
	Condition string           `json:"condition"`
	Sentence  string           `json:"sentence"` // what is so, or why the row was not asked
	Evidence  []string         `json:"evidence"`
	Action    string           `json:"action"`
	Numbers   inspect.Named    `json:"numbers"`
}

// Finding is the decision as a finding.
func (d Decision) Finding() inspect.Finding {
	return inspect.Finding{Severity: d.Severity, Rule: d.Rule, Refs: []string{d.Subject}, Numbers: d.Numbers, Cause: d.Sentence, Next: d.Action}
}

// Facts are what the rows are asked of. What is nil was not looked at, and rows
// that need it are not checked.
type Facts struct {
	Subject    string
	Now        time.Time
	Generation arkhub.Generation

	Log      *WriteAheadLog
	LogFault error           // why the log can't be read; nil: it can, or was not asked for
	Earlier  []WriteAheadLog // the same log before, the oldest first
	Absorb   *uint64         // entries that the sink can take twice

	Stream  *arkhub.Stream
	Before  []arkhub.Stream // the same stream before, the oldest first
	Config  *arkhub.StreamConfig
	Configs bool // the node's configuration was read: a stream that is not in it is not configured

	Job    *arkhub.Job
	Detail *arkhub.Detail
	Rounds []arkhub.Checkpoint // nil: not read
	// RoundsPartial: there are others, which could not be read.
	RoundsPartial bool
	Points        *PointList       // nil: the store was not looked at
	Versions      []arkhub.Version // nil: not read
	Health        *Health
	Rollback      *Target // where a rollback would go; nil: none is thought of

	Operations []arkhub.Operation // of the subject, or of all; nil: not read
	Nodes      []arkhub.Node      // nil: not read
	Ready      *bool              // the hub's own word
	Status     *arkhub.OperationsStatus
	Durable    []string // streams of a node that have a log, by node/stream
}

// row is one row of the table.
type row struct {
	row, rule, condition, action string
	scope                        Scope
	severity                     inspect.Severity
	ask                          func(Facts) answer
}

// answer is what a row says of some facts.
type answer struct {
	outcome  Outcome
	sentence string
	evidence []string
	numbers  inspect.Named
	severity inspect.Severity // empty: the row's own
}

func holds(evidence []string, format string, args ...any) answer {
	return answer{outcome: Holds, sentence: fmt.Sprintf(format, args...), evidence: evidence}
}

func (a answer) with(name string, value any) answer {
	if a.numbers == nil {
		a.numbers = inspect.Named{}
	}
	a.numbers[name] = value
	return a
}

func (a answer) at(s inspect.Severity) answer {
	a.severity = s
	return a
}

func isClear(format string, args ...any) answer {
	return answer{outcome: Clear, sentence: fmt.Sprintf(format, args...)}
}

func unasked(format string, args ...any) answer {
	return answer{outcome: NotChecked, sentence: fmt.Sprintf(format, args...)}
}

func evidence(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

// table is the decision table: the rows of one scope, in its order, then the
// traps.
func table(s Scope) []row {
	switch s {
	case OfLog:
		return logRows()
	case OfStream:
		return streamRows()
	case OfJob:
		return jobRows()
	default:
		return hubRows()
	}
}

// Rows are the numbers of all rows of the table, for those who check that none
// is forgotten.
func Rows() []string {
	var all []string
	for _, s := range []Scope{OfLog, OfStream, OfJob, OfHub} {
		for _, r := range table(s) {
			all = append(all, r.row)
		}
	}
	return all
}

// Decide asks every row of some scopes.
func Decide(f Facts, scopes ...Scope) []Decision {
	var all []Decision
	for _, s := range scopes {
		for _, r := range table(s) {
			a := r.ask(f)
			d := Decision{
				Row: r.row, Rule: r.rule, Subject: f.Subject, Scope: r.scope, Outcome: a.outcome, Severity: r.severity, Condition: r.condition,
				Sentence: a.sentence, Evidence: a.evidence, Action: r.action, Numbers: a.numbers,
			}
			if a.severity != "" {
				d.Severity = a.severity
			}
			if d.Evidence == nil {
				d.Evidence = []string{}
			}
			if d.Numbers == nil {
				d.Numbers = inspect.Named{}
			}
			all = append(all, d)
		}
	}
	return all
}

// That are the decisions of one outcome.
func That(all []Decision, o Outcome) []Decision {
	return slices.DeleteFunc(slices.Clone(all), func(d Decision) bool { return d.Outcome != o })
}

// Findings are the decisions that hold, the worst first, those of the table's
// order among equals.
func Findings(all []Decision) []inspect.Finding {
	findings := []inspect.Finding{}
	for _, s := range []inspect.Severity{inspect.SeverityError, inspect.SeverityWarning, inspect.SeverityInfo} {
		for _, d := range That(all, Holds) {
			if d.Severity == s {
				findings = append(findings, d.Finding())
			}
		}
	}
	return findings
}
