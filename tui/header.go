package tui

import "github.com/recoverctl/recoverctl/tui/theme"

// Header says where the operator is and whether something can be broken.
type Header struct {
	Profile     string
	Environment string // "production", "staging", "development"
	Production  bool   // shows the environment as a badge
	Access      string // "read-only", "operate 27 min"
	// Locked says why keys that change something are off, as in "access is
	// read-only"; "" where they work.
	Locked      string
	Connections []Connection
}

// Connection is the state of one connection in a word or two.
type Connection struct {
	Name  string // "kafka"
	State string // "ok", "FAILING 4m"; "" is shown as no value
	Tone  theme.Tone
}
