package actions

import (
	"github.com/recoverctl/recoverctl/inspect"
)

// Handoff is a plan about a Flink job for somebody who carries it out without
// this program: what was checked, and the commands of three ways to the same end.
// Only one of the ways is taken.
type Handoff struct {
	Checks []HandoffCheck     `json:"checks"`
	Steps  []inspect.NextStep `json:"steps"` // empty where a check says no
}

// HandoffCheck is one thing that was asked.
type HandoffCheck struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Result string `json:"result"`
}
