package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// maxReported is how many problems of one file are told; a person mends the
// first ones and asks again.
const maxReported = 50

// Problem is one thing that is wrong in a configuration file.
type Problem struct {
	File    string // printable
	Line    int    // from 1
	Column  int    // from 1; 0 where only the line is known
	Message string // what is wrong, and what is allowed
}

// String is the problem as compilers write theirs: file:line:column: message.
func (p Problem) String() string {
	if p.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all problems of one file, in the order of its lines. They are
// the cause of the fault that Load returns for a file that is wrong.
type Problems []Problem

// Error is the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, 0, min(len(ps), maxReported)+1)
	for i, p := range ps {
		if i == maxReported {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-maxReported))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// sort orders problems as a reader meets them.
func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// fault is the fault for a file with these problems; there is at least one.
func (ps Problems) fault() error {
	f := &fault.Fault{Kind: fault.Config, Op: "read configuration", Err: ps}
	if len(ps) > 1 {
		f.Message = fmt.Sprintf("%d problems in the configuration", len(ps))
		f.Err = lineBreak{ps}
	}
	for _, p := range ps[:min(len(ps), maxReported)] {
		f = f.WithRef(fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	return f.WithHint("mend the file; docs/configuration.md describes every key")
}

// lineBreak starts a list of problems on a line of its own.
type lineBreak struct{ Problems }

func (l lineBreak) Error() string { return "\n" + l.Problems.Error() }

func (l lineBreak) Unwrap() error { return l.Problems }
