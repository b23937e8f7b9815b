package explain

import (
	"regexp"
	"slices"
	"sync"
)

// The systems that speak.
const (
	agents     = "Flink Agents"
	agentsNext = "Flink Agents, the next version"
	agents03   = "Flink Agents, releases 0.1 to 0.3"
	agentsData = "Flink Agents on Fluss"
	flink      = "Flink"
	kafka      = "Kafka"
	fluss      = "Fluss"
	arkflow    = "ArkFlow"
)

// The weights of rules.
const (
	decides   = 2 // it says why a recovery or a cleanup was refused
	condition = 1 // it says what keeps one from working
	context   = 0 // it says that something failed
)

// rules are all messages that are known. Where a rule of this program's own
// judgement speaks for the same reason, it has the same word.
var rules = slices.Concat(boundaryRules, markerRules, controlRules, cleanupRules, recordRules, releasedRules, flinkRules, kafkaRules, flussRules, arkflowRules)

// p is a pattern, compiled when its anchor is first met: all of them would take
// longer than the rest of this program's start. In it a blank stands for one blank
// of the flat text.
func p(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// What several rules advise.
const (
	validate   = "recoverctl validate restore {point} {job}"
	inspectJob = "recoverctl inspect job {job}"
	control    = "recoverctl inspect control {job}"
	points     = "recoverctl inspect points {job}"
	check      = "recoverctl config check {job}"
)
