package inspect

import (
	"fmt"
	"slices"
)

// windowRecords is the rule about the records in the replay window, and what is
// said to be unchecked when they were not read.
const windowRecords = "records of the replay window"

// answer is what asking one rule came to.
type answer uint8

const (
	passes answer = iota
	fails
	unasked     // what it needs could not be read: the verdict is unknown
	unaskedHere // nobody tried; it is told and leaves the verdict alone
)

// asked is a rule with its answer. The real code stops at the failure with the
// lowest rank; inside a block, checks are made marker by marker or operation by
// operation, so their order is not that of the list.
type asked struct {
	rule    Rule
	answer  answer
	reasons []Reason
	block   int
	order   int
}

// rulebook collects rules in the order in which they are shown.
type rulebook struct {
	rules []asked
	block int
	open  bool // rules that are added belong to one block
}

func (b *rulebook) add(a asked) {
	if !b.open {
		b.block++
	}
	a.block = b.block
	b.rules = append(b.rules, a)
}

// together runs add with all its rules in one block.
func (b *rulebook) together(add func()) {
	b.block++
	b.open = true
	add()
	b.open = false
}

func (b *rulebook) pass(code, title, format string, args ...any) {
	b.add(asked{rule: Rule{Code: code, Title: title, Message: fmt.Sprintf(format, args...)}, answer: passes})
}

// fail adds a failing rule with its evidence and its reasons.
func (b *rulebook) fail(code, title, evidence string, reasons ...Reason) {
	b.add(asked{rule: Rule{Code: code, Title: title, Message: evidence}, answer: fails, reasons: reasons})
}

// refuse adds a failing rule whose evidence is its only reason.
func (b *rulebook) refuse(code, title string, p *Problem) {
	b.fail(code, title, p.Message, Reason{*p})
}

// skip adds a rule that could not be asked.
func (b *rulebook) skip(code, title, why string) {
	b.add(asked{rule: Rule{Code: code, Title: title, Message: why}, answer: unasked})
}

// leave adds a rule that nobody asked and that does not decide the verdict.
func (b *rulebook) leave(code, title, why string) {
	b.add(asked{rule: Rule{Code: code, Title: title, Message: why}, answer: unaskedHere})
}

// failed reports whether a rule of that code was asked and fails.
func (b *rulebook) failed(code string) bool {
	return slices.ContainsFunc(b.rules, func(a asked) bool { return a.rule.Code == code && a.answer == fails })
}

// asked reports whether a rule of that code was decided.
func (b *rulebook) asked(code string) bool {
	return slices.ContainsFunc(b.rules, func(a asked) bool { return a.rule.Code == code && (a.answer == fails || a.answer == passes) })
}

// first is the index of the failure at which the real code stops, or -1.
func (b *rulebook) first() int {
	first := -1
	for i, a := range b.rules {
		if a.answer != fails {
			continue
		}
		if first < 0 || a.block == b.rules[first].block && a.order < b.rules[first].order {
			first = i
		}
	}
	return first
}

// verdict fills in the verdict, the rules with their results, the reasons and
// what was not checked.
func (b *rulebook) verdict(v *RestoreValidation) {
	first := b.first()
	v.Verdict, v.Rules, v.Reasons, v.Unchecked = Accepted, []Rule{}, []Reason{}, []string{}
	if first >= 0 {
		v.Verdict = Rejected
		v.Reasons = append(v.Reasons, b.rules[first].reasons...)
	}
	for i, a := range b.rules {
		reached := first < 0 || i <= first
		switch a.answer {
		case passes:
			a.rule.Result = Passed
			if !reached {
				a.rule.Result = WouldPass
			}
		case fails:
			a.rule.Result = Failed
			if i != first {
				a.rule.Result = WouldFail
				v.Reasons = append(v.Reasons, a.reasons...)
			}
		default:
			a.rule.Result = NotChecked
			v.Unchecked = append(v.Unchecked, a.rule.Title)
			if a.answer == unasked && v.Verdict == Accepted {
				v.Verdict = Unknown
			}
		}
		v.Rules = append(v.Rules, a.rule)
	}
}
